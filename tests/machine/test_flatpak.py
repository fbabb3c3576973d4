# SPDX-License-Identifier: Apache-2.0
"""A real flatpak: what all users have, and what one has, from a repository that is made here."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

LAYER = "desktop"
REPOSITORY = r"""
cd /srv; mkdir -p demo/files demo/usr
printf '[Runtime]\nname=org.x.Demo\nruntime=org.x.Demo/x86_64/stable\n' >demo/metadata
printf 'sdk=org.x.Demo/x86_64/stable\n' >>demo/metadata
flatpak build-export --runtime repo demo stable; chmod -R a+rX /srv
"""
AS_ZOE = "cd /; setpriv --reuid=zoe --regid=zoe --init-groups env HOME=/home/zoe"


def flatpak(function: str, **given: Any) -> dict[str, Any]:
    return {f"flatpak.{function}": [{key: value} for key, value in given.items()]}


def test_applications_of_a_user(debian: Debian) -> None:
    debian.run("useradd -m zoe; " + REPOSITORY)
    add = "flatpak remote-add --no-gpg-verify"
    debian.run(f"{AS_ZOE} {add} --user mine file:///srv/repo; {add} --system all file:///srv/repo")
    own = {"method": "user", "user": "zoe"}
    made = {
        "mine": flatpak("add_remote", location="file:///srv/repo", **own),
        "unsigned": flatpak("add_remote", location="file:///srv/repo", **own),
        "org.x.Demo": flatpak("installed", location="mine", **own),
    }
    gone = {
        "all": flatpak("add_remote", location="file:///srv/repo"),
        "all's": flatpak("uninstalled", name="org.x.Demo"),
        "hers": flatpak("uninstalled", name="org.x.Demo", **own),
    }
    debian.tree(a=json.dumps(made), b=json.dumps(gone))

    def is_there(method: str) -> bool:
        look = f"{AS_ZOE} flatpak info --{method} org.x.Demo >/dev/null 2>&1"
        return debian.read(f"{look} && echo yes || echo no") == "yes"

    debian.runner("sls", "a", "--test", code=None)
    assert not is_there("user")
    real = debian.results("sls", "a", code=2)
    assert {name: each["result"] for name, each in real.items()} == {
        "mine": True,
        "unsigned": False,
        "org.x.Demo": True,
    }
    assert 'Failed to add remote "unsigned"' in real["unsigned"]["comment"]
    assert "no summary signatures" in real["unsigned"]["comment"]
    assert is_there("user") and not is_there("system")
    again = debian.results("sls", "a", code=2)
    assert again["unsigned"]["result"] is False, "what was refused is not left behind"
    assert again["org.x.Demo"]["comment"] == 'Package "org.x.Demo" is already installed'
    left = debian.results("sls", "b")
    assert {name: bool(each["changes"]) for name, each in left.items()} == {
        "all": False,
        "all's": False,
        "hers": True,
    }
    assert not is_there("user")
    dry = debian.runner("undo", "--test").stdout
    assert "flatpak zoe/org.x.Demo: made again" in dry and "its remote has now" in dry
    debian.runner("undo")
    assert is_there("user") and not is_there("system")
