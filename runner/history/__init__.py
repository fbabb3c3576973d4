"""What earlier runs did, kept in SQLite; undo."""
