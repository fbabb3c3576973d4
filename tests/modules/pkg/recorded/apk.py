# SPDX-License-Identifier: Apache-2.0
"""What apk-tools 2.14 prints, from its documentation, and what the provider is to make of it; the
names are those of apt.py and pacman.py.
"""

from __future__ import annotations

from typing import Any

from modules.pkg import InstallOptions, PackageTarget, Simulation, Transaction

START = ["apk", "--no-progress", "--wait", "300", "--simulate"]
ANSWERS = {
    "apk info -v": (
        "busybox-1.36.1-r28\nmusl-1.2.5-r0\nnginx-1.26.1-r0\nca-certificates-20240705-r0\n"
    ),
    "apk --no-progress --wait 300 --simulate del -- nginx": (
        "(1/2) Purging nginx (1.26.1-r0)\n(2/2) Purging ca-certificates (20240705-r0)\nOK: 9 MiB\n"
    ),
    "apk policy nginx nosuch": (
        "nginx policy:\n"
        "  1.27.0-r0:\n"
        "    @edge https://dl-cdn.alpinelinux.org/alpine/edge/main\n"
        "  1.26.1-r0:\n"
        "    lib/apk/db/installed\n"
        "  1.26.2-r0:\n"
        "    https://dl-cdn.alpinelinux.org/alpine/v3.20/main\n"
    ),
    "apk policy nginx": (
        "nginx policy:\n"
        "  1.26.2-r0:\n"
        "    https://dl-cdn.alpinelinux.org/alpine/v3.20/main\n"
        "  1.26.1_rc1-r0:\n"
        "    https://dl-cdn.alpinelinux.org/alpine/v3.20/main\n"
        "  1.26.1-r0:\n"
        "    lib/apk/db/installed\n"
        "    https://dl-cdn.alpinelinux.org/alpine/v3.20/main\n"
    ),
    "tar -xzOf /srv/x.apk .PKGINFO": "# made by abuild\npkgname = hello\npkgver = 2.12-r1\n",
    "apk info --who-owns -- /bin/busybox": "/bin/busybox is owned by busybox-1.36.1-r28\n",
    "apk info --who-owns -- /nowhere": "",
    "apk info --contents -- musl": "musl-1.2.5-r0 contains:\nlib/ld-musl-x86_64.so.1\n\n",
    f"{' '.join(START)} add -- lighttpd": (
        "(1/4) Upgrading musl (1.2.5-r0 -> 1.2.5-r1)\n"
        "(2/4) Installing lua5.4 (5.4.6-r2)\n"
        "(3/4) Installing lighttpd (1.4.76-r0)\n"
        "(4/4) Purging nginx (1.26.1-r0)\n"
        "OK: 9 MiB in 17 packages\n"
    ),
}
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("manually_installed", (), []),  # test_apk.py has a file
    ("vital", (), ["busybox", "musl"]),
    ("simulate_marks", ((), ("nginx",)), Simulation({})),
    (
        "simulate_marks",
        (("nginx",), ("ca-certificates",)),
        Simulation({"nginx": {"old": "1.26.1-r0", "new": ""}}),
    ),
    (
        "list_pkgs",
        (),
        {
            "busybox": "1.36.1-r28",
            "ca-certificates": "20240705-r0",
            "musl": "1.2.5-r0",
            "nginx": "1.26.1-r0",
        },
    ),
    ("package_lists", (), ("/var/cache/apk", "/etc/apk/cache")),
    ("find_archives", ((("tool", "1-r0"),),), {}),
    ("contents_words", ("/srv/x.apk",), ["gzip", "-dc", "--", "/srv/x.apk"]),
    ("leftovers", (), {}),
    ("normal", ("nginx",), "nginx"),
    ("candidates", (("nginx", "nosuch"),), {"nginx": "1.26.2-r0"}),
    ("versions", ("nginx",), ["1.26.2-r0", "1.26.1-r0", "1.26.1_rc1-r0"]),
    ("compare", ("1.0_rc2-r1", "1.0-r0"), -1),
    ("compare", ("1.0_p1", "1.0"), 1),
    ("compare", ("1.01", "1.1"), -1),
    ("compare", ("1.0b-r2", "1.0b-r10"), -1),
    ("file_info", ("/srv/x.apk",), ("hello", "2.12-r1")),
    ("owner", ("/bin/busybox",), "busybox"),
    ("owner", ("/nowhere",), ""),
    ("file_list", ("musl",), ["/lib/ld-musl-x86_64.so.1"]),
    ("file_list", ("nosuch",), []),
    ("info_installed", (("nosuch",),), {}),
    (
        "simulate",
        (Transaction("install", (PackageTarget("lighttpd"),)),),
        Simulation(
            {
                "musl": {"old": "1.2.5-r0", "new": "1.2.5-r1"},
                "lua5.4": {"old": "", "new": "5.4.6-r2"},
                "lighttpd": {"old": "", "new": "1.4.76-r0"},
                "nginx": {"old": "1.26.1-r0", "new": ""},
            }
        ),
    ),
]
INSTEAD = {"repository": "nginx", "reinstall": "add"}
WORDS: dict[str, tuple[InstallOptions, list[str]]] = {
    "repository": (InstallOptions(repository="edge"), ["nginx@edge"]),
    "enable": (InstallOptions(enable=("edge",)), []),
    "disable": (InstallOptions(disable=("*",)), []),
    "disable_excludes": (InstallOptions(disable_excludes="all"), []),
    "settings": (InstallOptions(settings=("x=0",)), []),
    "recommended": (InstallOptions(recommended=False), []),
    "no_recommends": (InstallOptions(no_recommends=True), []),
    "only_upgrade": (InstallOptions(only_upgrade=True), []),
    "reinstall": (InstallOptions(reinstall=True), ["fix", "--reinstall"]),
    "downgrade": (InstallOptions(downgrade=True), []),
    "unsigned": (InstallOptions(unsigned=True), ["--allow-untrusted"]),
    "change_held": (InstallOptions(change_held=True), []),
    "security": (InstallOptions(security=True), []),
    "replace_configuration": (InstallOptions(replace_configuration=True), []),
}
ACTIONS: list[tuple[Transaction, list[str]]] = [
    (
        Transaction(
            "install", (PackageTarget("nginx", "1.26.1-r0"), PackageTarget("b", path="/srv/b.apk"))
        ),
        ["add", "--", "nginx=1.26.1-r0", "/srv/b.apk"],
    ),
    (  # the newest one: not fixed at this version
        Transaction("install", (PackageTarget("nginx", "1.26.2-r0"),)),
        ["add", "--upgrade", "--", "nginx"],
    ),
    (Transaction("remove", (PackageTarget("a"),)), ["del", "--", "a"]),
    (Transaction("purge", (PackageTarget("a"),)), ["del", "--purge", "--", "a"]),
    (Transaction("upgrade"), ["upgrade", "--"]),
    (Transaction("upgrade", (PackageTarget("a"),)), ["upgrade", "--", "a"]),
    (Transaction("full-upgrade"), ["upgrade", "--"]),
    (
        Transaction("full-upgrade", options=InstallOptions(downgrade=True)),
        ["upgrade", "--available", "--"],
    ),
    (Transaction("autoremove"), ["add"]),
]
