"""The history of runs, in SQLite; undo."""
