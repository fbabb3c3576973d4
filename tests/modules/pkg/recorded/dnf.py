# SPDX-License-Identifier: Apache-2.0
"""Answers in the forms of dnf 4.14 and rpm 4.18, and what the provider is to make of them.

The real tools answer in tests/machine/test_dnf.py; the answers of dnf5, of updateinfo and of module
list are written by hand.

ANSWERS: a command line -> its stdout. CALLS: a function, its arguments, its answer. WORDS: each
option of an installation in the tool's words; none where the tool has nothing like it. ACTIONS:
each action in the tool's words, behind START. INSTEAD: options that are an action of the tool.
"""

from __future__ import annotations

from typing import Any

from modules.pkg import InstallOptions, Need, PackageGroup, PackageTarget, Simulation, Transaction
from modules.pkg.dnf.archives import _FORMAT
from modules.pkg.dnf.needs import INSTALLED, OWNING, QUERY
from modules.pkg.dnf.provider import SHOWN
from modules.pkg.package_manager import Archive
from modules.pkg.rpm.packages import DETAILS

PACKAGE = "%{NAME}\x1f%{EPOCH}\x1f%{VERSION}\x1f%{RELEASE}\x1f%{ARCH}\x1e"
AVAILABLE = "%{name}\t%{epoch}\t%{version}\t%{release}\t%{arch}\n"
DESCRIBED = "\t".join(
    f"%{{{field}}}" for field in ("name", "epoch", "version", "release", *SHOWN.values())
)
DESCRIBED += "\n"
DETAIL = "\x1f".join(f"%{{{tag}}}" for tag in DETAILS.values()) + "\x1e"
TABLE = """\
Last metadata expiration check: 0:03:46 ago on Sun Nov 22 16:52:49 2026.
Dependencies resolved.
================================================================================
 Package             Architecture      Version           Repository        Size
================================================================================
Installing:
 nginx               x86_64            2:1.20.1-20.el9   appstream         36 k
     replacing  lighttpd.x86_64 1.4.67-1.el9
 kernel              x86_64            5.14.0-70.el9     baseos            1.2 M
Upgrading:
 glibc               x86_64            2.34-100.el9      baseos            2.0 M
 a-package-with-a-rather-long-name-indeed
                     noarch            1:1.1-1           appstream         18 k
Installing dependencies:
 nginx-core          x86_64            2:1.20.1-20.el9   appstream         566 k
Removing dependent packages:
 old-module          x86_64            1.0-1             @System           20 k

Transaction Summary
================================================================================
Install  3 Packages
Upgrade  2 Packages
Remove   1 Package

Total download size: 4.0 M
Operation aborted.
"""
DIGEST = "41" * 32
ANSWERS = {
    f"dnf -q -C repoquery --qf {_FORMAT}\n tool-1.0-1 other-1:2-1": (
        f"tool|0|1.0|1|noarch|local|12|tool-1.0-1.noarch.rpm|(2, {b'A' * 32!r})\n"
        f"other|1|2|1|noarch|far|34|Packages/o/other-2-1.noarch.rpm|(2, {b'A' * 32!r})\n"
        "odd|0|1|1|noarch|far|34|odd.rpm|None\n"
    ),
    "dnf -q -C repoquery --location tool-1.0-1 other-1:2-1": (
        "file:///srv/tool-1.0-1.noarch.rpm\nhttps://example.org/Packages/o/other-2-1.noarch.rpm\n"
    ),
    "rpm -qf --qf %{NAME}.%{ARCH}\\n -- /etc/a": "other.noarch\ntool.noarch\n",
    "rpm -qf --qf %{NAME}.%{ARCH}\\n -- /etc/b": "tool.noarch\n",
    "rpm --eval %{_host_cpu}": "x86_64",
    f"rpm -qa --qf {PACKAGE}": (
        "glibc\x1f(none)\x1f2.34\x1f99.el9\x1fx86_64\x1eglibc\x1f(none)\x1f2.34\x1f99.el9\x1fi686\x1e"
        "kernel\x1f(none)\x1f5.14.0\x1f60.el9\x1fx86_64\x1e"
        "lighttpd\x1f(none)\x1f1.4.67\x1f1.el9\x1fx86_64\x1e"
        "a-package-with-a-rather-long-name-indeed\x1f1\x1f1.0\x1f1\x1fnoarch\x1e"
        "old-module\x1f(none)\x1f1.0\x1f1\x1fx86_64\x1e"
    ),
    "dnf -q -C repoquery --disablerepo=* --userinstalled --qf %{name}\t%{arch}\n": (
        "glibc\ti686\nkernel\tx86_64\n"
    ),
    "dnf -C --assumeno autoremove --disablerepo=* --setopt=persistdir=SCRATCH/notes": (
        "Dependencies resolved.\nRemoving:\n"
        " old-module    x86_64    1.0-1    @System    10 k\nOperation aborted.\n"
    ),
    f"dnf -q -C repoquery --qf {AVAILABLE} --latest-limit=1 nginx glibc nosuch": (
        "nginx\t2\t1.20.1\t20.el9\tx86_64\n\nglibc\t0\t2.34\t98.el9\tx86_64\n\n"
    ),
    f"dnf -q -C repoquery --qf {AVAILABLE} nginx": (
        "nginx\t2\t1.20.1\t9.el9\tx86_64\n\nnginx\t2\t1.20.1\t20.el9\tx86_64\n\n"
        "nginx\t2\t1.20.1\t20.el9\tsrc\n\n"
    ),
    f"rpm -qp --nosignature --nodigest --qf {PACKAGE} -- /srv/x.rpm": (
        "old\x1f1\x1f1.0\x1f1\x1fnoarch\x1e"
    ),
    "rpm -qf --qf %{NAME}\x1f%{ARCH}\x1e -- /bin/ls": "coreutils\x1fx86_64\x1e",
    "rpm -ql -- words": "/etc/words.conf\n/usr/share/words\n",
    "rpm -V --nodeps --noscripts -- words": "S.5....T.  c /etc/words.conf\n",
    f"rpm -q --qf {DETAIL} -- words": (
        "words\x1f1\x1f1.0\x1f2\x1fnoarch\x1f100\x1f50\x1fhost\x1f(none)\x1fw.src.rpm\x1f10\x1fMIT"
        "\x1f(none)\x1f(none)\x1f(none)\x1fSays hello\x1fA test.\nOf words.\x1f(none)\x1e"
    ),
    "dnf -C --assumeno install nginx": TABLE,
    f"dnf -q -C repoquery --qf {DESCRIBED} words": (
        "words\t1\t1.0\t1\tnoarch\tlocal\tSays hello\tMIT\thttps://x.org\t6412\twords.src.rpm\n"
    ),
    "dnf -q -C group info talking": (
        "Group: Talking Tools\n Mandatory Packages:\n   words\n Default Packages:\n   greeting\n"
        " Optional Packages:\n   phrase\n   verse\n"
    ),
    "dnf -q -C module list dialect": (
        "Local\nName    Stream     Profiles Summary         \n"
        "dialect 1 [x]      server   Ways of speaking\ndialect 10 [d][e]           Ways of\n"
        "dialect rhel8               Ways of speaking\n\n"
        "Hint: [d]efault, [e]nabled, [x]disabled, [i]nstalled\n"
    ),
    # the form of dnf5, written by hand
    "dnf -q -C group info singing": (
        "Id                   : singing\nName                 : Singing\n"
        "Mandatory packages   : song\n                     : choir\n"
        "Optional packages    : opera\n"
    ),
    "dnf -q -C updateinfo list --installed": "FEDORA-2024-1 Moderate/Sec. words-1.0-1.noarch\n",
    "dnf -q -C updateinfo list --available": (
        "Name          Type     Severity Package Issued\n"
        "FEDORA-2024-2 bugfix   words-2.0-1.noarch\n"
    ),
    f"dnf -q -C repoquery --latest-limit=1 --qf {AVAILABLE} --whatprovides vocabulary": (
        "words\t0\t1.0\t1\tnoarch\n"
    ),
    f"dnf -q -C repoquery --qf {AVAILABLE} --latest-limit=1 vocabulary glibc": (
        "glibc\t0\t2.34\t98.el9\tx86_64\n"
    ),
}
# what packages provide, require, recommend and supplement, a line for each
APP = """\
@package\tapp\tx86_64
app = 1.0-1
app(x86-64) = 1.0-1

@then
(doc if lib)
/bin/sh
/usr/bin/tool
lib >= 1:2.0
libssl.so.3()(64bit)
mta
rpmlib(FileDigests) <= 4.6.0
(gone if nosuch)

@then
doc
nosuch

@then


@then


@package\tlib\tx86_64
lib = 1:2.0-1
@then
@then
@then
@package\tlib\ti686
lib = 1:2.0-1
@then
@then
@then
@package\tapp\tsrc
@then
lib
@then
@then
@package\tdoc\tnoarch
doc = 1.0-1
@then
@then
@then
@package\tpost\tnoarch
post = 1.0-1
mta = 3
@then
mta > 3
@then
@then
@package\ttool\tnoarch
tool = 1.0-1
@then
@then
@then
@package\tlang\tnoarch
lang = 1.0-1
@then
@then
@then
lib
(app and doc)
"""
CONDITIONS = (
    "/bin/sh /usr/bin/tool app doc gone lib libssl.so.3()(64bit) mta nosuch rpmlib(FileDigests)"
)
ANSWERS |= {
    f"dnf -q -C repoquery --qf {QUERY} --latest-limit=1 app lib doc post tool lang other": APP,
    f"rpm -q --qf {INSTALLED} --whatprovides {CONDITIONS}": (
        "no package provides app\n@package\tbash\tx86_64\nbash = 5-1\n@then\n@then\n@then\n"
        "@then\n/bin/sh\n@package\topenssl\tx86_64\nlibssl.so.3()(64bit)\n@then\n@then\n"
    ),
    f"dnf -q -C repoquery --qf {OWNING} --latest-limit=1 --whatprovides /usr/bin/tool,mta": (
        "@package\ttool\tnoarch\ntool = 1.0-1\n@then\n@then\n@then\n@then\n/usr/bin/tool\n"
        "@package\tmail\tnoarch\nmta\n@then\n@then\n@then\n@then\n"
        "@package\tpost\tnoarch\nmta = 3\n@then\n@then\n@then\n@then\n"
    ),
    f"rpm -q --qf {INSTALLED} old-module lighttpd": (
        "@package\told-module\tx86_64\nold-module = 1.0-1\n@then\n/srv/www\n@then\n@then\n@then\n"
        "@package\tlighttpd\tx86_64\nlighttpd = 1\n@then\n@then\n@then\n@then\n/srv/www\n"
    ),
}
CHANGES = {
    "nginx": {"old": "", "new": "2:1.20.1-20.el9"},
    "lighttpd": {"old": "1.4.67-1.el9", "new": ""},
    "kernel": {"old": "5.14.0-60.el9", "new": "5.14.0-60.el9,5.14.0-70.el9"},
    "glibc": {"old": "2.34-99.el9", "new": "2.34-100.el9"},
    "a-package-with-a-rather-long-name-indeed": {"old": "1:1.0-1", "new": "1:1.1-1"},
    "nginx-core": {"old": "", "new": "2:1.20.1-20.el9"},
    "old-module": {"old": "1.0-1", "new": ""},
}
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("package_lists", (), ()),
    (
        "find_archives",
        ((("tool", "1.0-1"), ("other", "1:2-1")),),
        {
            "tool": Archive("tool", "1.0-1", "/srv/tool-1.0-1.noarch.rpm", 12, f"sha256:{DIGEST}"),
            "other": Archive(
                "other",
                "1:2-1",
                "/var/cache/dnf/packages/other-2-1.noarch.rpm",
                34,
                f"sha256:{DIGEST}",
            ),
        },
    ),
    (
        "contents_words",
        ("/srv/x.rpm",),
        ["sh", "-c", 'rpm2archive - <"$1" | gzip -dc', "rpm2archive", "/srv/x.rpm"],
    ),
    ("kept_by_others", ("tool", ("/etc/a", "/etc/b")), {"/etc/a"}),
    (
        "list_pkgs",
        (),
        {
            "a-package-with-a-rather-long-name-indeed": "1:1.0-1",
            "glibc": "2.34-99.el9",
            "glibc.i686": "2.34-99.el9",
            "kernel": "5.14.0-60.el9",
            "lighttpd": "1.4.67-1.el9",
            "old-module": "1.0-1",
        },
    ),
    ("leftovers", (), {}),
    ("normal", ("nginx.x86_64",), "nginx"),
    ("normal", ("nginx.i686",), "nginx.i686"),
    # what is installed is newer than what the repositories have
    (
        "candidates",
        (("nginx", "glibc", "nosuch"),),
        {"nginx": "2:1.20.1-20.el9", "glibc": "2.34-99.el9"},
    ),
    ("versions", ("nginx",), ["2:1.20.1-20.el9", "2:1.20.1-9.el9"]),
    ("compare", ("1.0~rc1", "1.0"), -1),
    ("file_info", ("/srv/x.rpm",), ("old", "1:1.0-1")),
    ("held", (), []),
    ("manually_installed", (), ["glibc.i686", "kernel"]),
    ("vital", (), []),
    (
        "simulate_marks",
        (("old-module",), ()),
        Simulation({"old-module": {"old": "1.0-1", "new": ""}}),
    ),
    ("owner", ("/bin/ls",), "coreutils"),
    ("owner", ("/nowhere",), ""),
    ("file_list", ("words",), ["/etc/words.conf", "/usr/share/words"]),
    ("verify", (("words",), []), ["words"]),
    ("verify", (("words",), ["config"]), []),
    (
        "info_installed",
        (("words",),),
        {
            "words": {
                "name": "words",
                "epoch": "1",
                "version": "1.0",
                "release": "2",
                "edition": "1:1.0-2",
                "arch": "noarch",
                "install_date_time_t": 100,
                "install_date": "1970-01-01T00:01:40Z",
                "build_date_time_t": 50,
                "build_date": "1970-01-01T00:00:50Z",
                "build_host": "host",
                "source": "w.src.rpm",
                "size": "10",
                "license": "MIT",
                "summary": "Says hello",
                "description": "A test.\nOf words.",
            }
        },
    ),
    (
        "show",
        (("words",),),
        {
            "words": {
                "1:1.0-1": {
                    "Architecture": "noarch",
                    "Repository": "local",
                    "Summary": "Says hello",
                    "License": "MIT",
                    "Homepage": "https://x.org",
                    "Size": "6412",
                    "Source": "words.src.rpm",
                }
            }
        },
    ),
    ("simulate", (Transaction("install", (PackageTarget("nginx"),)),), Simulation(CHANGES)),
    (
        "needs",
        (("app", "lib", "doc", "post", "tool", "lang", "other"),),
        {
            "app": [
                Need((("(doc if lib)",),), False),  # not certain
                Need((("doc", "lib"),), False),
                Need((("tool",),), False),
                Need((("lib",),), False),
                Need((("mta",), ("post",), ("mail",)), False),  # which one nothing says
                Need((("doc",),), True),
                Need((("(app and doc)",), ("lang",)), True),
            ],
            "lib": [Need((("lang",),), True)],
            "doc": [Need((("(app and doc)",), ("lang",)), True)],
            "post": [Need((("mta > 3",),), False)],  # in another version than the newest one?
            "tool": [],
            "lang": [],
            "other": [Need((("",),), False)],  # in no list
        },
    ),
    (
        "needs",
        (("old-module", "lighttpd"),),
        {"old-module": [Need((("lighttpd",),), False)], "lighttpd": []},
    ),
    ("group", ("talking",), PackageGroup(("words",), ("greeting",), ("phrase", "verse"))),
    ("group", ("singing",), PackageGroup(("song", "choir"), (), ("opera",))),
    ("group", ("nosuch",), None),
    (
        "module_streams",
        ("dialect",),
        {"1": ("disabled",), "10": ("enabled", "default"), "rhel8": ()},
    ),
    ("module_streams", ("nosuch",), {}),
    ("advisories", (), {"FEDORA-2024-1": True, "FEDORA-2024-2": False}),
    ("resolve_capabilities", (("vocabulary", "glibc"),), {"vocabulary": "words", "glibc": "glibc"}),
]
WORDS: dict[str, tuple[InstallOptions, list[str]]] = {
    "repository": (InstallOptions(repository="epel"), ["--disablerepo=*", "--enablerepo=epel"]),
    "enable": (InstallOptions(enable=("epel",)), ["--enablerepo=epel"]),
    "disable": (InstallOptions(disable=("extras",)), ["--disablerepo=extras"]),
    "disable_excludes": (InstallOptions(disable_excludes="all"), ["--setopt=disable_excludes=all"]),
    "settings": (InstallOptions(settings=("obsoletes=0",)), ["--setopt=obsoletes=0"]),
    "recommended": (InstallOptions(recommended=False), ["--setopt=install_weak_deps=False"]),
    "no_recommends": (InstallOptions(no_recommends=True), []),
    "only_upgrade": (InstallOptions(only_upgrade=True), ["upgrade"]),
    "reinstall": (InstallOptions(reinstall=True), []),  # of what is not installed
    "downgrade": (InstallOptions(downgrade=True), []),
    "unsigned": (InstallOptions(unsigned=True), ["--nogpgcheck"]),
    "change_held": (InstallOptions(change_held=True), ["--disableplugin=versionlock"]),
    "security": (InstallOptions(security=True), ["--security"]),
    "replace_configuration": (InstallOptions(replace_configuration=True), []),
}
INSTEAD = {"only_upgrade": "install"}
START = ["dnf", "-C", "--assumeno"]
ACTIONS: list[tuple[Transaction, list[str]]] = [
    (
        Transaction(
            "install",
            (
                PackageTarget("a", "1.0"),
                PackageTarget("b.i686", "2"),
                PackageTarget("c", path="/c"),
            ),
        ),
        ["install", "a-1.0", "b-2.i686", "/c"],
    ),
    (
        Transaction("install", (PackageTarget("glibc"),), InstallOptions(reinstall=True)),
        ["reinstall", "glibc"],
    ),
    (Transaction("remove", (PackageTarget("a"),)), ["remove", "a"]),
    (Transaction("purge", (PackageTarget("a"),)), ["remove", "a"]),
    (Transaction("upgrade"), ["upgrade"]),
    (Transaction("upgrade", (PackageTarget("a"),)), ["upgrade", "a"]),
    (Transaction("full-upgrade"), ["upgrade"]),
    (Transaction("autoremove"), ["autoremove"]),
]
