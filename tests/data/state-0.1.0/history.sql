-- What 0.1.0 (commit 6f1ba671) left; {tmp}, {uid} and {gid} stand for those of the machine.
PRAGMA user_version=2;
BEGIN TRANSACTION;
CREATE TABLE changers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL, function TEXT NOT NULL,
        target TEXT NOT NULL, before TEXT NOT NULL
    );
INSERT INTO "changers" VALUES(1,'file_|-{tmp}/motd_|-{tmp}/motd_|-managed','file.write','{tmp}/motd','{"path": "{tmp}/motd", "type": "file", "mode": "0640", "uid": 0, "gid": 0, "size": 13}');
INSERT INTO "changers" VALUES(1,'file_|-{tmp}/added_|-{tmp}/added_|-managed','file.write','{tmp}/added','{"path": "{tmp}/added", "type": "none"}');
INSERT INTO "changers" VALUES(1,'cmd_|-restart_|-test -e {tmp}/allowed && touch {tmp}/restarted_|-wait','cmd.execute_shell','test -e {tmp}/allowed && touch {tmp}/restarted','null');
INSERT INTO "changers" VALUES(2,'cmd_|-restart_|-test -e {tmp}/allowed && touch {tmp}/restarted_|-wait','cmd.execute_shell','test -e {tmp}/allowed && touch {tmp}/restarted','null');
CREATE TABLE kept (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL, path TEXT NOT NULL,
        type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, target TEXT NOT NULL,
        content TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
INSERT INTO "kept" VALUES(1,0,CAST('{tmp}/motd' AS BLOB),'file',416,{uid},{gid},X'','a2a7c84d3fe1b749853060440caf29c64d8781477e2e63f34b530c6cdf5da607','file_|-{tmp}/motd_|-{tmp}/motd_|-managed');
INSERT INTO "kept" VALUES(1,1,CAST('{tmp}/added' AS BLOB),'none',0,{uid},{gid},X'','','file_|-{tmp}/added_|-{tmp}/added_|-managed');
CREATE TABLE left_behind (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL, type TEXT NOT NULL,
        mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, target TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (run, path)
    ) WITHOUT ROWID;
INSERT INTO "left_behind" VALUES(1,CAST('{tmp}/added' AS BLOB),'file',420,{uid},{gid},X'','3428719b7688c78a0cc8ba4b9e80b4e464c815fbccfd4b20695a15ffcefc22af');
INSERT INTO "left_behind" VALUES(1,CAST('{tmp}/motd' AS BLOB),'file',420,{uid},{gid},X'','39f26102322b8937ac9117d0d20d42c538a8a61bd820f776becc3b06c3110866');
CREATE TABLE results (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL, tag TEXT NOT NULL,
        id TEXT NOT NULL, name TEXT NOT NULL, function TEXT NOT NULL, sls TEXT NOT NULL, result INTEGER,
        ran INTEGER NOT NULL, changes TEXT NOT NULL, comment TEXT NOT NULL, duration REAL NOT NULL,
        place TEXT NOT NULL, cause TEXT, origin TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
INSERT INTO "results" VALUES(1,0,'file_|-{tmp}/motd_|-{tmp}/motd_|-managed','{tmp}/motd','{tmp}/motd','file.managed','site',1,1,'{"diff": "--- \n+++ \n@@ -1 +1 @@\n-the old text\n+the new text\n", "mode": "0644"}','File {tmp}/motd updated',28.857,'{tmp}/states/site.sls:2:3',NULL,'intent',X'50244C19C10917C22B3AF90B434A68A1');
INSERT INTO "results" VALUES(1,1,'file_|-{tmp}/added_|-{tmp}/added_|-managed','{tmp}/added','{tmp}/added','file.managed','site',1,1,'{"diff": "New file"}','File {tmp}/added updated',9.463,'{tmp}/states/site.sls:7:3',NULL,'intent',X'DEA6F03B53303FC4E79F18BC058E53DC');
INSERT INTO "results" VALUES(1,2,'cmd_|-restart_|-test -e {tmp}/allowed && touch {tmp}/restarted_|-wait','restart','test -e {tmp}/allowed && touch {tmp}/restarted','cmd.wait','site',0,1,'{"pid": 27534, "retcode": 1, "stdout": "", "stderr": ""}','Command "test -e {tmp}/allowed && touch {tmp}/restarted" run',4.17,'{tmp}/states/site.sls:11:3',NULL,'reaction',X'C9F9B27EAC1B80FFA2E3AED4EC20B27C');
INSERT INTO "results" VALUES(2,0,'file_|-{tmp}/motd_|-{tmp}/motd_|-managed','{tmp}/motd','{tmp}/motd','file.managed','site',1,1,'{}','File {tmp}/motd is in the correct state',0.439,'{tmp}/states/site.sls:2:3',NULL,'',X'50244C19C10917C22B3AF90B434A68A1');
INSERT INTO "results" VALUES(2,1,'file_|-{tmp}/added_|-{tmp}/added_|-managed','{tmp}/added','{tmp}/added','file.managed','site',1,1,'{}','File {tmp}/added is in the correct state',0.267,'{tmp}/states/site.sls:7:3',NULL,'',X'DEA6F03B53303FC4E79F18BC058E53DC');
INSERT INTO "results" VALUES(2,2,'cmd_|-restart_|-test -e {tmp}/allowed && touch {tmp}/restarted_|-wait','restart','test -e {tmp}/allowed && touch {tmp}/restarted','cmd.wait','site',0,1,'{"pid": 27552, "retcode": 1, "stdout": "", "stderr": ""}','Command "test -e {tmp}/allowed && touch {tmp}/restarted" run',8.996,'{tmp}/states/site.sls:11:3',NULL,'reaction',X'C9F9B27EAC1B80FFA2E3AED4EC20B27C');
CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, command TEXT NOT NULL, user TEXT NOT NULL,
        started REAL NOT NULL, finished REAL, revision TEXT, dirty INTEGER, compiled TEXT NOT NULL,
        outcome TEXT, total INTEGER NOT NULL, changed INTEGER, failed INTEGER
    , undone TEXT);
INSERT INTO "runs" VALUES(1,'20261123083849-652284','runner highstate','0',1795423129.548,1795423129.614,NULL,NULL,'c80c6211fc542158ef6b1686906cb295','failed',3,3,1,NULL);
INSERT INTO "runs" VALUES(2,'20261123083850-c1eca3','runner highstate','0',1795423130.92,1795423130.949,NULL,NULL,'c80c6211fc542158ef6b1686906cb295','failed',3,1,1,NULL);
CREATE INDEX results_by_tag ON results (tag, run);
CREATE INDEX changers_by_run ON changers (run);
INSERT INTO "sqlite_sequence" VALUES('runs',2);
COMMIT;
