# SPDX-License-Identifier: Apache-2.0
"""What rpm 4.18 and zypper 1.14.42 printed, and what the provider is to make of it.

ANSWERS, CALLS, WORDS, START, ACTIONS: as in apt.py.
"""

from __future__ import annotations

from typing import Any

from modules.pkg import InstallOptions, PackageGroup, PackageTarget, Simulation, Transaction

_LOOK = "zypper --non-interactive --xmlout --no-refresh"
_PLAIN = "zypper --non-interactive --no-color --no-refresh"
_NAMED = "%{NAME}\x1f%{EPOCH}\x1f%{VERSION}\x1f%{RELEASE}\x1f%{ARCH}\x1e"
_DETAILS = (
    "%{NAME}\x1f%{EPOCH}\x1f%{VERSION}\x1f%{RELEASE}\x1f%{ARCH}\x1f%{INSTALLTIME}\x1f%{BUILDTIME}"
    "\x1f%{BUILDHOST}\x1f%{GROUP}\x1f%{SOURCERPM}\x1f%{LONGSIZE}\x1f%{LICENSE}\x1f%{PACKAGER}"
    "\x1f%{VENDOR}\x1f%{URL}\x1f%{SUMMARY}\x1f%{DESCRIPTION}\x1f%{SIGPGP:pgpsig}\x1e"
)
ANSWERS = {
    "rpm --eval %{_host_cpu}": "x86_64\n",
    f"rpm -qa --qf {_NAMED}": (
        "greeting\x1f(none)\x1f1.0\x1f1\x1fnoarch\x1e"
        "kernel-default\x1f(none)\x1f6.4.0\x1f1.1\x1fx86_64\x1e"
        "words\x1f1\x1f1.0\x1f1\x1fx86_64\x1e"
    ),
    f"rpm -qp --nosignature --nodigest --qf {_NAMED} -- /srv/x.rpm": (
        "old\x1f1\x1f1.0\x1f1\x1fnoarch\x1e"
    ),
    f"rpm -q --qf {_DETAILS} -- words": (
        "words\x1f1\x1f1.0\x1f1\x1fx86_64\x1f0\x1f0" + "\x1f(none)" * 11 + "\x1e"
    ),
    "rpm -qf --qf %{NAME}\x1f%{ARCH}\x1e -- /etc/words.conf": "words\x1fx86_64\x1e",
    "rpm -ql -- words": "/etc/words.conf\n",
    "rpm -V --nodeps --noscripts -- words": "S.5....T.  c /etc/words.conf\n",
    f"{_PLAIN} info --type package -- greeting nosuch old": (
        "Loading repository data...\nReading installed packages...\n\n\n"
        "Information for package greeting:\n---------------------------------\n"
        "Repository     : local\nName           : greeting\nVersion        : 2.0-1\n"
        "Arch           : noarch\nVendor         : \nInstalled      : Yes\n"
        "Status         : out-of-date (version 1.0-1 installed)\nDescription    : \n"
        "    Name : not a name\n\n\n"
        "package 'nosuch' not found.\n\n"
        "Information for package old:\n----------------------------\n"
        "Repository     : local\nName           : old\nVersion        : 1:1.0-1\n"
        "Arch           : i586\nVendor         : \n"
    ),
    f"{_LOOK} search --details --match-exact --type package -- greeting": (
        '<search-result version="0.0">\n<solvable-list>\n'
        '<solvable status="installed" name="greeting" kind="package" edition="0.9-1" arch="noarch"'
        ' repository="(System Packages)"/>\n'
        '<solvable status="other-version" name="greeting" kind="package" edition="1.0-1"'
        ' arch="noarch" repository="local"/>\n'
        '<solvable status="other-version" name="greeting" kind="package" edition="10.0-1"'
        ' arch="noarch" repository="other"/>\n'
        '<solvable status="other-version" name="greeting" kind="package" edition="2.0-1"'
        ' arch="noarch" repository="local"/>\n</solvable-list>\n</search-result>\n'
    ),
    f"{_LOOK} install --dry-run --auto-agree-with-licenses --name -- kernel-default": (
        "<?xml version='1.0'?>\n<stream>\n<install-summary packages-to-change=\"4\">\n"
        '<to-upgrade>\n<solvable type="package" name="greeting" edition="2.0-1" arch="noarch"'
        ' edition-old="1.0-1" arch-old="noarch" summary="Says &quot;hello&quot;">\n'
        "<description>A test.</description></solvable>\n</to-upgrade>\n"
        '<to-install>\n<solvable type="patch" name="TEST-2026-1" edition="1" arch="noarch">\n'
        '</solvable>\n<solvable type="package" name="kernel-default" edition="6.10.0-1.1"'
        ' arch="x86_64" summary="x"/>\n</to-install>\n'
        '<to-remove>\n<solvable type="package" name="words" edition="1:1.0-1" arch="x86_64"/>\n'
        "</to-remove>\n</install-summary>\n</stream>\n"
    ),
    f"{_LOOK} packages --unneeded": (
        "<?xml version='1.0'?>\n<stream>\n"
        "S | Repository | Name  | Version | Arch\n--+------------+-------+---------+-------\n"
        "i | local      | words | 1:1.0-1 | x86_64\n</stream>\n"
    ),
    f"{_LOOK} --root SCRATCH packages --unneeded": (
        "S | Repository | Name     | Version | Arch\n--+------------+----------+---------+-------\n"
        "i | local      | greeting | 1.0-1   | noarch\n"
    ),
    f"{_LOOK} --root SCRATCH remove --dry-run --clean-deps --name -- greeting": (
        '<install-summary><to-remove><solvable type="package" name="greeting" edition="1.0-1"'
        ' arch="noarch"/><solvable type="package" name="words" edition="1:1.0-1" arch="x86_64"/>'
        "</to-remove></install-summary>"
    ),
    # written by hand: Debian's zypper knows no patterns
    f"{_PLAIN} info --type pattern -- talk": (
        "Information for pattern talk:\n-----------------------------\nRepository     : local\n"
        "Name           : talk\nVersion        : 1-1\nContents       :\n\n"
        "S  | Name     | Type    | Dependency\n---+----------+---------+------------\n"
        "i+ | words    | package | Required\n   | greeting | package | Recommended\n"
        "   | phrase   | package | Suggested\n"
    ),
    f"{_PLAIN} info --type pattern -- nosuch": "pattern 'nosuch' not found.\n",
    f"{_LOOK} list-patches --all": (
        '<update-status version="0.6">\n<update-list>\n'
        '<update kind="patch" name="TEST-2026-1" edition="1" arch="noarch" status="needed"'
        ' category="security"><summary>x</summary></update>'
        '<update kind="patch" name="TEST-2026-2" edition="1" arch="noarch" status="not-needed"'
        ' category="recommended"><summary>x</summary></update>'
        '<update kind="patch" name="TEST-2026-3" edition="1" arch="noarch" status="applied"'
        ' category="recommended"><summary>x</summary></update></update-list>\n</update-status>\n'
    ),
    f"{_LOOK} install --dry-run --auto-agree-with-licenses --type patch -- TEST-2026-1": (
        '<install-summary download-size="6426" space-usage-diff="0" packages-to-change="1">\n'
    ),
    f"{_LOOK} install --dry-run --auto-agree-with-licenses --type patch -- TEST-2026-4": (
        '<install-summary download-size="0" space-usage-diff="0" packages-to-change="1">\n'
    ),
    f"{_LOOK} search --provides --match-exact --type package -- vocabulary": (
        '<solvable status="installed" name="words" summary="Says hello" kind="package"/>\n'
    ),
    f"{_LOOK} search --provides --match-exact --type package -- editor": (
        '<solvable status="installed" name="vim" kind="package"/>\n'
        '<solvable status="not-installed" name="nano" kind="package"/>\n'
    ),
}
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("list_pkgs", (), {"greeting": "1.0-1", "kernel-default": "6.4.0-1.1", "words": "1:1.0-1"}),
    ("leftovers", (), {}),
    ("normal", ("words.x86_64",), "words"),
    ("normal", ("words.i586",), "words.i586"),
    ("candidates", (("greeting", "nosuch", "old"),), {"greeting": "2.0-1", "old": "1:1.0-1"}),
    ("versions", ("greeting",), ["10.0-1", "2.0-1", "1.0-1"]),
    ("compare", ("1.0-10", "1.0-9"), 1),
    ("file_info", ("/srv/x.rpm",), ("old", "1:1.0-1")),
    ("held", (), []),
    ("manually_installed", (), ["greeting", "kernel-default", "words"]),
    ("vital", (), []),
    (
        "simulate_marks",
        (("greeting",), ()),
        Simulation(
            {"greeting": {"old": "1.0-1", "new": ""}, "words": {"old": "1:1.0-1", "new": ""}}
        ),
    ),
    ("owner", ("/etc/words.conf",), "words"),
    ("file_list", ("words",), ["/etc/words.conf"]),
    ("package_lists", (), ()),
    ("find_archives", ((("words", "1.0-1"),),), {}),
    (
        "contents_words",
        ("/srv/x.rpm",),
        ["sh", "-c", 'rpm2archive - <"$1" | gzip -dc', "rpm2archive", "/srv/x.rpm"],
    ),
    (
        "info_installed",
        (("words",),),
        {
            "words": {
                "name": "words",
                "epoch": "1",
                "version": "1.0",
                "release": "1",
                "arch": "x86_64",
                "install_date_time_t": 0,
                "install_date": "1970-01-01T00:00:00Z",
                "build_date_time_t": 0,
                "build_date": "1970-01-01T00:00:00Z",
                "edition": "1:1.0-1",
            }
        },
    ),
    ("verify", (("words",), []), ["words"]),
    ("verify", (("words",), ["config"]), []),
    (
        "simulate",
        (Transaction("install", (PackageTarget("kernel-default"),)),),
        Simulation(
            {
                "greeting": {"old": "1.0-1", "new": "2.0-1"},
                "kernel-default": {"old": "6.4.0-1.1", "new": "6.4.0-1.1,6.10.0-1.1"},
                "words": {"old": "1:1.0-1", "new": ""},
            }
        ),
    ),
    (
        "simulate",
        (Transaction("autoremove"),),
        Simulation({"words": {"old": "1:1.0-1", "new": ""}}),
    ),
    ("group", ("talk",), PackageGroup(("words",), ("greeting",), ("phrase",))),
    ("group", ("nosuch",), None),
    ("downloaded_advisories", (("TEST-2026-1", "TEST-2026-4"),), ["TEST-2026-4"]),
    ("advisories", (), {"TEST-2026-1": False, "TEST-2026-2": True, "TEST-2026-3": True}),
    (
        "resolve_capabilities",
        (("vocabulary", "editor", "words"),),
        {"vocabulary": "words", "words": "words"},
    ),
]
WORDS: dict[str, tuple[InstallOptions, list[str]]] = {
    "repository": (InstallOptions(repository="local"), ["--from", "local"]),
    "enable": (InstallOptions(enable=("x",)), []),
    "disable": (InstallOptions(disable=("*",)), []),
    "disable_excludes": (InstallOptions(disable_excludes="all"), []),
    "settings": (InstallOptions(settings=("obsoletes=0",)), []),
    "recommended": (InstallOptions(recommended=False), ["--no-recommends"]),
    "no_recommends": (InstallOptions(no_recommends=True), ["--no-recommends"]),
    "only_upgrade": (InstallOptions(only_upgrade=True), []),
    "reinstall": (InstallOptions(reinstall=True), ["--force"]),
    "downgrade": (InstallOptions(downgrade=True), ["--oldpackage"]),
    "unsigned": (InstallOptions(unsigned=True), ["--no-gpg-checks"]),
    "change_held": (InstallOptions(change_held=True), []),  # in the environment: ZYPP_CONF
    "security": (InstallOptions(security=True), []),
    "replace_configuration": (InstallOptions(replace_configuration=True), []),
}
START = ["zypper", "--non-interactive", "--xmlout", "--no-refresh"]
_AGREED = ["--dry-run", "--auto-agree-with-licenses"]
ACTIONS: list[tuple[Transaction, list[str]]] = [
    (
        Transaction("install", (PackageTarget("a", "1.0-1"), PackageTarget("b"))),
        ["install", *_AGREED, "--name", "--", "a=1.0-1", "b"],
    ),
    (
        Transaction("install", (PackageTarget("b", path="/srv/b.rpm"),)),
        ["install", *_AGREED, "--", "/srv/b.rpm"],
    ),
    (Transaction("remove", (PackageTarget("a"),)), ["remove", "--dry-run", "--name", "--", "a"]),
    (Transaction("purge", (PackageTarget("a"),)), ["remove", "--dry-run", "--name", "--", "a"]),
    (Transaction("upgrade"), ["update", *_AGREED, "--"]),
    (Transaction("upgrade", (PackageTarget("a"),)), ["update", *_AGREED, "--", "a"]),
    (Transaction("full-upgrade"), ["dist-upgrade", *_AGREED, "--"]),
    (Transaction("autoremove"), ["packages", "--unneeded"]),
]
