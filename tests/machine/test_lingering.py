# SPDX-License-Identifier: Apache-2.0
"""Users whose services run without a login, their subordinate numbers, and services of their own
systemd, with a real logind.
"""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

SLS = """zoe:
  user.present:
    - linger: {linger}
    - subuids: 900000-900009
"""


UNIT = "[Service]\nExecStart=/bin/sleep {}\n[Install]\nWantedBy=default.target\n"
ASK = "setpriv --reuid=yves --regid=yves --init-groups env XDG_RUNTIME_DIR=/run/user/$(id -u yves)"


def units_of(user: str, **states: dict[str, Any]) -> str:
    """States about the unit `nap` of a user."""
    tree = {}
    for function, arguments in states.items():
        named = {"name": "nap", "user": user, **arguments}
        module, _, rest = function.partition("_")
        listed = [{key: value} for key, value in named.items()]
        tree[function] = {f"{module}.{rest}": listed}
    return json.dumps(tree)


def test_services_of_a_user(debian: Debian) -> None:
    wanted = {"contents": UNIT.format(1000), "enable": True, "running": True}
    unit = json.loads(units_of("yves", systemd_unit=wanted))
    debian.tree(unit=json.dumps({"yves": {"user.present": [{"linger": True}]}, **unit}))
    debian.run("useradd -m yves")
    dry = debian.results("sls", "unit", "--test")
    assert dry["systemd_unit"]["result"] is None, "to linger is pending"
    problem = debian.results("single", "systemd.unit", "nap", "user=yves", code=2)
    (result,) = problem.values()
    assert "No systemd runs for yves: write `linger: True` to user.present" in result["comment"]
    real = debian.results("sls", "unit")["systemd_unit"]
    path = "/home/yves/.config/systemd/user/nap.service"
    assert real["changes"] == {
        path: "New file",
        "enabled": {"old": False, "new": True},
        "running": {"old": False, "new": True},
    }
    assert debian.read(f"stat -c %U /home/yves/.config {path}") == "yves\nyves"
    assert debian.read(f"{ASK} systemctl --user is-active nap") == "active"
    assert debian.read("ps -o user= -C sleep") == "yves"
    assert debian.run("systemctl is-active nap", code=3)
    assert debian.runner("call", "service.status", "nap", "user=yves").stdout == "true\n"
    debian.tree(
        off=units_of("yves", service_dead={"enable": False}),
        masked=units_of("yves", service_masked={}),
        on=units_of("yves", service_unmasked={}, service_running={"name": "nip", "enable": True}),
    )
    off = debian.results("sls", "off")["service_dead"]
    assert (off["result"], off["changes"]) == (True, {"nap": True})
    assert debian.run(f"{ASK} systemctl --user is-enabled nap", code=1).stdout == "disabled\n"
    debian.run(f"mv {path} {path.replace('nap', 'nip')}")  # what has a file here cannot be masked
    debian.results("sls", "masked")
    assert debian.read(f"readlink {path}") == "/dev/null"
    on = debian.results("sls", "on")
    assert on["service_unmasked"]["changes"] == {"masked": {"old": True, "new": False}}
    assert on["service_running"]["changes"] == {"nip": True}
    assert not any(result["changes"] for result in debian.results("sls", "on", "--test").values())


def test_a_user_lingers_and_stops_lingering(debian: Debian) -> None:
    debian.tree(on=SLS.format(linger=True), off=SLS.format(linger=False))
    dry = debian.results("sls", "on", "--test")["zoe"]
    assert (dry["changes"]["linger"], dry["changes"]["subuids"]) == (True, ["900000-900009"])
    real = debian.results("sls", "on")["zoe"]
    assert (real["changes"]["linger"], real["changes"]["subuids"]) == (True, ["900000-900009"])
    assert debian.read("loginctl show-user zoe --property=Linger") == "Linger=yes"
    assert "zoe:900000:10" in debian.read("cat /etc/subuid").split()
    assert debian.results("sls", "on")["zoe"]["changes"] == {}
    assert debian.results("sls", "off", "--test")["zoe"]["changes"] == {"linger": False}
    assert debian.results("sls", "off")["zoe"]["changes"] == {"linger": False}
    assert debian.run("test -e /var/lib/systemd/linger/zoe", code=1)


