# SPDX-License-Identifier: Apache-2.0
"""What pacman 6.0.2 printed, and what the provider is to make of it; names as in apt.py."""

from __future__ import annotations

from typing import Any

from modules.pkg import InstallOptions, Need, PackageGroup, PackageTarget, Simulation, Transaction

START = ["pacman", "--noconfirm", "--noprogressbar", "--color", "never"]
START += ["--print", "--print-format", "%n %v"]
PRINTED = " ".join(START)
ABOUT_NGINX = """Repository      : extra
Name            : nginx
Version         : 1.26.0-1
Description     : Lightweight HTTP server
Architecture    : x86_64
Provides        : http-server
Depends On      : pcre2>=10  geoip  sh
Optional Deps   : nginx-mod: modules
                  certbot: certificates
Conflicts With  : None
Replaces        : None

Repository      : extra
Name            : geoip
Version         : 1.6.12-3
Provides        : None
Depends On      : None
Conflicts With  : None
Replaces        : None

"""
INSTALLED = """Name            : bash
Version         : 5.2.026-2
Architecture    : x86_64
URL             : https://www.gnu.org/software/bash/bash.html
Licenses        : GPL-3.0-or-later
Groups          : None
Provides        : sh
Depends On      : readline>=8
Conflicts With  : None
Replaces        : None
Installed Size  : 2.50 KiB
Packager        : Unknown Packager

Name            : pcre2
Version         : 10.43-1
Provides        : libpcre2-8.so=0-64
Depends On      : None
Conflicts With  : lighttpd<2
Replaces        : None
Installed Size  : 10.00 B

"""
ANSWERS = {
    "pacman -Qo -- /etc/a /etc/b /etc": (
        "/etc/a is owned by other 1.0-1\n/etc/b is owned by tool 1.0-1\n"
        "/etc/ is owned by filesystem 1-1\n/etc/ is owned by tool 1.0-1\n"
    ),
    "pacman -Q": "bash 5.2.026-2\npcre2 10.43-1\n",
    "pacman -Qi": INSTALLED,
    "pacman -Sl": (
        "core bash 5.2.026-2 [installed]\n"
        "core pcre2 10.44-1 [installed: 10.43-1]\n"
        "extra geoip 1.6.12-3\n"
        "extra nginx 1.26.0-1\n"
        "testing nginx 1.27.0-1\n"
        "extra lighttpd 1.4.76-1\n"
    ),
    "pacman -Qp -- /srv/x.pkg.tar.zst": "hello 2.12.1-1\n",
    "pacman -Qdtq": "orphan\n",
    "pacman-conf IgnorePkg": "linux\npcre*\n",
    "pacman -Qeq": "bash\n",
    "pacman-conf HoldPkg": "pacman\nglibc\n",
    "pacman --dbpath SCRATCH -Qdtq": "pcre2\n",
    "pacman --noconfirm --noprogressbar --color never --dbpath SCRATCH -Rsu --print --print-format"
    " %n %v -- bash pcre2": "bash 5.2.026-2\npcre2 10.43-1\n",
    "pacman -Qoq -- /usr/bin/bash": "bash\n",
    "pacman -Qoq -- /nowhere": "",
    "pacman -Qlq -- bash": "/usr/\n/usr/bin/\n/usr/bin/bash\n",
    "pacman -Sg -- base-devel": "base-devel gcc\nbase-devel make\n",
    "pacman -Qkk -- bash": (
        "warning: bash: /usr/bin/bash (Size mismatch)\nbash: 5 total files, 1 altered file\n"
    ),
    "pacman -Qkk -- pcre2": (
        "backup file: pcre2: /etc/pcre2.conf (MD5 checksum mismatch)\n"
        "pcre2: 5 total files, 0 altered files\n"
    ),
    f"{PRINTED} -S --needed -- nginx": "geoip 1.6.12-3\nnginx 1.26.0-1\n",
    f"{PRINTED} -S --needed -- lighttpd": "lighttpd 1.4.76-1\n",
    f"{PRINTED} -S -dd -- http-server": "nginx 1.26.0-1\n",
    "pacman -Si -- geoip nginx": ABOUT_NGINX,
    "pacman -Si -- nginx": ABOUT_NGINX.partition("\n\n")[0],
    "pacman -Si -- lighttpd": (
        "Repository      : extra\nName            : lighttpd\nVersion         : 1.4.76-1\n"
    ),
    f"{PRINTED} -R -- bash": ":: HoldPkg was found in target list. Do you want to continue? [y/N] ",
}
DETAILS = {
    "name": "bash",
    "version": "5.2.026-2",
    "arch": "x86_64",
    "url": "https://www.gnu.org/software/bash/bash.html",
    "license": "GPL-3.0-or-later",
    "size": "2560",
    "packager": "Unknown Packager",
}
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("package_lists", (), ("/var/lib/pacman/sync",)),
    ("find_archives", ((("tool", "1-1"),),), {}),
    ("contents_words", ("/srv/x.pkg.tar.zst",), ["zstd", "-dc", "--", "/srv/x.pkg.tar.zst"]),
    ("kept_by_others", ("tool", ("/etc/a", "/etc/b", "/etc")), {"/etc/a", "/etc"}),
    ("list_pkgs", (), {"bash": "5.2.026-2", "pcre2": "10.43-1"}),
    ("leftovers", (), {}),
    ("normal", ("nginx",), "nginx"),
    ("candidates", (("nginx", "nosuch"),), {"nginx": "1.26.0-1"}),
    ("versions", ("nginx",), ["1.27.0-1", "1.26.0-1"]),
    ("compare", ("1.0-1", "1.0"), 0),
    ("compare", ("1.0rc1", "1.0"), -1),
    ("compare", ("1:1.0", "2.0"), 1),
    ("file_info", ("/srv/x.pkg.tar.zst",), ("hello", "2.12.1-1")),
    ("held", (), ["linux", "pcre2"]),
    ("manually_installed", (), ["bash"]),
    ("vital", (), ["pacman", "glibc", "base"]),
    (
        "simulate_marks",
        (("bash",), ()),
        Simulation(
            {"bash": {"old": "5.2.026-2", "new": ""}, "pcre2": {"old": "10.43-1", "new": ""}}
        ),
    ),
    ("owner", ("/usr/bin/bash",), "bash"),
    ("owner", ("/nowhere",), ""),
    ("file_list", ("bash",), ["/usr/", "/usr/bin/", "/usr/bin/bash"]),
    ("info_installed", (("bash", "nosuch"),), {"bash": DETAILS}),
    ("group", ("base-devel",), PackageGroup(default=("gcc", "make"))),
    ("group", ("nosuch",), None),
    ("verify", (("bash", "pcre2"), ()), ["bash", "pcre2"]),
    ("verify", (("bash", "pcre2"), ("config",)), ["bash"]),
    (
        "resolve_capabilities",
        (("sh", "http-server", "nginx", "nosuch"),),
        {"sh": "bash", "http-server": "nginx", "nginx": "nginx"},
    ),
    (
        "simulate",
        (Transaction("install", (PackageTarget("nginx"),)),),
        Simulation(
            {"geoip": {"old": "", "new": "1.6.12-3"}, "nginx": {"old": "", "new": "1.26.0-1"}}
        ),
    ),
    (
        "simulate",
        (Transaction("install", (PackageTarget("lighttpd"),)),),
        Simulation(None, "errors:\n    - pcre2 and lighttpd are in conflict"),
    ),
    (
        "simulate",
        (Transaction("install", (PackageTarget("pcre2", "10.44-1"),)),),
        Simulation(None, "errors:\n    - held back by IgnorePkg in /etc/pacman.conf: pcre2"),
    ),
    (
        "simulate",
        (Transaction("remove", (PackageTarget("bash"),)),),
        Simulation(None, "errors:\n    - HoldPkg was found in target list."),
    ),
    (
        "needs",
        (("nginx",),),
        {
            "nginx": [
                Need((("pcre2",),), False),
                Need((("geoip",),), False),
                Need((("bash",),), False),
            ]
        },
    ),
]
INSTEAD = {"repository": "nginx", "reinstall": "--needed"}
WORDS: dict[str, tuple[InstallOptions, list[str]]] = {
    "repository": (InstallOptions(repository="extra"), ["extra/nginx"]),
    "enable": (InstallOptions(enable=("testing",)), []),
    "disable": (InstallOptions(disable=("*",)), []),
    "disable_excludes": (InstallOptions(disable_excludes="all"), []),
    "settings": (InstallOptions(settings=("x=0",)), []),
    "recommended": (InstallOptions(recommended=False), []),
    "no_recommends": (InstallOptions(no_recommends=True), []),
    "only_upgrade": (InstallOptions(only_upgrade=True), []),
    "reinstall": (InstallOptions(reinstall=True), []),
    "downgrade": (InstallOptions(downgrade=True), []),
    "unsigned": (InstallOptions(unsigned=True), []),
    "change_held": (InstallOptions(change_held=True), []),
    "security": (InstallOptions(security=True), []),
    "replace_configuration": (InstallOptions(replace_configuration=True), []),
}
ACTIONS: list[tuple[Transaction, list[str]]] = [
    (
        Transaction("install", (PackageTarget("nginx", "1.27.0-1"), PackageTarget("geoip"))),
        ["-S", "--needed", "--", "nginx=1.27.0-1", "geoip"],
    ),
    (
        Transaction("install", (PackageTarget("b", path="/srv/b.pkg.tar.zst"),)),
        ["-U", "--needed", "--", "/srv/b.pkg.tar.zst"],
    ),
    (Transaction("remove", (PackageTarget("a"),)), ["-R", "--", "a"]),
    (Transaction("purge", (PackageTarget("a"),)), ["-R", "-s", "-c", "--", "a"]),
    (Transaction("upgrade"), ["-Su"]),
    (Transaction("upgrade", (PackageTarget("a"),)), ["-S", "--needed", "--", "a"]),
    (Transaction("full-upgrade"), ["-Su"]),
    (Transaction("full-upgrade", options=InstallOptions(downgrade=True)), ["-Su", "-u"]),
    (Transaction("autoremove"), ["-R", "-s", "--", "orphan"]),
]
