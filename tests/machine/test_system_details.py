# SPDX-License-Identifier: Apache-2.0
"""Details of a system, by its own programs: a run, its dry run, a second one, and undo."""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import Debian
from gpg_keys import ADA, ADA_ID, armored


def setting(daemon: str, **settings: Any) -> dict[str, Any]:
    return {"systemd.setting": [{"daemon": daemon}, {"settings": settings}]}


DIVERTED: dict[str, Any] = {
    "own": {"pkg.diverted": [{"name": "/usr/share/word"}]},
    "/usr/share/word": {"file.managed": [{"contents": "ours"}, {"require": [{"pkg": "own"}]}]},
    "/usr/share/mode": {"pkg.statoverride": [{"mode": "4711"}, {"user": "mail"}]},
}
RULE = [
    {"users": "zoe"},
    {"commands": "/bin/date --set=1:2,3"},
    {"runas": "ALL"},
    {"nopasswd": True},
]
# what a run makes, what sees it, and how it is prepared
# swap is this computer's: what would change it is played
PLAYED = """
echo Filename Type Size Used Priority >/srv/swaps; mount --bind /srv/swaps /proc/swaps
printf '#!/bin/sh\\necho "$2 file 1 0 -2" >>/srv/swaps\\n' >/usr/local/sbin/swapon
printf '#!/bin/sh\\nx=$(grep -v "^$2 " /srv/swaps); echo "$x" >/srv/swaps\\n' \\
    >/usr/local/sbin/swapoff
chmod 755 /usr/local/sbin/swap*
"""
GENERATOR = "/usr/lib/systemd/system-generators/systemd-cryptsetup-generator"
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "paths of packages": (
        DIVERTED,
        "head /usr/share/word*; stat -c '%U %a' /usr/share/mode;"
        " dpkg-divert --list '/usr/share/w*'; dpkg-statoverride --list /usr/share/mode",
        "echo theirs > /usr/share/word; touch /usr/share/mode",
    ),
    "capabilities": (
        {
            "/srv/web": {"file.capability": [{"caps": "cap_net_raw=ep"}]},
            "/srv/old": {"file.capability": [{"caps": []}]},
        },
        "getcap /srv/*",
        "cp /bin/true /srv/web; cp /bin/true /srv/old; setcap cap_kill=i /srv/old",
    ),
    "answers of debconf": (
        {
            "tzdata": {
                "debconf.set": [
                    {
                        "data": {
                            "tzdata/Areas": {"type": "select", "value": "Asia"},
                            "tzdata/new": {"type": "string", "value": "a word"},
                        }
                    }
                ]
            }
        },
        "debconf-show tzdata | grep -e Areas -e new",
        "echo tzdata tzdata/Areas select Europe | debconf-set-selections",
    ),
    "locales": (
        {"de_DE.UTF-8": {"locale.present": []}, "fr_FR.UTF-8": {"locale.absent": []}},
        "locale -a; grep -v ^# /etc/locale.gen",
        "sed -i 's/^# *fr_FR.UTF-8/fr_FR.UTF-8/' /etc/locale.gen; locale-gen",
    ),
    "settings of systemd": (
        {
            "limits": {
                "systemd.setting": [{"daemon": "journald"}, {"settings": {"Storage": "none"}}]
            },
            "idle": {
                "systemd.setting": [{"daemon": "logind"}, {"settings": {"KillUserProcesses": True}}]
            },
            "deep": {
                "systemd.setting": [{"daemon": "system"}, {"settings": {"DefaultTasksMax": 77}}]
            },
            "old": {"systemd.setting_absent": [{"daemon": "sleep"}]},
        },
        "cd /etc/systemd; ls *.conf.d; cat *.conf.d/*",
        "mkdir -p /etc/systemd/sleep.conf.d; echo '[Sleep]' >/etc/systemd/sleep.conf.d/old.conf",
    ),
    "a pair of keys": (
        {"/srv/keys/id": {"ssh_key.present": []}},
        "stat -c '%n %a %U' /srv/keys /srv/keys/*; ssh-keygen -y -P '' -f /srv/keys/id",
        "true",
    ),
    "keys of gpg": (
        {ADA_ID: {"gpg.present": [{"user": "ada"}, {"text": armored(ADA)}, {"trust": "fully"}]}},
        "cp -a /home/ada/.gnupg /tmp/look; chown -R root /tmp/look; stat -c '%n %a %U'"
        " /home/ada/.gnupg /home/ada/.gnupg/*; gpg --homedir /tmp/look --list-keys ada;"
        " rm -r /tmp/look; pgrep -l 'agent|dirmngr|keyboxd'",
        "useradd -m ada",
    ),
    "a swap file": (
        {
            "/srv/swap": {"swap.file": [{"size": "1M"}]},
            "/srv/old": {"swap.absent": []},
            "/srv/small": {"swap.file": [{"size": "3M"}, {"persist": False}]},
        },
        "cat /etc/fstab /proc/swaps; stat -c '%s %a %b' /srv/old /srv/swap /srv/small;"
        " blkid -o value -s TYPE /srv/old /srv/swap /srv/small",
        f"{PLAYED} head -c 2M /dev/zero >/srv/old; mkswap /srv/old; chmod 600 /srv/old;"
        " swapon -- /srv/old; head -c 1M /dev/zero >/srv/small; mkswap /srv/small;"
        " chmod 600 /srv/small; echo '/srv/old none swap defaults 0 0' >>/etc/fstab",
    ),
    "encrypted devices": (
        {
            "data": {"crypttab.present": [{"device": "/dev/vdx"}, {"options": {"tries": 3}}]},
            "old": {"crypttab.absent": []},
        },
        f"cat /etc/crypttab; rm -rf /tmp/g; mkdir /tmp/g; {GENERATOR} /tmp/g /tmp/g /tmp/g;"
        " cd /tmp/g; grep -h 'attach' systemd-cryptsetup@*",
        "echo old /dev/vdy none luks >>/etc/crypttab",
    ),
    "a rule of sudo": (
        {"zoe": {"user.present": []}, "web": {"sudo.rule": RULE}, "old": {"sudo.absent": []}},
        "sudo -l -U zoe | grep '(ALL) NOPASSWD: /bin/date --set=1\\\\:2,3'; ls /etc/sudoers.d",
        "echo 'root ALL=(ALL) ALL' > /etc/sudoers.d/old; chmod 440 /etc/sudoers.d/old",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_foreseen_made_and_undone(debian: Debian, case: str) -> None:
    tree, looks, prepare = CASES[case]
    debian.run(prepare)
    before = debian.run(looks, code=None).stdout
    debian.tree(details=json.dumps(tree))
    foreseen = debian.results("sls", "details", "--test")
    assert debian.run(looks, code=None).stdout == before, "a dry run changes nothing"
    assert {result["result"] for result in foreseen.values()} == {None}, foreseen
    made = debian.results("sls", "details")
    assert {result["result"] for result in made.values()} == {True}, made
    changed = {tag: result["changes"].keys() for tag, result in made.items()}
    assert changed == {tag: result["changes"].keys() for tag, result in foreseen.items()}
    after = debian.run(looks, code=None).stdout
    assert after != before
    again = debian.results("sls", "details")
    assert not [result for result in again.values() if result["changes"]]
    undone = json.loads(debian.runner("undo", "--out", "json").stdout)["local"]
    assert not undone["unknown"] and not [step for step in undone["steps"] if step["refused"]]
    assert debian.run(looks, code=None).stdout == before


def test_a_key_that_is_to_be_lets_in(debian: Debian) -> None:
    tree = {
        "in": {
            "ssh_auth.present": [
                {"user": "ann", "source": "/home/ann/id.pub"},
                {"require": ["key"]},
            ]
        },
        "key": {"ssh_key.present": [{"name": "/home/ann/id"}, {"user": "ann"}]},
        "ann": {"user.present": []},
    }
    debian.tree(needs=json.dumps(tree))
    for words, result in ((["--test"], None), ([], True)):
        found = debian.results("sls", "needs", *words)
        assert {each["result"] for each in found.values()} == {result}, found


def test_daemons_of_systemd_know_their_settings(debian: Debian) -> None:
    """Those that run read their files anew; what they did before shows that they had not."""
    asks = "systemctl show -P DefaultTasksMax; systemctl show -P MainPID systemd-journald"
    kills = (
        "busctl get-property org.freedesktop.login1 /org/freedesktop/login1"
        " org.freedesktop.login1.Manager KillUserProcesses"
    )
    debian.run("systemctl start systemd-logind systemd-journald")
    before, logind = debian.read(asks), debian.read("systemctl show -P MainPID systemd-logind")
    assert debian.read(kills) == "b false"
    debian.tree(settings=json.dumps(CASES["settings of systemd"][0]))
    debian.results("sls", "settings")
    debian.until(f"{kills} | grep -qx 'b true'")
    tasks, journald = debian.read(asks).splitlines()
    assert tasks == "77"
    assert journald != before.splitlines()[1], "it was restarted"
    assert debian.read("systemctl show -P MainPID systemd-logind") == logind, "it was not"


def test_systemd_makes_accounts_and_directories_at_once_and_at_each_start(debian: Debian) -> None:
    debian.tree(
        rules=json.dumps(
            {
                "app": {"systemd.sysusers": [{"rules": ["u app - 'An application' /srv/app"]}]},
                "of-it": {"systemd.tmpfiles": [{"rules": ["d /srv/app 0750 app app -"]}]},
            }
        )
    )
    looks = "id -nu app; stat -c '%U %a' /srv/app; cat '/etc/tmpfiles.d/of-it.conf'"
    before = debian.run(looks, code=None).stdout
    foreseen = json.loads(debian.runner("sls", "rules", "--test", "--out", "json").stdout)["local"]
    assert [result["result"] for result in foreseen.values()] == [None, None]
    assert debian.run(looks, code=None).stdout == before, "a dry run changes nothing"
    debian.runner("sls", "rules")
    assert debian.read(looks).splitlines() == ["app", "app 750", "d /srv/app 0750 app app -"]
    assert "2 unchanged" in debian.runner("sls", "rules", "-v").stdout
    undone = json.loads(debian.runner("undo", "--out", "json", code=None).stdout)["local"]
    assert undone["unknown"], "what the programs made is theirs"
    debian.run("id app && test -d /srv/app && test ! -e /etc/tmpfiles.d/of-it.conf")


SPELLINGS = """
de_DE.UTF-8:
  locale.present: []
de_DE.utf8:
  locale.present: []
fr_FR.iso88591:
  locale.present: []
gone:
  locale.absent: [name: de_DE.utf8]
again:
  locale.absent: [name: de_DE.UTF-8]
"""


def test_a_locale_is_one_however_it_is_written(debian: Debian) -> None:
    debian.tree(own=SPELLINGS)
    dry = debian.results("sls", "own", "--test")
    real = debian.results("sls", "own")
    assert [dry[id_]["changes"] for id_ in dry] == [real[id_]["changes"] for id_ in real]
    assert [id_ for id_ in real if not real[id_]["changes"]] == ["de_DE.utf8", "again"]
    assert debian.read("locale -a | grep _").split() == ["fr_FR.iso88591"]


KEPT = """
net.ipv4.ip_forward: {{sysctl.present: [value: 1, config: {config}]}}
"""


@pytest.mark.parametrize(
    ("config", "others", "told"),
    [
        ("/etc/sysctl.d/99-salt.conf", {}, ""),
        (
            "/etc/sysctl.d/99-salt.conf",
            {"/etc/sysctl.d/99-zz.conf": "net/ipv4/ip_forward=0"},
            "sets it to 0: /etc/sysctl.d/99-zz.conf is read after /etc/sysctl.d/99-salt.conf",
        ),
        ("/etc/sysctl.d/99-salt.conf", {"/etc/sysctl.d/10-a.conf": "net.ipv4.ip_forward=0"}, ""),
        ("/etc/sysctl.d/1.conf", {"/run/sysctl.d/2.conf": "net.ipv4.ip_forward = 1"}, ""),
        ("/etc/sysctl.d/forward", {}, "does not read /etc/sysctl.d/forward"),
        ("/etc/sysctl.conf", {}, ""),
    ],
)
def test_a_parameter_that_the_next_start_sets_otherwise_is_told(
    debian: Debian, config: str, others: dict[str, str], told: str
) -> None:
    for path, text in others.items():
        debian.write(path, f"{text}\n")
    debian.run("ln -sf ../sysctl.conf /etc/sysctl.d/99-sysctl.conf; : > /etc/sysctl.conf")
    debian.tree(site=KEPT.format(config=config))
    for words in (("--test",), (), ()):
        result = debian.results("sls", "site", *words)["net.ipv4.ip_forward"]
        warned = " ".join(result.get("warnings", ()))
        assert told in warned and bool(told) == bool(warned), words


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0UXc0ZB3M0+W2zgB8J1wIjY4nVbQbGmG1u4S9s8gQy"


@pytest.mark.parametrize(
    ("configured", "told"),
    [
        ("", ""),
        ("AuthorizedKeysFile /etc/ssh/keys/%u", "is /etc/ssh/keys/%u"),
        ("authorizedkeysfile=/etc/ssh/keys/%u none", "is /etc/ssh/keys/%u none"),
        ('AuthorizedKeysFile /etc/ssh/keys/%u\t"%h/.ssh/authorized_keys"', ""),
        ("Match User x\nAuthorizedKeysFile /x", ""),
    ],
)
def test_a_key_where_sshd_does_not_look_is_told(debian: Debian, configured: str, told: str) -> None:
    debian.write("/etc/ssh/sshd_config.d/keys.conf", f"{configured}\n")
    debian.write("/etc/ssh/sshd_config", "Include sshd_config.d/*.conf\n")
    debian.tree(
        site=f"key: {{ssh_auth.present: [user: root, name: {KEY}]}}\n"
        f"named: {{ssh_auth.present: [user: root, config: /srv/keys, name: {KEY}]}}\n"
        f"nobody's: {{ssh_auth.present: [user: none, name: {KEY}]}}\n"
    )
    for words in (("--test",), (), ()):
        results = debian.results("sls", "site", *words, code=2)
        warned = " ".join(results["key"].get("warnings", ()))
        assert told in warned and bool(told) == bool(warned), words
        assert not results["named"].get("warnings"), "who names a file knows who reads it"
        assert results["nobody's"]["comment"].endswith("There is no user none")
