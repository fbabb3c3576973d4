"""How archives of packages are tried: on a throw-away copy of the machine, whose lists nobody fetches."""

from __future__ import annotations

from typing import Any

from laws import Scenario

ENTRY = "deb http://deb.example.org/debian bookworm main"
LIST = "/etc/apt/sources.list.d/ex.list"
THERE = f"echo '{ENTRY}' > {LIST}; "
ARMOUR = "-----BEGIN PGP PUBLIC KEY BLOCK-----\\n\\nmDMEZAAAAAA=\\n=abcd\\n-----END PGP PUBLIC KEY BLOCK-----\\n"
KEY = f"printf -- '{ARMOUR}' > /k.asc; "


def repo(function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any) -> Scenario:
    given = {"name": ENTRY, "refresh": False, **args}
    return Scenario(f"pkgrepo.{function}", given, plans=plans, fails=fails, machine=True, prepare=prepare)


SCENARIOS = [
    repo("managed", file=LIST, humanname="Example", comments=["one", "two"]),
    repo("managed", THERE, plans=False),
    repo("managed", THERE, name=ENTRY + " contrib", disabled=True),
    repo("managed", THERE, file="/etc/apt/sources.list.d/ex.sources", consolidate=False),
    repo("managed", f"echo '# other' > {LIST}", file=LIST, clean_file=True, enabled=True),
    repo("managed", name="deb http://deb.example.org/d", dist="bookworm", comps="main,contrib", trusted=True),
    repo("managed", KEY, signedby="/etc/apt/keyrings/x.gpg", key_url="/k.asc", aptkey=False, architectures=["amd64"]),
    repo("managed", key_text="-----BEGIN PGP PUBLIC KEY BLOCK-----\n", gpgcheck=1, allow_insecure_key=True),
    repo("managed", key_url="/nowhere.asc", fails="is not there"),
    repo("managed", name="nonsense", fails="is not valid"),
    repo("managed", ppa="who/what", fails="ppa is for Ubuntu"),
    repo("absent", THERE),
    repo("absent", THERE, name=ENTRY.replace(" main", " x"), file="/etc/apt/sources.list", aptkey=False),
    repo("absent", plans=False),
    repo("absent", ppa="who/what", fails="ppa is for Ubuntu"),
]
