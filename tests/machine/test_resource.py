# SPDX-License-Identifier: Apache-2.0
"""`runner resource` of a whole machine that somebody set up by hand: what it prints compiles, and
applying it there plans nothing; secrets are not among it.
"""

from __future__ import annotations

import json

import pytest
from debian import Debian

LAYER = "databases"

PREPARE = r"""
chmod o+x /root  # where this Python may be
useradd -m -c 'Ann Example,12' -G adm -e 2031-01-31 ann
echo 'ann:$y$j9T$abcdefghijklmnop$0123456789abcdefghijklmnopqrstuvwxyzABCDEF' | chpasswd -e
useradd -r -d /opt/app -s /usr/sbin/nologin app
groupadd nobodies; usermod -aG nobodies ann
cat >/tmp/tab <<'X'
# my own things
MAILTO=ann@example.com
1 2 * * * by hand
@daily /usr/local/bin/nightly --quiet
#DISABLED#5 5 * * 7 off
5 5 * * * curl -u joe:hunter22 https://example.com
0 4 * * mon-fri /bin/echo "{{ 100% }}"
X
crontab -u ann /tmp/tab
mkdir ~ann/.ssh
ssh-keygen -q -t ed25519 -N '' -C 'ann@home' -f ~ann/.ssh/id_ed25519
printf '# keys\nfrom="10.0.0.*,!10.0.0.9",no-pty %s\n' "$(cat ~ann/.ssh/id_ed25519.pub)" \
  >~ann/.ssh/authorized_keys
chown -R ann: ~ann/.ssh
key=$(cut -d' ' -f1,2 ~ann/.ssh/id_ed25519.pub)
printf 'one.example.com,10.1.1.1 %s\n[git.example.com]:2222 %s\n' "$key" "$key" \
  >/etc/ssh/ssh_known_hosts
ln -sf /usr/share/zoneinfo/Europe/Berlin /etc/localtime; echo Europe/Berlin >/etc/timezone
printf 'de_DE.UTF-8 UTF-8\n' >>/etc/locale.gen; locale-gen >/dev/null
printf '10.0.0.5 db.example.com db # the database\n' >>/etc/hosts
mkdir /srv/mounted '/srv/not mounted'
mount -t tmpfs -o size=64k,noexec tmpfs /srv/mounted
printf 'tmpfs /srv/mounted tmpfs size=64k,noexec 0 0\n' >>/etc/fstab
printf 'tmpfs /srv/not\\040mounted tmpfs noauto 0 0\n' >>/etc/fstab
printf 'net.ipv4.ip_default_ttl = 64\n' >/etc/sysctl.d/10-ours.conf
printf 'net.ipv4.ip_forward = 7\n' >/etc/sysctl.d/11-odd.conf
cd /etc/systemd/system
printf '[Service]\nExecStart=/bin/sleep infinity\n' >ours.service
printf '[Install]\nWantedBy=multi-user.target\n' >>ours.service
printf '[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n' >job.timer
printf '[Service]\nType=oneshot\nExecStart=/bin/true\n' >job.service
systemctl daemon-reload
systemctl enable -q --now ours.service job.timer
systemctl mask -q systemd-timesyncd.service
apt-mark -qq hold sed
echo '# by hand' >>/etc/sudo.conf
rm /etc/cron.daily/dpkg
mkdir /srv/app /etc/app /srv/big
mkdir -p /srv/repo/.git /etc/apt/keyrings
git init -q --bare /srv/up; git clone -q /srv/up /srv/clone 2>/dev/null
chown -R ann: /srv/clone; git clone -q /srv/up /opt/theirs 2>/dev/null
printf 'root: ann@example.com\npostmaster: root\n' >/etc/aliases
mkdir -p /var/lib/systemd/linger; touch /var/lib/systemd/linger/ann
echo 'hello {{ world }} {% raw %}' >/srv/app/template
printf '\001\002\377' >/srv/app/binary
seq 200 >/srv/app/long
printf 'welcome, Zq7Kd2x9\n\0\1' >/srv/app/greets
printf 'x' >"$(printf '/srv/app/new\nline: !!python')"
printf 'x' >"$(printf '/srv/app/bad\377')"
printf 'y' >'/srv/app/sp ace: {{ x }} #"'
printf 'password = hunter22horse\n' >/etc/app/app.conf
printf 'AWS=AKIAIOSFODNN7EXAMPLE\n' >/etc/app/aws
cp ~ann/.ssh/id_ed25519 /etc/app/key; chmod 644 /etc/app/key
printf 'hunter22 alone\n' >/etc/app/closed; chmod 600 /etc/app/closed
printf 'ann ALL=(ALL) NOPASSWD: ALL\n' >/etc/sudoers.d/ann; chmod 440 /etc/sudoers.d/ann
touch $(seq -f /srv/big/%g 120)
mkfifo /srv/app/pipe; ln -s nowhere /srv/app/link
echo 'not a key' >/etc/apt/keyrings/own.asc
cd /etc/apt/sources.list.d
echo 'deb [signed-by=/etc/apt/keyrings/own.asc] http://archive.example.com/x trixie main' >own.list
printf 'deb https://joe:hunter22@private.example.com/debian bookworm main\n' >private.list
ln -s /bin/sed /usr/local/bin/myed
update-alternatives --quiet --install /usr/bin/editor editor /usr/local/bin/myed 1
update-alternatives --quiet --set editor /usr/local/bin/myed
"""
FIREWALLS = r"""
iptables -N KNOCK
iptables -A INPUT -p tcp -m tcp --dport 22 -m comment --comment 'let "me" in' -j ACCEPT
iptables -A INPUT -p tcp -m multiport --dports 80,443 ! -s 10.0.0.0/8 -j KNOCK
iptables -A INPUT -m string --string 'a b' --algo bm -j DROP
iptables -t nat -A POSTROUTING -s 10.0.0.0/24 -o eth0 -j MASQUERADE
iptables -P FORWARD DROP
nft -f - <<X
table inet mine {
  chain own {
    log prefix "own: " level info
  }
  chain input { type filter hook input priority 0; policy drop;
    ct state established,related accept
    tcp dport { 22, 443 } ct state new counter accept comment "let in"
    jump own
  }
}
X
ufw allow from 10.0.0.0/24 to any port 5432 proto tcp comment 'the "db"' >/dev/null
ufw route allow in on eth1 out on eth2 >/dev/null
"""
DATABASES = r"""
systemctl start mariadb postgresql
until mysql -e ''; do sleep 0.1; done
mysql <<X
CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE TABLE shop.t (a int);
CREATE USER app@localhost IDENTIFIED BY 'hunter22', web@'10.%' IDENTIFIED VIA unix_socket;
GRANT SELECT, UPDATE ON shop.* TO app@localhost;
GRANT INSERT (a) ON shop.t TO app@localhost;
GRANT ALL ON \`my\_shop\`.* TO web@'10.%' WITH GRANT OPTION;
X
cd /; mkdir /srv/space; chown postgres: /srv/space
until runuser -u postgres -- psql -c '' >/dev/null; do sleep 0.1; done
runuser -u postgres -- psql -q <<X
CREATE ROLE readers;
CREATE ROLE app LOGIN PASSWORD 'hunter22' CREATEDB VALID UNTIL '2031-01-01';
GRANT readers TO app;
CREATE TABLESPACE fast OWNER app LOCATION '/srv/space';
CREATE DATABASE shop OWNER app;
CREATE DATABASE "we ird'x";
\c shop
CREATE EXTENSION hstore;
CREATE SCHEMA reports AUTHORIZATION app;
CREATE TABLE reports.t (a int);
GRANT SELECT ON reports.t TO readers WITH GRANT OPTION;
X
"""
EXPECTED = {
    "system": [
        "Europe/Berlin:\n  timezone.system",
        "de_DE.UTF-8:\n  locale.present",
        "- value: 64",
    ],
    "repositories": ["own.asc:\n  file.managed", "signed-by=/etc/apt/keyrings/own.asc"],
    "packages": [
        "sed:\n  pkg.installed:\n    - hold: true",
        "mariadb-server:\n  pkg.installed: []",
    ],
    "users": [
        "ann:\n  group.present:",
        "app:\n  group.present:",
        "- fullname: Ann Example",
        "- linger: true",
        "- comment: ann@home\n    - options:",
        '- from="10.0.0.*,!10.0.0.9"\n        - no-pty',
        "git.example.com:\n  ssh_known_hosts.present:\n    - port: 2222",
    ],
    "storage": ["/srv/mounted:\n  mount.mounted:", "fs_file: /srv/not mounted"],
    "network": ["db.example.com:\n  host.present:\n    - ip:\n        - 10.0.0.5"],
    "files": [
        "/etc/cron.daily/dpkg:\n  file.absent",
        "/srv/app/binary:\n  file.managed:\n    - source: salt://files/srv/app/binary",
        "# /srv/big: it has more than 100 entries",
        "# /srv/repo: a git checkout",
        "git.cloned:\n    - name: /srv/up\n    - target: /srv/clone\n",
        "# /srv/up: a git repository",
        "# /etc/app/closed: not everybody may read it",
        "/etc/sysctl.d/11-odd.conf:",
        "NOPASSWD",
        "/usr/local/bin/myed:\n  file.symlink:\n    - target: /bin/sed",
        "- path: /usr/local/bin/myed\n    - priority: 1",
        "alternatives.set:",
        "/srv/app/bad\\udcff is left out",
    ],
    "schedule": [
        "by hand:\n  cron.present:\n    - user: ann\n    - adopt: true\n    - minute: '1'",
        "MAILTO:\n  cron.env_present:",
        "# a state cron.present of ann is left out",
    ],
    "databases": [
        "shop:\n  mysql_database.present:",
        "- unix_socket: true",
        "# app@localhost has a password",
        "- database: '`my\\_shop`.*'",
        "hstore:\n  postgres_extension.present:",
        "- object_name: t",
        "fast:\n  postgres_tablespace.present:",
        "- valid_until: '2031-01-01 00:00:00'",
    ],
    "services": [
        "ours:\n  service.running:\n    - enable: true",
        "job.timer:\n  service.running:",
        "systemd-timesyncd:\n  service.masked",
    ],
    "firewall": [
        '- comment: let "me" in',
        "KNOCK:\n  iptables.chain_present",
        "- source: '! 10.0.0.0/8'",
        "table: nat",
        "rule 3 is left out: no state says -A INPUT -m string",
        'rule: tcp dport { 22, 443 } ct state new counter accept comment "let in"',
        "'5432':\n  ufw.allow:",
        "ufw route allow in on eth1 out on eth2: no state",
    ],
}
SECRETS = ("hunter22", "Zq7Kd2x9", "AKIAIOS", "PRIVATE KEY", "$y$")
ASKED_BY_ANN = """
cd; mkdir states; runner resource -q >states/site.sls
printf 'file_roots: {base: [states]}' >runner.yaml
runner sls site --test --out json
"""