def test_the_schedule_of_a_user(debian: Debian) -> None:
    """A timer of the user's own systemd, with the user's tree, configuration and rights."""
    debian.run("useradd -m xaver; chmod 755 /root")  # where Python may lie
    debian.write("/home/xaver/runner.yaml", "{file_roots: {base: [/home/xaver/tree]}}")
    debian.write("/home/xaver/tree/top.sls", "base: {'*': [a]}")
    debian.write("/home/xaver/tree/a.sls", "/home/xaver/made: {file.managed: [{contents: x}]}")
    debian.run("chown -R xaver: /home/xaver")
    asks = ASK.replace("yves", "xaver") + " HOME=/home/xaver runner"
    words = "--user --config /home/xaver/runner.yaml"
    alone = debian.run(f"{asks} schedule install {words}", code=1).stderr
    assert "no systemd runs for xaver" in alone and "loginctl enable-linger xaver" in alone
    assert (
        "--user is for timers"
        in debian.run(f"{asks} schedule install --user --cron-d", code=1).stderr
    )
    assert (
        "--user is for plain users" in debian.run("runner schedule install --user", code=1).stderr
    )
    debian.run("systemctl start user@$(id -u xaver)")
    folder = "/home/xaver/.config/systemd/user"
    dry = debian.run(f"{asks} schedule install {words} --test")
    assert "while you are logged in" in dry.stderr
    assert debian.run(f"test -e {folder}", code=1)
    debian.run("loginctl enable-linger xaver")
    made = debian.run(f"{asks} schedule install {words} --every 1d --ac-power")
    assert made.stderr == "" and f"{folder}/runner-highstate.timer" in made.stdout
    again = debian.run(f"{asks} schedule install {words} --every 1d --ac-power -q")
    assert again.stdout + again.stderr == ""
    of_user = f"{ASK.replace('yves', 'xaver')} systemctl --user"
    assert debian.read(f"{of_user} is-enabled runner-highstate.timer") == "enabled"
    assert debian.read(f"{of_user} is-active runner-highstate.timer") == "active"
    assert "ConditionACPower=true" in debian.read(f"cat {folder}/runner-highstate.service")
    debian.run(f"{of_user} start runner-highstate.service")
    assert debian.read("stat -c %U /home/xaver/made") == "xaver"
    told = json.loads(debian.run(f"{asks} schedule status {words} --out json").stdout)["local"]
    assert told["installed"] == f"{folder}/runner-highstate.timer" and told["next"]
    assert told["last"]["outcome"] == "done" and "--scheduled" in told["command"]
    assert debian.run(f"{asks} disable x --config /home/xaver/runner.yaml").stderr == ""
    debian.run(f"{asks} schedule remove {words}")
    told = json.loads(debian.run(f"{asks} schedule status {words} --out json").stdout)["local"]
    assert told["installed"] is None
    assert debian.run(f"{of_user} is-active runner-highstate.timer", code=None).returncode
    debian.run(f"{asks} enable --config /home/xaver/runner.yaml")
    watched = debian.run(f"{asks} schedule install {words} --watch drift")
    assert watched.stderr == ""
    assert debian.read(f"{of_user} is-enabled runner-watch; {of_user} is-active runner-watch") == (
        "enabled\nactive"
    )
    debian.run("rm /home/xaver/made")
    debian.until("test -e /home/xaver/made")
    assert debian.run(f"{asks} schedule install {words} --watch drift -q").stdout == ""
    told = json.loads(debian.run(f"{asks} schedule status {words} --out json").stdout)["local"]
    assert "watch --act drift" in told["watch"]
    debian.run(f"{asks} schedule remove {words} --wait=-1")
    assert debian.run(f"{of_user} is-active runner-watch", code=None).stdout == "inactive\n"
    debian.run("loginctl disable-linger xaver; systemctl stop user@$(id -u xaver)")
