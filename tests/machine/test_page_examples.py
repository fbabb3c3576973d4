# SPDX-License-Identifier: Apache-2.0
"""The examples of the pages of states that edit files and accounts, as they stand there: what each
does on a machine as it usually is, and what it leaves alone.
"""

from __future__ import annotations

import inspect

import pytest
from debian import Debian

from runner.engine.loader.registry import Registry
from runner.language.arguments.schema import known
from runner.output.manual import docstring

INIT = "none"
REGISTRY = Registry({})
MODULES = ("alias", "cron", "file", "grains", "group", "host", "ini", "ssh_auth", "user")
HEADER = "# Lines below here are managed by Salt, do not edit"
# how the machine is before (shell), and what has to be true afterwards (each a line of shell)
EFFECTS: dict[str, tuple[str, str]] = {
    "alias.absent": (
        "printf 'root: a@b\\nwebmaster: root\\n' >/etc/aliases",
        'test "$(cat /etc/aliases)" = "root: a@b"',
    ),
    "alias.present": (
        "printf 'mail: x\\nroot: a@b\\n' >/etc/aliases",
        "grep -qx 'mail: x' /etc/aliases\ngrep -qx 'root: zoe@example.com' /etc/aliases",
    ),
    "cron.absent": (
        f"printf '%s\\n' '1 1 * * * mine' '{HEADER}' '# SALT_CRON_IDENTIFIER:backup'"
        " '2 2 * * * old' '# SALT_CRON_IDENTIFIER:other' '3 3 * * * other' | crontab -",
        "crontab -l | grep -qx '1 1 \\* \\* \\* mine'\ncrontab -l | grep -q '3 3'\n"
        "! crontab -l | grep -q old",
    ),
    "cron.env_absent": (
        f"printf '%s\\n' MAILTO=me PATH=/bin '{HEADER}' MAILTO=x '1 1 * * * a' | crontab -",
        "crontab -l | grep -q PATH\ncrontab -l | grep -q '1 1'\n! crontab -l | grep -q MAILTO=x",
    ),
    "cron.env_present": (
        "echo '1 1 * * * mine' | crontab -",
        "crontab -l | head -1 | grep -q mine\ncrontab -l | grep -qx MAILTO=admin@example.com",
    ),
    "cron.file": (
        "useradd worker; mkdir -p /srv/runner/states/cron;"
        " echo '4 4 * * * work' >/srv/runner/states/cron/worker; echo '1 1 * * * mine' | crontab -",
        "crontab -u worker -l | grep -q '4 4'\ncrontab -l | grep -q mine",
    ),
    "cron.present": (
        "echo '1 1 * * * mine' | crontab -",
        "crontab -l | grep -q mine\n"
        "crontab -l | grep -qE '^[0-9]+ 3 \\* \\* \\* /usr/local/bin/backup$'",
    ),
    "file.absent": ("touch /etc/motd /etc/motd.old", "test -e /etc/motd\n! test -e /etc/motd.old"),
    "file.accumulated": (
        "echo mine >/etc/motd",
        "head -1 /etc/motd | grep -qx mine\ngrep -qx 'Ask zoe.' /etc/motd",
    ),
    "file.append": (
        "cp /etc/profile /tmp/profile",
        "test \"$(tail -1 /etc/profile)\" = 'umask 027'\nhead -c $(stat -c %s /tmp/profile)"
        " /etc/profile | cmp - /tmp/profile",
    ),
    "file.blockreplace": (
        "cp /etc/hosts /tmp/hosts",
        "grep -qx '10.0.0.5 db' /etc/hosts\nhead -c $(stat -c %s /tmp/hosts) /etc/hosts | cmp -"
        " /tmp/hosts",
    ),
    "file.capability": (
        "cp /bin/true /usr/local/bin/web",
        "getcap /usr/local/bin/web | grep -qx '.* cap_net_bind_service=ep'",
    ),
    "file.comment": (
        "printf '/dev/sdb1 /a ext4\\n/dev/sdb12 /b ext4\\n/dev/sda1 / ext4\\n' >/etc/fstab",
        "grep -qx '#/dev/sdb1 /a ext4' /etc/fstab\ngrep -qx '/dev/sda1 / ext4' /etc/fstab\n"
        "grep -qx '/dev/sdb12 /b ext4' /etc/fstab",
    ),
    "file.copy": (
        "echo new >/etc/app.conf.dist; rm -f /etc/app.conf",
        "grep -qx new /etc/app.conf\ntest -e /etc/app.conf.dist",
    ),
    "file.decode": (
        "mkdir -p /etc/app /srv/runner/pillar;"
        " printf 'app: {key: aGVsbG8=}\\n' >/srv/runner/pillar/a.sls;"
        " printf 'base: {\"*\": [a]}\\n' >/srv/runner/pillar/top.sls",
        'test "$(cat /etc/app/key.bin)" = hello',
    ),
    "file.directory": (
        "mkdir -p /srv/www/a; echo x >/srv/www/a/f; chmod 600 /srv/www/a/f",
        "test \"$(stat -c '%U %a' /srv/www/a)\" = 'www-data 755'\n"
        "test \"$(stat -c '%U %a' /srv/www/a/f)\" = 'www-data 644'",
    ),
    "file.exists": ("mkdir -p /etc/ssl/private; touch /etc/ssl/private/host.key", ""),
    "file.hardlink": (
        "mkdir -p /opt/python/bin; echo x >/opt/python/bin/python3",
        "test /usr/local/bin/python -ef /opt/python/bin/python3",
    ),
    "file.keyvalue": (
        "printf '# PermitRootLogin is said here\\n#PermitRootLogin yes\\nPort 22\\n'"
        " >/etc/ssh/sshd_config",
        "test \"$(grep -v '^# ' /etc/ssh/sshd_config)\" = \"$(printf 'PermitRootLogin no\\nPort"
        " 22')\"\ngrep -qx '# PermitRootLogin is said here' /etc/ssh/sshd_config",
    ),
    "file.line": (
        "printf 'A=1\\nGRUB_TIMEOUT=5\\nGRUB_TIMEOUT_STYLE=menu\\n' >/etc/default/grub",
        'test "$(cat /etc/default/grub)" = "$(printf'
        " 'A=1\\nGRUB_TIMEOUT=1\\nGRUB_TIMEOUT_STYLE=menu')\"",
    ),
    "file.managed": (
        "mkdir -p /srv/runner/states; echo 'on {{ grains.kernel }}' >/srv/runner/states/motd.jinja",
        "grep -qx 'on Linux' /etc/motd\ntest \"$(stat -c %a /etc/motd)\" = 644",
    ),
    "file.missing": ("rm -f /etc/nologin", "! test -e /etc/nologin"),
    "file.patch": (
        "mkdir -p /opt/app /srv/runner/states/app; printf 'a\\nb\\n' >/opt/app/config.c;"
        " printf -- '--- a\\n+++ b\\n@@ -1,2 +1,2 @@\\n a\\n-b\\n+c\\n'"
        " >/srv/runner/states/app/config.patch",
        'test "$(cat /opt/app/config.c)" = "$(printf \'a\\nc\')"',
    ),
    "file.prepend": (
        "echo mine >/etc/motd",
        'test "$(cat /etc/motd)" = "$(printf \'This machine is managed.\\nmine\')"',
    ),
    "file.pruned": (
        "mkdir -p /var/cache/app/empty /var/cache/app/full; touch /var/cache/app/full/f",
        "! test -e /var/cache/app/empty\ntest -e /var/cache/app/full/f",
    ),
    "file.recurse": (
        "mkdir -p /srv/runner/states/app/etc /etc/app; echo x >/srv/runner/states/app/etc/f;"
        " touch /etc/app/old",
        "grep -qx x /etc/app/f\n! test -e /etc/app/old",
    ),
    "file.rename": (
        "rm -rf /srv/new; mkdir /srv/old; touch /srv/old/f",
        "test -e /srv/new/f\n! test -e /srv/old",
    ),
    "file.replace": (
        "printf '# PermitRootLogin is said here\\n#PermitRootLogin yes\\nPort 22\\n'"
        " >/etc/ssh/sshd_config",
        "grep -qx '# PermitRootLogin is said here' /etc/ssh/sshd_config\n"
        "grep -qx 'PermitRootLogin no' /etc/ssh/sshd_config\n"
        "grep -qx 'Port 22' /etc/ssh/sshd_config",
    ),
    "file.retention_schedule": (
        "mkdir -p /var/backups/db; cd /var/backups/db; touch mine;"
        " for d in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15; do touch db-202001${d}T0100.sql"
        " db-202001${d}T0200.sql; done",
        "cd /var/backups/db; test -e mine -a -e db-20200115T0200.sql -a -e db-20200101T0100.sql\n"
        "! test -e /var/backups/db/db-20200103T0200.sql",
    ),
    "file.serialize": (
        "rm -f /etc/app.json",
        'grep -q \'"port": 80\' /etc/app.json\ntest "$(stat -c %a /etc/app.json)" = 640',
    ),
    "file.symlink": (
        "mkdir -p /opt/app/bin; touch /opt/app/bin/app",
        'test "$(readlink /usr/local/bin/app)" = /opt/app/bin/app',
    ),
    "file.tidied": (
        "mkdir -p /var/log/app; cd /var/log/app; echo x >new.log; echo x >old.log; echo x >old.txt;"
        " touch -d 2020-01-01 old.log old.txt",
        "cd /var/log/app; test -e new.log -a -e old.txt\n! test -e /var/log/app/old.log",
    ),
    "file.touch": ("mkdir -p /var/log/httpd", "test -e /var/log/httpd/logrotate.empty"),
    "file.uncomment": (
        "printf '# EXTRA_GROUPS are what it says\\n#EXTRA_GROUPS=\"users\"\\n' >/etc/adduser.conf",
        "grep -qx '# EXTRA_GROUPS are what it says' /etc/adduser.conf\n"
        "grep -qx 'EXTRA_GROUPS=\"users\"' /etc/adduser.conf",
    ),
    "grains.absent": (
        "printf 'old_role: web\\nkept: 1\\n' >/etc/runner/grains",
        'test "$(cat /etc/runner/grains)" = "kept: 1"',
    ),
    "grains.append": (
        "printf 'roles: [db]\\nkept: 1\\n' >/etc/runner/grains",
        "tr -d '\\n' </etc/runner/grains | grep -q 'kept: 1roles:- db- web'",
    ),
    "grains.exists": ("printf 'roles: [db]\\n' >/etc/runner/grains", ""),
    "grains.list_absent": (
        "printf 'roles: [db, cache]\\n' >/etc/runner/grains",
        'test "$(cat /etc/runner/grains)" = "$(printf \'roles:\\n- db\')"',
    ),
    "grains.list_present": (
        "printf 'roles: [db, cache]\\n' >/etc/runner/grains",
        'test "$(cat /etc/runner/grains)" = "$(printf \'roles:\\n- db\\n- cache\\n- web\')"',
    ),
    "grains.present": (
        "printf 'kept: 1\\n' >/etc/runner/grains",
        "grep -qx 'kept: 1' /etc/runner/grains\ngrep -qx 'datacentre: berlin-2' /etc/runner/grains",
    ),
    "group.absent": (
        "groupadd games; userdel games; groupadd games2",
        "! getent group games\ngetent group games2",
    ),
    "group.present": (
        "useradd alice; useradd bob; groupadd www; gpasswd -a bob www",
        "getent group www | grep -qx 'www:x:2001:bob,alice'",
    ),
    "host.absent": (
        "printf '127.0.0.1 localhost\\n10.0.0.5 db old.example.com\\n' >/etc/hosts",
        "grep -qE '^10.0.0.5\\s+db$' /etc/hosts\ngrep -q localhost /etc/hosts",
    ),
    "host.only": (
        "printf '127.0.0.1 localhost\\n10.0.0.5 web\\n' >/etc/hosts",
        "grep -qE '^10.0.0.5\\s+db.example.com db$' /etc/hosts\ngrep -q localhost /etc/hosts",
    ),
    "host.present": (
        "printf '127.0.0.1 localhost\\n10.0.0.5 db\\n' >/etc/hosts",
        "grep -qE '^10.0.0.5.*\\sdb.example.com' /etc/hosts\n"
        "grep -qE '^10.0.0.5\\s+db' /etc/hosts\n"
        "grep -q localhost /etc/hosts",
    ),
    "ini.options_absent": (
        "mkdir -p /etc/php/8.2/fpm; printf '[PHP]\\nexpose_php = On\\nengine = On\\n'"
        " >/etc/php/8.2/fpm/php.ini",
        'test "$(cat /etc/php/8.2/fpm/php.ini)" = "$(printf \'[PHP]\\nengine = On\')"',
    ),
    "ini.options_present": (
        "mkdir -p /etc/php/8.2/fpm;"
        " printf '[PHP]\\n;memory_limit = 1M\\nmemory_limit = 128M\\n[x]\\n'"
        " >/etc/php/8.2/fpm/php.ini",
        'test "$(cat /etc/php/8.2/fpm/php.ini)" = "$(printf \'[PHP]\\n;memory_limit ='
        " 1M\\nmemory_limit = 256M\\n[x]')\"",
    ),
    "ini.sections_absent": (
        "printf '[a]\\nb = 1\\n[old]\\nc = 2\\n' >/etc/app.ini",
        'test "$(cat /etc/app.ini)" = "$(printf \'[a]\\nb = 1\')"',
    ),
    "ini.sections_present": (
        "printf '[a]\\nb = 1\\n' >/etc/app.ini",
        "grep -qx '\\[server\\]' /etc/app.ini\ngrep -qx 'b = 1' /etc/app.ini",
    ),
    "user.absent": (
        "useradd -m intern; useradd -m interna; touch /home/intern/f",
        "! getent passwd intern\ngetent passwd interna\n"
        "! test -e /home/intern -o ! -d /home/interna",
    ),
    "user.present": (
        "userdel -r deploy",
        "getent passwd deploy | grep -q ':/home/deploy:/bin/bash$'\n"
        "test \"$(id -Gn deploy)\" = 'deploy www-data'\ntest -d /home/deploy",
    ),
}
WITHOUT = {
    "file.cached": "a machine without a network; tests/laws/file_fetched.py",
    "file.mknod": "no devices are made here; tests/laws/file_more.py",
    "file.not_cached": "as file.cached",
    "file.shortcut": "is refused",
    "ssh_auth.absent": "its key is none",
    "ssh_auth.manage": "its key is none",
    "ssh_auth.present": "its key is none",
}