@pytest.fixture
def made_by_hand(debian: Debian) -> Debian:
    debian.run("sh", "-euc", PREPARE + FIREWALLS + DATABASES)
    return debian


def test_a_machine_made_by_hand_is_adopted(made_by_hand: Debian) -> None:
    machine = made_by_hand
    pillar = ("--pillar", "{token: Zq7Kd2x9}")
    done = machine.runner("resource", "--layout", "/root/site", *pillar)
    assert "states/firewall.sls and " in done.stdout
    config = ("--config", "/root/site/runner.yaml")
    checked = machine.runner("check", *config).stdout
    assert "error" not in checked and "1 warning.\n" in checked, "of the % in a crontab"
    results = machine.results("highstate", "--test", *config)
    assert len(results) > 100
    assert [one for one in results.values() if one["changes"] or one["result"] is not True] == []
    for role, parts in EXPECTED.items():
        sls = machine.read("cat", f"/root/site/states/{role}.sls")
        assert [part for part in parts if part not in sls] == [], sls
    found = machine.run("grep", "-rlE", "|".join(SECRETS).replace("$", r"\$"), "/root/site", code=1)
    assert found.stdout == ""
    assert machine.read("cat", "/root/site/states/files/srv/app/long").endswith("\n200")
    assert (
        "is no empty directory"
        in machine.runner("resource", "--layout", "/root/site", code=1).stderr
    )


def test_a_plain_user_is_told_what_may_be_read(made_by_hand: Debian) -> None:
    done = made_by_hand.run("runuser", "-u", "ann", "--", "sh", "-c", ASKED_BY_ANN)
    results = json.loads(done.stdout)["local"]
    assert {"file_|-/srv/app/long_|-/srv/app/long_|-managed"} <= results.keys()
    assert [one for one in results.values() if one["changes"] or one["result"] is not True] == []
