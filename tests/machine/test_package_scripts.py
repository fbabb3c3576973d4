# SPDX-License-Identifier: Apache-2.0
"""What is told of packages whose scripts fail, that are half configured, or whose configuration
file was changed here.
"""

from __future__ import annotations

import json
from typing import Any

from debian import Debian
from debian_archive import INDEX, package

SAYS = "#!/bin/sh\necho 'no licence server' >&2\nexit 3\n"
PRINTS = "#!/bin/sh\necho 'no licence file'\nexit 3\n"
KILLS = "#!/bin/sh\nkill -9 $(pgrep -x apt-get)\n"
MENDED = "#!/bin/sh\ntest -e /run/mended\n"
CONFFILES = {"DEBIAN/conffiles": "/etc/kept.conf"}
MAKE = f"""
{package("says", files={"DEBIAN/postinst": SAYS})}
{package("prints", files={"DEBIAN/postinst": PRINTS})}
{package("kills", files={"DEBIAN/postinst": KILLS})}
{package("half", files={"DEBIAN/postinst": MENDED})}
{package("kept", "1", {"etc/kept.conf": "one", **CONFFILES})}
{package("kept", "2", {"etc/kept.conf": "two", **CONFFILES})}
{package("kept", "3", {"etc/kept.conf": "three", **CONFFILES})}
{INDEX}
"""


def installed(machine: Debian, name: str, *words: str, **more: Any) -> dict[str, Any]:
    arguments = [{key: value} for key, value in more.items()]
    machine.tree(one=json.dumps({name: {"pkg.installed": arguments}}))
    result: dict[str, Any] = machine.results("sls", "one", *words, code=None)[name]
    return result


def test_what_scripts_of_packages_say_is_told(debian: Debian) -> None:
    debian.run(MAKE)
    for name, told in (("says", "no licence server"), ("prints", "no licence file")):
        comment = installed(debian, name)["comment"]
        assert f"    - {told}\n" in comment, comment
        assert "script subprocess returned error exit status 3" in comment
        debian.run(f"dpkg --purge {name}")
    comment = installed(debian, "kills")["comment"]
    assert "apt-get was ended by signal 9 SIGKILL before it was done" in comment
    assert "debconf" not in comment


def test_a_half_configured_package_is_foreseen(debian: Debian) -> None:
    debian.run(MAKE)
    debian.run("apt-get -y install half", code=100)
    debian.run("touch /run/mended")
    dry = installed(debian, "half", "--test")
    real = installed(debian, "half")
    assert dry["changes"] == real["changes"] == {"half": {"old": "", "new": "1"}}
    assert (dry["result"], real["result"]) == (None, True)


def test_a_configuration_file_that_stays_is_told(debian: Debian) -> None:
    debian.run(MAKE)
    installed(debian, "kept", version="1")
    debian.run("echo own >/etc/kept.conf")
    [warning] = installed(debian, "kept", version="2")["warnings"]
    assert warning.startswith("/etc/kept.conf was changed on this machine and stays as it is")
    assert debian.read("cat /etc/kept.conf /etc/kept.conf.dpkg-dist") == "own\ntwo"
    assert "warnings" not in installed(debian, "kept", version="3", force_conf_new=True)
    assert debian.read("cat /etc/kept.conf /etc/kept.conf.dpkg-old") == "three\nown"
