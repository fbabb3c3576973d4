"""Users whose services run without a login, and their subordinate numbers, with a real logind."""

from __future__ import annotations

from debian import Debian

SLS = """zoe:
  user.present:
    - linger: {linger}
    - subuids: 900000-900009
"""


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
