# SPDX-License-Identifier: Apache-2.0
"""systemd.unit under a real systemd: files, timers, drop-ins, and what systemd-analyze refuses."""

from __future__ import annotations

import json

from debian import Debian
from units import agreed, sls

UNIT = "[Service]\nExecStart=/bin/sleep {}\n[Install]\nWantedBy=multi-user.target\n"
TIMER = "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n"
FOLDER = "/etc/systemd/system"


def test_a_unit_is_written_enabled_started_and_restarted(debian: Debian) -> None:
    wanted = {"contents": UNIT.format(1000), "enable": True, "running": True}
    real = agreed(debian, {"long": wanted})
    assert real["long"]["changes"] == {
        f"{FOLDER}/long.service": "New file",
        "enabled": {"old": False, "new": True},
        "running": {"old": False, "new": True},
    }
    shows = "systemctl is-active long; systemctl is-enabled long"
    assert debian.read(shows) == "active\nenabled"
    pid = debian.read("systemctl show --value -p MainPID long")
    changed = wanted | {"contents": UNIT.format(2000), "drop_ins": {"nice": "[Service]\nNice=5"}}
    real = agreed(debian, {"long": changed})
    assert real["long"]["changes"]["restarted"] is True
    assert debian.read("systemctl show --value -p MainPID long") != pid
    assert debian.read("systemctl show --value -p Nice,NeedDaemonReload long") == "5\nno"
    assert "sleep 2000" in debian.read("ps ax -o args")
    watching = changed | {"watch": [{"test": "event"}]}
    event = {"event": {"test.succeed_with_changes": []}}
    debian.tree(watch=json.dumps(json.loads(sls({"long": watching})) | event))
    assert debian.results("sls", "watch")["long"]["comment"] == "Unit long.service was restarted"
    agreed(debian, {"long": changed | {"enable": False, "running": False}})
    assert debian.run(shows, code=None).stdout == "inactive\ndisabled\n"


def test_a_timer_and_a_drop_in_of_an_installed_unit(debian: Debian) -> None:
    once = "[Service]\nType=oneshot\nExecStart=/bin/touch /run/once\n"
    real = agreed(
        debian,
        {
            "once": {"contents": once, "timer": TIMER, "enable": True, "running": True},
            "cron": {"drop_ins": {"limits": "[Service]\nLimitNOFILE=4321"}},
        },
    )
    assert real["once"]["changes"]["enabled"] == {"old": False, "new": True}
    assert debian.read("systemctl is-active once.timer") == "active"
    assert debian.run("test -e /run/once", code=1)
    assert debian.read("systemctl show --value -p LimitNOFILE cron") == "4321"


def test_what_systemd_refuses_fails_in_the_dry_run(debian: Debian) -> None:
    bad = {"contents": "[Service]\nType=simple\nExecReload=/bin/true\n", "running": True}
    debian.tree(
        bad=sls(
            {
                "bad": bad,
                "nosuch": {"drop_ins": {"x": "[Service]"}},
                "user-.slice": {"drop_ins": {"x": "[Slice]"}},
            }
        )
    )
    for words in (["--test"], []):
        results = debian.results("sls", "bad", *words, code=2)
        comment = results["bad"]["comment"]
        assert comment.startswith("systemd refuses bad.service:\n")
        assert "ExecStart=" in comment and "/tmp" not in comment, comment
        for name, full in (("nosuch", "nosuch.service"), ("user-.slice", "user-.slice")):
            assert results[name]["comment"].startswith(f"There is no unit {full}")
            assert f"file.managed below /etc/systemd/system/{full}.d" in results[name]["comment"]
    assert debian.run(f"ls {FOLDER}/bad.service", code=2)
    odd = {"contents": UNIT.format(3) + "[Service]\nNosuchKey=1\n"}
    debian.tree(odd=sls({"odd": odd}))
    result = debian.results("sls", "odd", "--test")["odd"]
    assert result["result"] is None and "NosuchKey" in str(result["warnings"])
    later = {"contents": "[Service]\nExecStart=/usr/local/bin/later\n", "running": True}
    program = {"file.managed": [{"contents": "#!/bin/sh\nsleep 100"}, {"mode": "0755"}]}
    tree = json.loads(sls({"later": later})) | {"/usr/local/bin/later": program}
    debian.tree(later=json.dumps(dict(reversed(tree.items()))))
    assert debian.results("sls", "later", "--test")["later"]["result"] is None
    assert debian.results("sls", "later")["later"]["result"] is True
