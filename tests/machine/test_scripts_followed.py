# SPDX-License-Identifier: Apache-2.0
"""What a dry run knows of maintainer scripts that ask debconf, filter texts, divert files and call
scripts of their own, as the real run finds it.
"""

from __future__ import annotations

from typing import Any

from both_runs import assert_foreseen, tree
from debian import Debian
from debian_archive import INDEX, package

PREINST = """#!/bin/sh
set -e
if test "$(dpkg-divert --truename /usr/bin/greet)" = /usr/bin/greet; then
    dpkg-divert --quiet --package tool --add --rename --divert /usr/bin/greet.real /usr/bin/greet
fi
"""
CONFIG = """#!/bin/sh
set -e
. /usr/share/debconf/confmodule
db_input high tool/port || true
db_go || true
db_fget tool/port seen
test "$RET" = false || db_set tool/mode seen
"""
TEMPLATES = """Template: tool/port
Type: string
Default: 80
Description: Port
 Of the tool.

Template: tool/mode
Type: string
Default: plain
Description: Mode
 Of the tool.

Template: tool/other
Type: boolean
Default: false
Description: Other
 Of the tool.
"""
POSTINST = r"""#!/bin/sh
set -e
. /usr/share/debconf/confmodule
count() { echo $#; }
if [ "$1" = configure ]; then
    db_get tool/port && PORT="$RET"
    db_get tool/mode
    MODE="$RET"
    db_get tool/nothing || MODE="$MODE, no such question"
    db_get tool/other
    [ "$RET" = true ] || OTHER=0
    new="$(mktemp)"
    trap 'rm -f "$new"' EXIT
    sed -e "s/^port = .*/port = $PORT/" /usr/share/tool/template >"$new"
    sed -i "s/MODE/$MODE/; s/OTHER/$((OTHER + 1))/" "$new"
    cp -aZ "$new" /etc/tool.conf
    chmod 00644 /etc/tool.conf
    grep '^[a-z]*:' /usr/share/tool/list | cut -d: -f2- | sort -r | while read name rest; do
        printf '%s=%s\n' "$name" "$rest" >>/etc/tool.list
    done
    PATH_OF=/etc/tool.d /usr/share/tool/helper -q -m 0640 one two
    eval "VALUE=$(count a b c)"
    echo "$VALUE $(id -gn nobody) $(stat -c %a /etc/tool.conf)" >/etc/tool.facts
    chown games: /etc/tool.d/one
    cp -r /usr/share/tool /var/lib/tool/copy
    cp -a /usr/share/tool /var/lib/tool/below-copy
    cp -r /usr/share/tool /etc/tool.d
    cd /var/lib/tool
    mkdir -p below
    chmod g+s below
    [ ! -d below ] || touch below/file
    cp -p /usr/share/tool/template /usr/share/tool/list /etc/tool.d
    openssl rand -base64 -out /etc/tool.key 12
    chmod 0400 /etc/tool.key
    whose=$(/usr/share/tool/whose)
    chown "$whose" /var/lib/tool/kept
    if pgrep -x no-such-program >/dev/null; then touch /etc/tool.never; fi
    find /var/lib/tool -name 'old-*' -delete
    sums=$(sha1sum /usr/share/tool/list /var/lib/tool/kept)
    echo "$sums" >/etc/tool.sums
    sha1sum --status -c /etc/tool.sums && touch /etc/tool.same
    md5sum --status --ignore-missing -c <<EOT || touch /etc/tool.other
d41d8cd98f00b204e9800998ecf8427e  /var/lib/tool/kept
d41d8cd98f00b204e9800998ecf8427e  /var/lib/tool/none
EOT
    db_stop
fi
"""
HELPER = r"""#!/bin/sh
set -e
mode=0644
while getopts qm: option; do
    case $option in
        m) mode=$OPTARG ;;
    esac
done
shift $(expr $OPTIND - 1)
mkdir -p "$PATH_OF"
for name; do
    install -m $mode /dev/null "$PATH_OF/$name"
done
exit 0
"""
FILES = {
    "DEBIAN/preinst": PREINST,
    "DEBIAN/postinst": POSTINST,
    "DEBIAN/config": CONFIG,
    "DEBIAN/templates": TEMPLATES,
    "usr/bin/greet": "#!/bin/sh\necho new",
    "usr/share/tool/template": "port = 1\nmode = MODE\nother = OTHER",
    "usr/share/tool/list": "b:two 2 2\n# none\na:one 1",
    "usr/share/tool/helper": HELPER,
    "usr/share/tool/whose": "#!/usr/bin/python3\nprint('games')",
    "var/lib/tool/kept": "x",
}
# nobody knows of what it changes the mode
ODD = {
    "DEBIAN/postinst": "#!/bin/sh\nset -e\nchmod 600 $(/usr/share/odd/where)\n"
    "/usr/share/odd/where >/etc/aliases\n",
    "usr/share/odd/where": "#!/usr/bin/python3\nprint('/etc/odd.conf')",
    "etc/odd.conf": "x",
}
OLD = {"usr/bin/greet": "#!/bin/sh\necho old", "usr/share/greet/words": "hello"}
MAKE = f"""
{package("greet", files=OLD)}
{package("tool", files=FILES)}
{package("odd", files=ODD)}
{INDEX}
apt-get -y install greet
"""


