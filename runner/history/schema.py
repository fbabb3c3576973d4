# SPDX-License-Identifier: Apache-2.0
"""The tables of the history: as a new one gets them, and how an old one gets there."""

from __future__ import annotations

# what no later entry alters, for both ways
OF_UNDO = """
    CREATE TABLE kept_states (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL,
        kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, tag TEXT NOT NULL,
        call INTEGER NOT NULL, PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE left_states (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, kind TEXT NOT NULL,
        name TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, kind, name)
    ) WITHOUT ROWID;
    CREATE TABLE watchers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        content TEXT NOT NULL, PRIMARY KEY (run, tag, content)
    ) WITHOUT ROWID;
    CREATE TABLE restored (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        PRIMARY KEY (run, tag)
    ) WITHOUT ROWID;
    CREATE INDEX kept_by_path ON kept (path, run);
"""
MADE = """
    CREATE TABLE made (
        thing TEXT PRIMARY KEY, run INTEGER NOT NULL, made_at REAL NOT NULL DEFAULT 0,
        position INTEGER NOT NULL DEFAULT 0, states TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT '', id TEXT NOT NULL DEFAULT '', sls TEXT NOT NULL DEFAULT '',
        place TEXT NOT NULL DEFAULT '', removal TEXT NOT NULL DEFAULT '',
        arguments TEXT NOT NULL DEFAULT '{}', looks TEXT NOT NULL DEFAULT '{}', snapshot TEXT,
        existed INTEGER NOT NULL, highstate INTEGER NOT NULL DEFAULT 0,
        tree TEXT NOT NULL DEFAULT '', removed INTEGER
    );
"""
BY_TARGET = """
    CREATE INDEX changers_by_tag ON changers (tag, target);
    CREATE INDEX changers_by_target ON changers (target, run);
    CREATE INDEX kept_by_tag ON kept (tag);
"""
CONTENTS = """
    CREATE TABLE contents (
        content TEXT PRIMARY KEY, run INTEGER NOT NULL, start INTEGER NOT NULL,
        length INTEGER NOT NULL
    ) WITHOUT ROWID;
"""
# each entry brings the database from its position to the next version; entries are never changed,
# only added. Older histories have a column runs.orphans as well, which nothing asks for: SQLite
# before 3.35 cannot drop it
MIGRATIONS = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, command TEXT NOT NULL,
        user TEXT NOT NULL, started REAL NOT NULL, finished REAL, revision TEXT, dirty INTEGER,
        compiled TEXT NOT NULL, outcome TEXT, total INTEGER NOT NULL, changed INTEGER,
        failed INTEGER
    );
    CREATE TABLE results (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        tag TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, function TEXT NOT NULL,
        sls TEXT NOT NULL, result INTEGER, ran INTEGER NOT NULL, changes TEXT NOT NULL,
        comment TEXT NOT NULL, duration REAL NOT NULL, place TEXT NOT NULL, cause TEXT,
        origin TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
    CREATE INDEX results_by_tag ON results (tag, run);
    CREATE TABLE changers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        function TEXT NOT NULL, target TEXT NOT NULL, before TEXT NOT NULL
    );
    CREATE INDEX changers_by_run ON changers (run);
    """,
    """
    CREATE TABLE kept (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL,
        path TEXT NOT NULL, type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL,
        gid INTEGER NOT NULL, target TEXT NOT NULL, content TEXT NOT NULL, tag TEXT NOT NULL,
        PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE left_behind (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
        type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
        target TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, path)
    ) WITHOUT ROWID;
    ALTER TABLE runs ADD COLUMN undone TEXT;
    """,
    """
    ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
    CREATE INDEX runs_by_kind ON runs (kind, id);
    """,
    """
    ALTER TABLE runs ADD COLUMN skipped INTEGER;
    ALTER TABLE runs ADD COLUMN errors TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE runs ADD COLUMN not_restored INTEGER;
    ALTER TABLE results ADD COLUMN outcome TEXT;
    """,
    "ALTER TABLE runs ADD COLUMN counts TEXT NOT NULL DEFAULT '{}'",
    f"""
    {OF_UNDO}
    ALTER TABLE kept ADD COLUMN call INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE changers ADD COLUMN restorable INTEGER;
    """,
    # the things that runs made; without a reference to their runs, which age removes
    f"""
    ALTER TABLE runs ADD COLUMN scope TEXT NOT NULL DEFAULT '';
    {MADE}
    """,
    # for the question whether runner itself altered what a state had altered before
    BY_TARGET,
    # what the changes of a state replaced, where they do not say it themselves
    "ALTER TABLE results ADD COLUMN replaced TEXT NOT NULL DEFAULT '{}'",
    # for the page of a run: its timeline and its graph
    """
    ALTER TABLE results ADD COLUMN started_after REAL;
    ALTER TABLE runs ADD COLUMN graph TEXT NOT NULL DEFAULT '';
    """,
    # how many statements of its journal a run has written here
    "ALTER TABLE runs ADD COLUMN written INTEGER NOT NULL DEFAULT 0",
    # where contents are in the file of the run that kept them
    CONTENTS,
    # the hash of extended attributes; NULL where they were not looked at
    """
    ALTER TABLE kept ADD COLUMN attributes TEXT;
    ALTER TABLE left_behind ADD COLUMN attributes TEXT;
    """,
    # for the index over runs: how many states of each had drifted
    "CREATE INDEX results_by_drift ON results (run) WHERE origin = 'drift'",
    # a content of `watchers` is that of several states
    "",
)
# what all of them make of an empty database, in a quarter of their time
SCHEMA = f"""
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, command TEXT NOT NULL,
        user TEXT NOT NULL, started REAL NOT NULL, finished REAL, revision TEXT, dirty INTEGER,
        compiled TEXT NOT NULL, outcome TEXT, total INTEGER NOT NULL, changed INTEGER,
        failed INTEGER, undone TEXT, kind TEXT NOT NULL DEFAULT 'run', skipped INTEGER,
        errors TEXT NOT NULL DEFAULT '[]', not_restored INTEGER,
        counts TEXT NOT NULL DEFAULT '{{}}', scope TEXT NOT NULL DEFAULT '',
        graph TEXT NOT NULL DEFAULT '', written INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE results (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        tag TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, function TEXT NOT NULL,
        sls TEXT NOT NULL, result INTEGER, ran INTEGER NOT NULL, changes TEXT NOT NULL,
        comment TEXT NOT NULL, duration REAL NOT NULL, place TEXT NOT NULL, cause TEXT,
        origin TEXT NOT NULL, digest BLOB NOT NULL, outcome TEXT,
        replaced TEXT NOT NULL DEFAULT '{{}}', started_after REAL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
    CREATE INDEX results_by_tag ON results (tag, run);
    CREATE TABLE changers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        function TEXT NOT NULL, target TEXT NOT NULL, before TEXT NOT NULL, restorable INTEGER
    );
    CREATE INDEX changers_by_run ON changers (run);
    CREATE TABLE kept (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL,
        path TEXT NOT NULL, type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL,
        gid INTEGER NOT NULL, target TEXT NOT NULL, content TEXT NOT NULL, tag TEXT NOT NULL,
        call INTEGER NOT NULL DEFAULT 0, attributes TEXT, PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE left_behind (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
        type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
        target TEXT NOT NULL, content TEXT NOT NULL, attributes TEXT, PRIMARY KEY (run, path)
    ) WITHOUT ROWID;
    CREATE INDEX runs_by_kind ON runs (kind, id);
    {OF_UNDO}
    {MADE}
    {BY_TARGET}
    {CONTENTS}
    CREATE INDEX results_by_drift ON results (run) WHERE origin = 'drift';
"""
