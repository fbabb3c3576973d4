# SPDX-License-Identifier: Apache-2.0
"""What dpkg and apt-get of Debian 12 printed, and what the provider is to make of it.

ANSWERS: a command line -> its stdout; None: it fails. CALLS: a function, its arguments, its answer.
WORDS: each option of an installation in the tool's words; none where the tool has nothing like it.
ACTIONS: each action in the tool's words, behind START.
"""

from __future__ import annotations

from typing import Any

from modules.pkg import InstallOptions, Need, PackageTarget, Simulation, Transaction
from modules.pkg.apt.provider import DETAILS
from modules.pkg.package_manager import Archive

DETAIL = "\x1f".join(["${db:Status-Status}", *(f"${{{field}}}" for field in DETAILS.values())])
DETAIL += "\x1e"
ANSWERS = {
    "dpkg --print-architecture": "amd64",
    "dpkg-query -W -f ${Package}\\t${db:Status-Want}\\t${db:Status-Status}\\t${Version}"
    "\\t${Architecture}\\n -- *": (
        "adduser\tinstall\tinstalled\t3.134\tall\n"
        "libc6\tinstall\tinstalled\t2.36-9+deb12u10\tamd64\n"
        "libc6\tinstall\tinstalled\t2.36-9+deb12u10\ti386\n"
        "man-db\tinstall\ttriggers-pending\t2.11.2-2\tamd64\n"
        "telnetd\tdeinstall\tconfig-files\t0.17-44\tall\n"
        "ucf\tunknown\tnot-installed\t\t\n"
        "linux-image-amd64\thold\tnot-installed\t\t\n"
    ),
    "apt-cache policy -- nginx nosuch": (
        "nginx:\n"
        "  Installed: (none)\n"
        "  Candidate: 1.22.1-9+deb12u1\n"
        "  Version table:\n"
        "     1.22.1-9+deb12u1 500\n"
        "        500 http://deb.debian.org/debian bookworm/main amd64 Packages\n"
        "virtual:\n"
        "  Installed: (none)\n"
        "  Candidate: (none)\n"
    ),
    "apt-cache policy -- http.-cgi httpd-cgi nginx nosuch": (
        "nginx:\n  Installed: (none)\n  Candidate: 1.22.1-9+deb12u1\n"
        "httpd-cgi:\n  Installed: (none)\n  Candidate: (none)\n"
    ),
    "apt-cache showpkg -- http.-cgi httpd-cgi nosuch": (  # the first is a pattern: what matches it
        "Package: httpd-cgi\nVersions: \n\nReverse Depends: \n  x,httpd-cgi\nDependencies: \n"
        "Provides: \nReverse Provides: \nnginx 1.22.1-9+deb12u11 (= )\nnginx 1.20.0 (= )\n"
        "Package: httpx-cgi\nVersions: \n\nReverse Depends: \nDependencies: \n"
        "Provides: \nReverse Provides: \n"
    ),
    "apt-cache madison -- nginx": (
        " nginx | 1.22.1-9+deb12u1 | http://deb.debian.org/debian bookworm/main amd64 Packages\n"
        " nginx | 1.22.1-9 | http://deb.debian.org/debian bookworm/main Sources\n"
        " nginx | 1.22.1-9 | http://deb.debian.org/debian bookworm/main amd64 Packages\n"
    ),
    "apt-get -q --print-uris download -- nginx=1.22.1-9+deb12u1 tool=1:2.0": (
        "'http://deb.debian.org/debian/pool/main/n/nginx/nginx_1.22.1-9%2bdeb12u1_amd64.deb'"
        " nginx_1.22.1-9+deb12u1_amd64.deb 532468 SHA256:AB12\n"
        "'file:/srv/own%20ones/./tool.deb' tool_1%3a2.0_all.deb 12 SHA512:cd34\n"
        "'http://x.org/weak.deb' weak_1_all.deb 12 MD5Sum:ef\n"
    ),
    "dpkg-query -W -f ${Package}\\t${Architecture}\\n${Conffiles}\\n": (
        "acl\tamd64\n\nadduser\tall\n /etc/adduser.conf 5a8b3d2c5a8b3d2c5a8b3d2c5a8b3d2c\n"
        " /etc/deluser.conf 11111111111111111111111111111111 obsolete\n"
        "libc6\tamd64\n /etc/libc.conf 22222222222222222222222222222222\n"
    ),
    "dpkg-deb --showformat=${Package}\\t${Version} --show -- /srv/x.deb": "hello\t2.10-3",
    f"dpkg-query -W -f {DETAIL} -- hello": (
        "installed\x1fhello\x1f2.10-3\x1famd64\x1f\x1f\x1f\x1f\x1f\x1f\x1fGreets\x1f\x1e"
        "config-files\x1fold\x1f1\x1fall\x1f\x1f\x1f\x1f\x1f\x1f\x1f\x1f\x1e"
    ),
    "apt-cache show -- hello": (
        "Package: hello\nVersion: 2.10-3\nHomepage: https://x.org/\nDescription: Greets\n"
        " It says hello.\n\nPackage: hello\nVersion: 2.9\nDescription: Greets\n"
    ),
    "apt-mark showmanual": "adduser\nlibc6:i386\n",
    r"dpkg-query -W -f ${binary:Package}\t${Essential}\t${Protected}\t${Priority}\n": (
        "adduser\tno\tno\timportant\nlibc6:amd64\tno\tno\trequired\nlibcrypt1:amd64\tno\tyes\toptional\n"
        "login\tyes\tno\trequired\n"
    ),
    "apt-get -s -q -y -o Dir::Log::Planner= -o"
    " Dir::State::extended_states=SCRATCH/extended_states autoremove --": (
        "Reading state information...\nThe following packages will be REMOVED:\n  adduser\n"
        "Remv adduser [3.134]\n"
    ),
    "dpkg-query -S -- /bin/ls": "coreutils: /bin/ls\n",
    "dpkg-query -S -- /nowhere": "",
    "dpkg-query -L -- adduser": "/.\n/etc\n/usr/sbin/adduser\ndiverted by x to: /y\n",
    "apt-get -s -q -y -o Dir::Log::Planner= install -- nginx": (
        "Reading package lists...\n"
        "Inst libc6 [2.36-9+deb12u9] (2.36-9+deb12u10 Debian:12.10/stable [amd64])\n"
        "Inst nginx (1.22.1-9+deb12u1 Debian-Security:12/stable-security [amd64])\n"
        "Remv lighttpd [1.4.69-1]\n"
        "Conf nginx (1.22.1-9+deb12u1 Debian-Security:12/stable-security [amd64])\n"
    ),
    "apt-config shell recommends APT::Install-Recommends/b suggests APT::Install-Suggests/b": (
        "recommends='true'\nsuggests='false'\n"
    ),
    "apt-cache depends --no-replaces --no-enhances --no-suggests"
    " -o APT::Cache::ShowVersion=true -- adduser libc6 nginx": (
        "nginx\n  Depends: libc6 (>= 2.34)\n |Recommends: <mta>\n    exim4\n    adduser\n"
        "  Recommends: postfix\n  Depends: adduser (>= 3.140)\n  Breaks: libc6 (<< 2.37)\n"
        "  Breaks: adduser (<< 3.1)\n  Conflicts: <other>\n    exim4\n"
    ),
    "dpkg --compare-versions -- 2.36-9+deb12u10 >= 2.34": "",
    "dpkg --compare-versions -- 2.36-9+deb12u10 << 2.37": "",
    "dpkg --compare-versions -- 3.134 >= 3.140": None,
    "dpkg --compare-versions -- 3.134 << 3.1": None,
}
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    (
        "list_pkgs",
        (),
        {
            "adduser": "3.134",
            "libc6": "2.36-9+deb12u10",
            "libc6:i386": "2.36-9+deb12u10",
            "man-db": "2.11.2-2",
        },
    ),
    (
        "find_archives",
        ((("nginx", "1.22.1-9+deb12u1"), ("tool", "1:2.0")),),
        {
            "nginx": Archive(
                "nginx",
                "1.22.1-9+deb12u1",
                "/var/cache/apt/archives/nginx_1.22.1-9+deb12u1_amd64.deb",
                532468,
                "sha256:ab12",
            ),
            "tool": Archive("tool", "1:2.0", "/srv/own ones/tool.deb", 12, "sha512:cd34"),
        },
    ),
    ("package_lists", (), ("/var/lib/apt/lists",)),
    ("contents_words", ("/srv/x.deb",), ["dpkg-deb", "--fsys-tarfile", "/srv/x.deb"]),
    ("leftovers", (), {"telnetd": "0.17-44"}),
    ("normal", ("nginx:amd64",), "nginx"),
    ("normal", ("nginx:all",), "nginx"),
    ("normal", ("nginx:i386",), "nginx:i386"),
    (
        "resolve_capabilities",
        (("http.-cgi", "httpd-cgi", "nginx", "nosuch"),),
        {"nginx": "nginx", "httpd-cgi": "nginx"},
    ),
    ("candidates", (("nginx", "nosuch"),), {"nginx": "1.22.1-9+deb12u1"}),
    ("versions", ("nginx",), ["1.22.1-9+deb12u1", "1.22.1-9"]),
    ("compare", ("1.0", "1.0"), 0),
    ("file_info", ("/srv/x.deb",), ("hello", "2.10-3")),
    ("held", (), ["linux-image-amd64"]),
    ("manually_installed", (), ["adduser", "libc6:i386"]),
    ("vital", (), ["libc6", "libcrypt1", "login"]),
    (
        "simulate_marks",
        (("adduser",), ("man-db",)),
        Simulation({"adduser": {"old": "3.134", "new": ""}}),
    ),
    (
        "info_installed",
        (("hello",),),
        {"hello": {"name": "hello", "version": "2.10-3", "arch": "amd64", "summary": "Greets"}},
    ),
    (
        "show",
        (("hello",),),
        {
            "hello": {
                "2.10-3": {"Homepage": "https://x.org/", "Description": "Greets\nIt says hello."},
                "2.9": {"Description": "Greets"},
            }
        },
    ),
    ("owner", ("/bin/ls",), "coreutils"),
    ("owner", ("/nowhere",), ""),
    ("file_list", ("adduser",), ["/etc", "/usr/sbin/adduser"]),
    (
        "simulate",
        (Transaction("install", (PackageTarget("nginx"),)),),
        Simulation(
            {
                "libc6": {"old": "2.36-9+deb12u9", "new": "2.36-9+deb12u10"},
                "nginx": {"old": "", "new": "1.22.1-9+deb12u1"},
                "lighttpd": {"old": "1.4.69-1", "new": ""},
            }
        ),
    ),
    (
        "needs",
        (("adduser", "libc6", "nginx"),),
        {
            "nginx": [
                Need((("libc6",),), False, ("libc6",)),
                Need((("exim4", "adduser"), ("postfix",)), True, ("adduser",)),
                Need((("adduser",),), False),
                Need((("libc6",),), False),
            ]
        },
    ),
]
WORDS: dict[str, tuple[InstallOptions, list[str]]] = {
    "repository": (InstallOptions(repository="backports"), ["-t", "backports"]),
    "enable": (InstallOptions(enable=("epel",)), []),
    "disable": (InstallOptions(disable=("*",)), []),
    "disable_excludes": (InstallOptions(disable_excludes="all"), []),
    "settings": (InstallOptions(settings=("obsoletes=0",)), []),
    "recommended": (InstallOptions(recommended=False), ["--no-install-recommends"]),
    "no_recommends": (InstallOptions(no_recommends=True), []),
    "only_upgrade": (InstallOptions(only_upgrade=True), ["--only-upgrade"]),
    "reinstall": (InstallOptions(reinstall=True), ["--reinstall"]),
    "downgrade": (InstallOptions(downgrade=True), ["--allow-downgrades"]),
    "unsigned": (InstallOptions(unsigned=True), ["--allow-unauthenticated"]),
    "change_held": (InstallOptions(change_held=True), ["--allow-change-held-packages"]),
    "security": (InstallOptions(security=True), []),
    "replace_configuration": (
        InstallOptions(replace_configuration=True),
        ["-o", "DPkg::Options::=--force-confnew"],
    ),
}
START = ["apt-get", "-s", "-q", "-y", "-o", "Dir::Log::Planner="]
ACTIONS: list[tuple[Transaction, list[str]]] = [
    (
        Transaction("install", (PackageTarget("a", "1.0"), PackageTarget("b", path="/srv/b.deb"))),
        ["install", "--", "a=1.0", "/srv/b.deb"],
    ),
    (Transaction("remove", (PackageTarget("a"),)), ["remove", "--", "a"]),
    (Transaction("purge", (PackageTarget("a"),)), ["purge", "--", "a"]),
    (Transaction("upgrade"), ["upgrade", "--"]),
    (Transaction("upgrade", (PackageTarget("a"),)), ["install", "--only-upgrade", "--", "a"]),
    (Transaction("full-upgrade"), ["dist-upgrade", "--"]),
    (Transaction("autoremove"), ["autoremove", "--"]),
]
