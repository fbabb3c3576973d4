# SPDX-License-Identifier: Apache-2.0
"""Daemons for real: a process of supervisor, and configurations that logrotate and chronyd read."""

from __future__ import annotations

import json

from debian import Debian

LAYER = "volumes"
SITE = """
/etc/supervisor/conf.d/worker.conf:
  file.managed:
    - contents: |
        [program:worker]
        command=/bin/sleep {{ pillar.get('seconds', 1000) }}
        startsecs=0
    - require: [service: supervisor]
supervisor:
  service.running: []
worker:
  supervisord.running:
    - update: True
    - watch: [file: /etc/supervisor/conf.d/worker.conf]
rotation:
  logrotate.set:
    - key: /var/log/wtmp
    - value: rotate
    - setting: 9
time:
  chrony.managed:
    - servers: [127.0.0.1]
    - pools: []
"""
REFUSED = """
rotation:
  logrotate.set: [{key: nosuchcommand, value: 1}]
time:
  chrony.managed: [{servers: [127.0.0.1], options: nosuchoption}]
pam:
  ini.options_present: [{name: /etc/security/limits.conf, sections: {a: {b: c}}}]
"""


def test_daemons(debian: Debian) -> None:
    debian.run("mkdir -p /var/log/supervisor")  # layers have no logs
    debian.tree(site=SITE, refused=REFUSED.split("pam:")[0], pam=f"pam:{REFUSED.split('pam:')[1]}")
    dry = debian.results("sls", "site", "--test")
    assert {result["result"] for result in dry.values()} == {None}
    real = debian.results("sls", "site")
    assert {result["result"] for result in real.values()} == {True}
    assert set(real["worker"]["changes"]) == {"worker"}  # it may be quicker than its file
    assert debian.read("supervisorctl status worker").split()[1] == "RUNNING"
    assert "rotate 9" in debian.read("cat /etc/logrotate.conf /etc/logrotate.d/wtmp")
    assert "server 127.0.0.1 iburst" in debian.read("chronyd -p")
    assert "pool" not in debian.read("chronyd -p")
    again = debian.results("sls", "site")
    assert not [name for name, result in again.items() if result["changes"]]
    first = debian.read("supervisorctl pid worker")
    debian.results("sls", "site", "--pillar", json.dumps({"seconds": 2000}))
    assert debian.read("supervisorctl pid worker") != first
    assert "sleep 2000" in debian.read("ps -o args= -p $(supervisorctl pid worker)")

    refused = debian.results("sls", "refused", "--test", code=2)
    assert "logrotate refuses the new configuration" in refused["rotation"]["comment"]
    assert "chronyd refuses the new configuration" in refused["time"]["comment"]
    assert "is no ini file" in debian.runner("sls", "pam", code=1).stderr
    debian.write("/usr/local/bin/certbot", '#!/bin/sh\necho "$@" >&2\nexit 1\n', 0o755)
    debian.tree(cert="www.x:\n  acme.cert: [{aliases: [b.x], email: a@b.org}]\n")
    failed = debian.results("sls", "cert", code=2)["www.x"]
    assert "did not get the certificate www.x: certonly" in failed["comment"]
    assert "--domains=www.x,b.x --email=a@b.org --standalone" in failed["comment"]
    debian.tree(dead="worker:\n  supervisord.dead: []\n")
    assert debian.results("sls", "dead")["worker"]["comment"] == "Stopped service: worker"
    debian.run("systemctl stop supervisor")
    assert (
        "does not reach supervisord" in debian.results("sls", "dead", code=2)["worker"]["comment"]
    )