def contents(path: str, *more: dict[str, Any]) -> dict[str, Any]:
    return {path: {"file.managed": [{"contents": "own"}, *more]}}


def directory(path: str, mode: str) -> dict[str, Any]:
    return {path: {"file.directory": [{"mode": mode}]}}


SEEN: dict[str, Any] = {
    **contents("/etc/tool.conf", {"mode": "0600"}),
    **contents("/etc/tool.list"),
    **contents("/etc/tool.facts"),
    **contents("/etc/tool.d/two", {"user": "games"}),
    **contents("/etc/tool.d/one", {"group": "games"}, {"mode": "0600"}),
    **contents("/var/lib/tool/copy/list", {"mode": "0600"}),
    **directory("/var/lib/tool/below-copy", "0755"),
    **contents("/etc/tool.d/tool/whose", {"mode": "0640"}),
    **contents("/etc/tool.d/list"),
    **contents("/usr/bin/greet.real"),
    **contents("/usr/bin/greet"),
    **contents("/var/lib/tool/kept"),
    "odd": {"pkg.installed": [{"require": [{"pkg": "package"}]}]},
    **contents("/etc/odd.conf"),
    **directory("/var/lib/tool/below", "0700"),
    "below": {"file.exists": [{"name": "/var/lib/tool/below/file"}]},
    **contents("/etc/tool.sums"),
    "same": {"file.exists": [{"name": "/etc/tool.same"}]},
    "other": {"file.exists": [{"name": "/etc/tool.other"}]},
    "never": {"file.absent": [{"name": "/etc/tool.never"}]},
    "no rest": {"cmd.run": [{"name": "true"}, {"onlyif": "ls /tmp | grep planned"}]},
}
ANSWER = {"tool": {"debconf.set": [{"data": {"tool/port": {"type": "string", "value": "90"}}}]}}


def test_what_scripts_make_of_answers_and_texts_is_foreseen(debian: Debian) -> None:
    debian.run(MAKE)
    dry = assert_foreseen(debian, {"package": {"pkg.installed": [{"name": "tool"}]}, **SEEN})
    shown = dry["/etc/tool.conf"]["changes"]["diff"]
    assert "-port = 80\n-mode = plain, no such question\n-other = 1\n" in shown
    assert "-two=2 2\n-one=1\n" in dry["/etc/tool.list"]["changes"]["diff"]
    assert "-3 nogroup 644\n" in dry["/etc/tool.facts"]["changes"]["diff"]
    assert "-echo old\n" in dry["/usr/bin/greet.real"]["changes"]["diff"]


def test_answers_of_states_decide_what_scripts_do(debian: Debian) -> None:
    debian.run(MAKE)
    states = {
        "answer": {"debconf.set": [{"name": "tool"}, *ANSWER["tool"]["debconf.set"]]},
        "package": {"pkg.installed": [{"name": "tool"}, {"require": [{"debconf": "answer"}]}]},
        **contents("/etc/tool.conf"),
    }
    shown = assert_foreseen(debian, states)["/etc/tool.conf"]["changes"]["diff"]
    assert "-port = 90\n-mode = seen, no such question\n" in shown


def test_what_nobody_knows_stays_undecided(debian: Debian) -> None:
    debian.run(MAKE)
    key = {"file.managed": [{"name": "/etc/tool.key"}, {"contents": "own"}]}
    there = {"file.exists": [{"name": "/etc/tool.key"}]}
    rights = {
        **contents("/etc/odd.conf", {"mode": "0600"}),
        **contents("/var/lib/tool/kept", {"user": "games"}),
        **directory("/usr/share/odd", "0700"),
    }
    mail = {"alias.present": [{"name": "root"}, {"target": "somebody"}]}
    states = {"there": there, "key": key, "mail": mail, **rights}
    debian.tree(all=tree(("tool", "odd"), states))
    dry = debian.results("sls", "all", "--test")
    assert "decided when pkg: tool is done" in dry["key"]["comment"]
    assert "postinst of tool makes /etc/tool.key" in dry["key"]["comment"]
    assert "(postinst of odd makes /etc/aliases" in dry["mail"]["comment"]
    assert dry["there"]["result"] is True, dry["there"]
    for path in rights:
        assert "; decided when pkg: " in dry[path]["comment"], dry[path]


def test_answers_of_commands_are_not_guessed(debian: Debian) -> None:
    debian.run(MAKE)
    line = "echo 'tool tool/port string 70' | debconf-set-selections"
    states = {
        "answer": {"cmd.run": [{"name": line}]},
        "tool": {"pkg.installed": []},
        **contents("/etc/tool.conf"),
    }
    debian.tree(all=tree((), states))
    dry = debian.results("sls", "all", "--test")
    assert "decided when" in dry["/etc/tool.conf"]["comment"], dry["/etc/tool.conf"]
