-- What 0.1.0 (commit 6f1ba671) left; {tmp}, {uid} and {gid} stand for those of the machine.
PRAGMA user_version=1;
BEGIN TRANSACTION;
CREATE TABLE debts (
    reactor TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL, time TEXT NOT NULL,
    place TEXT NOT NULL, PRIMARY KEY (reactor, kind, source)
);
INSERT INTO "debts" VALUES('cmd_|-restart_|-test -e {tmp}/allowed && touch {tmp}/restarted_|-wait','watch','file_|-{tmp}/motd_|-{tmp}/motd_|-managed','20261123083849-652284','2026-11-23T08:38:49+0000','{tmp}/states/site.sls:14:9');
COMMIT;
