# SPDX-License-Identifier: Apache-2.0
"""How packages are tried: with a real apt, on a throw-away copy of the machine that has an archive
of its own.

The archive has `greeting` in the versions 1.0 and 2.0, and `hello`.
"""

from __future__ import annotations

from debian_archive import SECURITY
from laws import on_machine

OLD = "apt-get install -q -y greeting=1.0; "
HELD = OLD + "apt-mark hold greeting; "
DEB = "cp /usr/local/archive/greeting_1.0_all.deb /srv/greeting.deb; "
COLON = DEB + "mkdir /srv/a:1; mv /srv/greeting.deb /srv/a:1; "
NGINX = "apt-get install -q -y nginx; "
# apt does not copy from an archive that is a folder unless it is told to
COPY = "sed -i 's/file:/copy:/' /etc/apt/sources.list; apt-get -q update; "
ANSWERS = "echo 'greeting greeting/word string hi' > /srv/answers; "
# `kernel` is installed, and its newer version needs `modules`, which is not
NEEDS_MORE = r"""
mkdir -p /tmp/new/DEBIAN /usr/local/more; cd /usr/local/more
pack() {
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: me\n' $1 $2
    printf 'Depends: %s\nDescription: x\n' $3
}
for what in "kernel 1.0 dpkg" "kernel 2.0 modules" "modules 2.0 dpkg"; do
    pack $what >/tmp/new/DEBIAN/control; dpkg-deb -b /tmp/new . >/dev/null
done
for f in *.deb; do
    dpkg-deb -f $f; printf 'Filename: ./%s\nSize: %s\n' $f $(stat -c %s $f)
    printf 'SHA256: %s\n\n' $(sha256sum <$f | cut -d' ' -f1)
done >Packages
dpkg -i kernel_1.0_all.deb >/dev/null
echo 'deb [trusted=yes] file:/usr/local/more ./' >/etc/apt/sources.list
apt-get -q update; """

AUTO = "apt-get install -q -y greeting; apt-mark auto greeting; "

WORD = "echo ours > /usr/share/word; "
WORDED = {"name": "/usr/share/word"}
DIVERTED = WORD + "dpkg-divert --local --rename --add /usr/share/word; "
OF_PACKAGE = "dpkg-divert --package greeting --no-rename --add /usr/share/word; "
OVERRIDDEN = WORD + "dpkg-statoverride --update --add mail root 4711 /usr/share/word; "

on = on_machine("pkg.", again="reinstall", name="greeting")


