# SPDX-License-Identifier: Apache-2.0
"""How archives of packages are tried: on a throw-away copy of the machine, whose lists nobody
fetches.
"""

from __future__ import annotations

from laws import on_machine

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


repo = on_machine("pkgrepo.", name=ENTRY, refresh=False)


SCENARIOS = [
    repo("managed humanname=Example comments=[one,two]", file=LIST),
    repo("managed", THERE, plans=False),
    repo("managed dist=' stable '", file=LIST, comps=["main "], comments=[" a  b "]),
    repo("managed comps=[main#x]", fails="apt would read"),
    repo("managed disabled=true", THERE, name=ENTRY + " contrib"),
    repo("managed file=/etc/apt/sources.list.d/other.list consolidate=false", THERE, plans=False),
    repo(
        "managed file=/etc/apt/sources.list.d/new.sources architectures=amd64,i386",
        THERE,
        name=ENTRY + " contrib",
    ),
    repo(
        "managed consolidate=true", THERE + f"echo '{ENTRY}' > /etc/apt/sources.list; ", file=LIST
    ),
    repo("managed", TWO, name=ENTRY + " contrib", file=STANZAS),
    repo("managed comments=[noted]", THERE, file=LIST),
    repo("managed name='deb [trusted=yes] file:/srv/repo ./' refresh=true refresh_db=true", LOCAL),
    repo(
        "managed file=/etc/apt/sources.list.d/other",
        fails="apt passes over /etc/apt/sources.list.d/other: it reads files that end in .list or",
    ),
    repo("managed aptkey=false", fails="missing 'signedby' or 'trusted' option"),
    repo(
        "managed allow_insecure_key=false key_url=http://x.org/k",
        fails="Cannot have 'key_url' using http",
    ),
    repo(
        "managed baseurl=x mirrorlist=x metalink=x gpgkey=x gpgautoimport=true priority=1",
        file=LIST,
    ),
    repo("managed keyid=ABCD keyserver=hkp://127.0.0.1:1", file=LIST, fails="key ABCD cannot be"),
    repo("managed clean_file=true enabled=true", f"echo '# other' > {LIST}", file=LIST),
    repo(
        "managed name='deb http://deb.example.org/d' dist=bookworm comps=main,contrib trusted=true"
    ),
    repo(
        "managed signedby=/etc/apt/keyrings/x.gpg key_url=/k.asc aptkey=false"
        " architectures=[amd64]",
        KEY,
    ),
    repo(
        "managed gpgcheck=1 allow_insecure_key=true",
        key_text="-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----\n",
    ),
    repo(
        "managed key_text='-----BEGIN PGP PUBLIC KEY BLOCK-----'",
        fails="is damaged: it ends before its armour does",
    ),
    repo("managed key_url=/nowhere.asc", fails="does not exist"),
    repo("managed key_url=/etc/hostname", fails="the key /etc/hostname is no OpenPGP key"),
    repo("managed key_text=<html>", fails="the text of the key is no OpenPGP key"),
    repo("managed name=nonsense", fails="is not valid"),
    repo("managed ppa=who/what", fails="ppa is for Ubuntu"),
    repo("absent", THERE),
    repo(
        "absent file=/etc/apt/sources.list aptkey=false", THERE, name=ENTRY.replace(" main", " x")
    ),
    repo("absent", TWO),
    repo(
        "absent keyid=ABCD keyid_ppa=false",
        THERE + "echo > /etc/apt/trusted.gpg.d/ABCD.asc; ",
        copr="",
    ),
    repo(
        "absent name='deb http://deb.example.org/debian' dist=bookworm comps=main refresh=true",
        THERE,
    ),
    repo("absent", plans=False),
    repo("absent name=nonsense", plans=False),
    repo("absent ppa=who/what", plans=False),
]