def example(name: str) -> str:
    """The first example of a page."""
    function = REGISTRY.state(name).function
    page = docstring.read(inspect.getdoc(function) or "", known(function))
    return page.examples[0]


def test_each_example_is_tried() -> None:
    functions = {
        f"{module}.{name}" for module in MODULES for name in REGISTRY.state_functions(module)
    }
    assert functions == EFFECTS.keys() | WITHOUT.keys()


@pytest.mark.parametrize("name", EFFECTS)
def test_the_example_does_what_its_page_says_and_no_more(debian: Debian, name: str) -> None:
    before, after = EFFECTS[name]
    debian.tree(example=example(name))
    undo = (
        "for f in /etc/hosts /etc/fstab /etc/profile /etc/ssh/sshd_config; do cp -p $f{} $f{}; done"
    )
    debian.run(undo.format("", ".saved"))
    try:
        debian.run("mkdir -p /etc/runner")
        debian.run(before, code=None)
        dry = debian.results("sls", "example", "--test")
        real = debian.results("sls", "example")
        assert {key: each["changes"].keys() for key, each in dry.items()} == {
            key: each["changes"].keys() for key, each in real.items()
        }
        for line in filter(None, after.split("\n")):
            debian.run(line)
    finally:
        debian.run(undo.format(".saved", ""))