REDHAT_AND_SUSE = {
    "enablerepo": "epel",
    "disablerepo": ["*"],
    "disableexcludes": "all",
    "setopt": "obsoletes=0",
}
REDHAT_AND_SUSE |= {"no_recommends": True}
ACCEPTED = {
    "skip_suggestions": True,
    "report_reboot_exit_codes": False,
    "normalize": False,
    "skip_verify": True,
}
SCENARIOS = [
    on("installed hold=true", version="1.0", **ACCEPTED, **REDHAT_AND_SUSE),
    on("installed version=>=1.0,<2 cache_valid_time=3600 only_upgrade=false"),
    on("installed version=1.* ignore_epoch=true"),
    on("installed version=latest", OLD),
    on("latest", OLD, **REDHAT_AND_SUSE),
    on("latest update_holds=true force_conf_new=true env='[{LANG: C}]'", HELD),
    on("latest debconf=/srv/answers", OLD + ANSWERS),
    on("installed env='{LANG: C}'", OLD, version="2.0"),
    on("uptodate dist_upgrade=true refresh=true cache_valid_time=60", OLD, **REDHAT_AND_SUSE),
    on("uptodate force_conf_new=true skip_verify=true env='{LANG: C}'", OLD),
    on("uptodate dist_upgrade=false", NEEDS_MORE, plans=False),
    on("uptodate dist_upgrade=true", NEEDS_MORE),
    on("uptodate security=true", SECURITY + OLD),
    on("uptodate security=true dist_upgrade=false pkgs=[greeting]", SECURITY + OLD),
    on("uptodate security=true", SECURITY + HELD, plans=False),
    on("uptodate security=true", OLD, plans=False),
    on("autoremoved", AUTO),
    on("autoremoved purge=true", AUTO),
    on("autoremoved", "apt-get autoremove -q -y", plans=False),
    on("uptodate fromrepo=nowhere", OLD, fails="is invalid for APT::Default-Release"),
    on("installed refresh=false", OLD, plans=False, pkgs=[{"greeting": "1.0"}]),
    on("installed version=0.5* allow_updates=true", OLD, plans=False),
    on("diverted", WORD, **WORDED),
    on("diverted divert_to=/usr/share/word.theirs rename=false", WORD, **WORDED),
    on("diverted", DIVERTED, plans=False, **WORDED),
    on("diverted divert_to=/usr/else", DIVERTED, **WORDED, fails="is diverted to"),
    on("diverted divert_to=/usr/share/word", WORD, **WORDED, fails="to itself"),
    on("diverted divert_to=/no/such/word", **WORDED, fails="its folder does not exist"),
    on("diverted name=/usr/share", fails="is a folder"),
    on("diverted name=/usr/share/word.distrib", DIVERTED, fails="another diversion"),
    on("diverted", WORD + "touch /usr/share/word.distrib; ", **WORDED, fails="cannot be moved"),
    on("undiverted", DIVERTED, **WORDED),
    on("undiverted rename=false", DIVERTED + WORD, **WORDED),
    on("undiverted", DIVERTED + WORD, **WORDED, fails="cannot be moved"),
    on("undiverted", plans=False, **WORDED),
    on("undiverted", OF_PACKAGE, **WORDED, fails="the package greeting's, and stays"),
    on("statoverride group=mail", WORD, **WORDED, mode="2755"),
    on("statoverride", **WORDED, mode="0640", user="1001"),
    on("statoverride user=mail", OVERRIDDEN, plans=False, **WORDED, mode="4711"),
    on("statoverride user=mail", OVERRIDDEN, **WORDED, mode="0711"),
    on("statoverride user=mail mode=4711", OVERRIDDEN + "chmod 0 /usr/share/word; ", **WORDED),
    on("statoverride user=zoe", **WORDED, mode="0644", fails="User zoe is not available"),
    on(
        "statoverride name=/home/zoe/word",
        "useradd -m zoe; ln -s /etc/shadow ~zoe/word; chown -h zoe ~zoe/word; ",
        mode="0644",
        fails="link",
    ),
    on("statoverride_absent", OVERRIDDEN, **WORDED),
    on("statoverride_absent", plans=False, **WORDED),
    on("declared", keep=["*"], fails="no other state of this run declares a package"),
    on("installed hold=true", OLD),
    on("installed hold=true", HELD, plans=False),
    on("installed hold=false", HELD),
    on("installed", HELD, version="2.0", fails="Set update_holds to True"),
    on("installed update_holds=true", HELD, version="2.0"),
    on("installed only_upgrade=true force_conf_new=true", OLD, version="2.0"),
    on(
        "installed only_upgrade=true fromrepo=nowhere",
        version="9.9",
        pkgs=[{"greeting": ">=9"}],
        fails="No version of",
    ),
    on(
        "installed name=nosuchpackage refresh=false",
        fails="E: Unable to locate package nosuchpackage",
    ),
    on(
        "installed",
        version="9.9",
        fails="E: Version '9.9' for 'greeting' was not found (there are 2.0, 1.0)",
    ),
    on("installed sources='[{greeting: /srv/greeting.deb}]'", DEB),
    on("installed sources='[{greeting: file:///srv/greeting.deb}]'", DEB + OLD, plans=False),
    on(
        "installed sources='[{greeting: /srv/nothing.deb}]'",
        fails="/srv/nothing.deb does not exist on minion",
    ),
    on("installed sources='[{greeting: /etc/hosts}]'", fails="is not a package"),
    on(
        "installed pkgs=[greeting] sources='[{greeting: /x}]'",
        fails='Only one of "pkgs" and "sources"',
    ),
    on("installed debconf=/srv/answers install_recommends=false", ANSWERS),
    on("installed reinstall=true", OLD),
    on(
        "installed pkg_verify=true",
        fails="pkg_verify needs the feature verifiable, which the provider apt lacks",
    ),
    on("installed pkg_verify=true ignore_types=[config]", fails="needs the feature verifiable"),
    on("installed resolve_capabilities=true"),
    on("installed name=awk", plans=False),
    on("installed name=httpd", NGINX, plans=False),
    on("installed name=httpd", fails="apache2, nginx provide it: name one of them"),
    on("installed sources='[{hi: /srv/greeting.deb}]'", DEB, fails="holds the package greeting"),
    on("installed sources='[{greeting: /srv/a:1/greeting.deb}]'", COLON),
    on("installed pkgs=[]", plans=False),
    on("downloaded", COPY),
    on("downloaded setopt=x=1 enablerepo=a disablerepo=b disableexcludes=all", COPY),
    on(
        "downloaded cache_valid_time=60 skip_verify=true install_recommends=false",
        COPY,
        version="1.0",
    ),
    on("downloaded refresh=false ignore_epoch=true", COPY, pkgs=[{"greeting": ">=1"}, "hello"]),
    on("downloaded", COPY + "apt-get install -q -y -d greeting=2.0", plans=False),
    on("downloaded name=nosuchpackage refresh=false", fails="no possible matches were found"),
    on("downloaded version=>9 fromrepo=x", fails="No version of"),
]
