# SPDX-License-Identifier: Apache-2.0
"""How archives of packages are tried: on a throw-away copy of the machine, whose lists nobody
fetches.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario

ENTRY = "deb http://deb.example.org/debian bookworm main"
LIST = "/etc/apt/sources.list.d/ex.list"
THERE = f"echo '{ENTRY}' > {LIST}; "
ARMOUR = (
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\\n\\nmDMEZAAAAAA=\\n=abcd\\n-----END PGP PUBLIC KEY"
    " BLOCK-----\\n"
)
STANZAS = "/etc/apt/sources.list.d/ex.sources"
STANZA = (
    "Types: deb\\nURIs: http://deb.example.org/debian\\nSuites: bookworm updates\\nComponents:"
    " main\\nX-Mine: yes\\n"
)
TWO = f"printf '{STANZA}' > {STANZAS}; "
LOCAL = "rm -f /etc/apt/sources.list.d/*; mkdir -p /srv/repo; touch /srv/repo/Packages; "
KEY = f"printf -- '{ARMOUR}' > /k.asc; "


def repo(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    given = {"name": ENTRY, "refresh": False, **args}
    return Scenario(
        f"pkgrepo.{function}", given, plans=plans, fails=fails, machine=True, prepare=prepare
    )


SCENARIOS = [
    repo("managed", file=LIST, humanname="Example", comments=["one", "two"]),
    repo("managed", THERE, plans=False),
    repo("managed", file=LIST, dist=" stable ", comps=["main "], comments=[" a  b "]),
    repo("managed", comps=["main#x"], fails="apt would read"),
    repo("managed", THERE, name=ENTRY + " contrib", disabled=True),
    repo(
        "managed", THERE, plans=False, file="/etc/apt/sources.list.d/other.list", consolidate=False
    ),
    repo(
        "managed",
        THERE,
        name=ENTRY + " contrib",
        file="/etc/apt/sources.list.d/new.sources",
        architectures="amd64,i386",
    ),
    repo(
        "managed", THERE + f"echo '{ENTRY}' > /etc/apt/sources.list; ", file=LIST, consolidate=True
    ),
    repo("managed", TWO, name=ENTRY + " contrib", file=STANZAS),
    repo("managed", THERE, file=LIST, comments=["noted"]),
    repo(
        "managed", LOCAL, name="deb [trusted=yes] file:/srv/repo ./", refresh=True, refresh_db=True
    ),
    repo("managed", aptkey=False, fails="missing 'signedby' or 'trusted' option"),
    repo(
        "managed",
        allow_insecure_key=False,
        key_url="http://x.org/k",
        fails="Cannot have 'key_url' using http",
    ),
    repo(
        "managed",
        file=LIST,
        baseurl="x",
        mirrorlist="x",
        metalink="x",
        gpgkey="x",
        gpgautoimport=True,
        priority=1,
    ),
    repo(
        "managed",
        file=LIST,
        keyid="ABCD",
        keyserver="hkp://127.0.0.1:1",
        fails="key ABCD cannot be",
    ),
    repo("managed", f"echo '# other' > {LIST}", file=LIST, clean_file=True, enabled=True),
    repo(
        "managed",
        name="deb http://deb.example.org/d",
        dist="bookworm",
        comps="main,contrib",
        trusted=True,
    ),
    repo(
        "managed",
        KEY,
        signedby="/etc/apt/keyrings/x.gpg",
        key_url="/k.asc",
        aptkey=False,
        architectures=["amd64"],
    ),
    repo(
        "managed",
        key_text="-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
        gpgcheck=1,
        allow_insecure_key=True,
    ),
    repo("managed", key_url="/nowhere.asc", fails="does not exist"),
    repo("managed", key_url="/etc/hostname", fails="the key /etc/hostname is no OpenPGP key"),
    repo("managed", key_text="<html>", fails="the text of the key is no OpenPGP key"),
    repo("managed", name="nonsense", fails="is not valid"),
    repo("managed", ppa="who/what", fails="ppa is for Ubuntu"),
    repo("absent", THERE),
    repo(
        "absent",
        THERE,
        name=ENTRY.replace(" main", " x"),
        file="/etc/apt/sources.list",
        aptkey=False,
    ),
    repo("absent", TWO),
    repo(
        "absent",
        THERE + "echo > /etc/apt/trusted.gpg.d/ABCD.asc; ",
        keyid="ABCD",
        keyid_ppa=False,
        copr="",
    ),
    repo(
        "absent",
        THERE,
        name="deb http://deb.example.org/debian",
        dist="bookworm",
        comps="main",
        refresh=True,
    ),
    repo("absent", plans=False),
    repo("absent", name="nonsense", plans=False),
    repo("absent", ppa="who/what", plans=False),
]
