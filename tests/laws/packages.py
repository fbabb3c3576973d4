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
    on("installed", version="1.0", hold=True, **ACCEPTED, **REDHAT_AND_SUSE),
    on("installed", version=">=1.0,<2", cache_valid_time=3600, only_upgrade=False),
    on("installed", version="1.*", ignore_epoch=True),
    on("installed", OLD, version="latest"),
    on("latest", OLD, **REDHAT_AND_SUSE),
    on("latest", HELD, update_holds=True, force_conf_new=True, env=[{"LANG": "C"}]),
    on("latest", OLD + ANSWERS, debconf="/srv/answers"),
    on("installed", OLD, version="2.0", env={"LANG": "C"}),
    on("uptodate", OLD, dist_upgrade=True, refresh=True, cache_valid_time=60, **REDHAT_AND_SUSE),
    on("uptodate", OLD, force_conf_new=True, skip_verify=True, env={"LANG": "C"}),
    on("uptodate", NEEDS_MORE, plans=False, dist_upgrade=False),
    on("uptodate", NEEDS_MORE, dist_upgrade=True),
    on("uptodate", SECURITY + OLD, security=True),
    on("uptodate", SECURITY + OLD, security=True, dist_upgrade=False, pkgs=["greeting"]),
    on("uptodate", SECURITY + HELD, plans=False, security=True),
    on("uptodate", OLD, plans=False, security=True),
    on("autoremoved", AUTO),
    on("autoremoved", AUTO, purge=True),
    on("autoremoved", "apt-get autoremove -q -y", plans=False),
    on("uptodate", OLD, fromrepo="nowhere", fails="is invalid for APT::Default-Release"),
    on("installed", OLD, plans=False, pkgs=[{"greeting": "1.0"}], refresh=False),
    on("installed", OLD, plans=False, version="0.5*", allow_updates=True),
    on("diverted", WORD, **WORDED),
    on("diverted", WORD, **WORDED, divert_to="/usr/share/word.theirs", rename=False),
    on("diverted", DIVERTED, plans=False, **WORDED),
    on("diverted", DIVERTED, **WORDED, divert_to="/usr/else", fails="is diverted to"),
    on("diverted", WORD, **WORDED, divert_to="/usr/share/word", fails="to itself"),
    on("diverted", **WORDED, divert_to="/no/such/word", fails="its folder does not exist"),
    on("diverted", name="/usr/share", fails="is a folder"),
    on("diverted", DIVERTED, name="/usr/share/word.distrib", fails="another diversion"),
    on("diverted", WORD + "touch /usr/share/word.distrib; ", **WORDED, fails="cannot be moved"),
    on("undiverted", DIVERTED, **WORDED),
    on("undiverted", DIVERTED + WORD, **WORDED, rename=False),
    on("undiverted", DIVERTED + WORD, **WORDED, fails="cannot be moved"),
    on("undiverted", plans=False, **WORDED),
    on("undiverted", OF_PACKAGE, **WORDED, fails="the package greeting's, and stays"),
    on("statoverride", WORD, **WORDED, mode="2755", group="mail"),
    on("statoverride", **WORDED, mode="0640", user="1001"),
    on("statoverride", OVERRIDDEN, plans=False, **WORDED, user="mail", mode="4711"),
    on("statoverride", OVERRIDDEN, **WORDED, user="mail", mode="0711"),
    on("statoverride", OVERRIDDEN + "chmod 0 /usr/share/word; ", **WORDED, user="mail", mode=4711),
    on("statoverride", **WORDED, mode="0644", user="zoe", fails="User zoe is not available"),
    on(
        "statoverride",
        "useradd -m zoe; ln -s /etc/shadow ~zoe/word; chown -h zoe ~zoe/word; ",
        name="/home/zoe/word",
        mode="0644",
        fails="link",
    ),
    on("statoverride_absent", OVERRIDDEN, **WORDED),
    on("statoverride_absent", plans=False, **WORDED),
    on("declared", keep=["*"], fails="no other state of this run declares a package"),
    on("installed", OLD, hold=True),
    on("installed", HELD, plans=False, hold=True),
    on("installed", HELD, hold=False),
    on("installed", HELD, version="2.0", fails="Set update_holds to True"),
    on("installed", HELD, version="2.0", update_holds=True),
    on("installed", OLD, only_upgrade=True, version="2.0", force_conf_new=True),
    on(
        "installed",
        version="9.9",
        only_upgrade=True,
        fromrepo="nowhere",
        pkgs=[{"greeting": ">=9"}],
        fails="No version of",
    ),
    on(
        "installed",
        name="nosuchpackage",
        refresh=False,
        fails="E: Unable to locate package nosuchpackage",
    ),
    on("installed", version="9.9", fails="E: Version '9.9' for 'greeting' was not found"),
    on("installed", DEB, sources=[{"greeting": "/srv/greeting.deb"}]),
    on("installed", DEB + OLD, plans=False, sources=[{"greeting": "file:///srv/greeting.deb"}]),
    on(
        "installed",
        sources=[{"greeting": "/srv/nothing.deb"}],
        fails="/srv/nothing.deb does not exist on minion",
    ),
    on("installed", sources=[{"greeting": "/etc/hosts"}], fails="is not a package"),
    on(
        "installed",
        pkgs=["greeting"],
        sources=[{"greeting": "/x"}],
        fails='Only one of "pkgs" and "sources"',
    ),
    on("installed", ANSWERS, debconf="/srv/answers", install_recommends=False),
    on("installed", OLD, reinstall=True),
    on(
        "installed",
        pkg_verify=True,
        fails="pkg_verify needs the feature verifiable, which the provider apt lacks",
    ),
    on("installed", pkg_verify=True, ignore_types=["config"], fails="needs the feature verifiable"),
    on("installed", resolve_capabilities=True),
    on("installed", name="awk", plans=False),
    on("installed", NGINX, name="httpd", plans=False),
    on("installed", name="httpd", fails="apache2, nginx provide it: name one of them"),
    on("installed", DEB, sources=[{"hi": "/srv/greeting.deb"}], fails="holds the package greeting"),
    on("installed", COLON, sources=[{"greeting": "/srv/a:1/greeting.deb"}]),
    on("installed", plans=False, pkgs=[]),
    on("downloaded", COPY),
    on("downloaded", COPY, setopt="x=1", enablerepo="a", disablerepo="b", disableexcludes="all"),
    on(
        "downloaded",
        COPY,
        version="1.0",
        cache_valid_time=60,
        skip_verify=True,
        install_recommends=False,
    ),
    on("downloaded", COPY, pkgs=[{"greeting": ">=1"}, "hello"], refresh=False, ignore_epoch=True),
    on("downloaded", COPY + "apt-get install -q -y -d greeting=2.0", plans=False),
    on("downloaded", name="nosuchpackage", refresh=False, fails="no possible matches were found"),
    on("downloaded", version=">9", fromrepo="x", fails="No version of"),
]
