# SPDX-License-Identifier: Apache-2.0
"""The arguments that the scenarios of their functions leave out: each has to be tried
(tests/test_laws.py).
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from laws import Scenario, on_machine
from starting import starts

machine = on_machine()


def script(tmp: Path) -> None:
    (tmp / "say.sh").write_text("#!/bin/sh\numask; pwd; echo $A; cat; echo changed=yes\n")


def two_trees(tmp: Path) -> None:
    for name in ("one/a", "one/b/c", "two/a/under", "two/b/d", "two/e"):
        path = tmp / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


HOW: dict[str, Any] = {
    "cwd": "{tmp}",
    "runas": "root",
    "shell": "/bin/sh",
    "env": [{"A": "1"}],
    "stateful": True,
    "umask": "077",
    "output_loglevel": "quiet",
    "hide_output": True,
    "use_vt": True,
    "success_retcodes": [3],
    "success_stdout": ["x"],
    "success_stderr": ["y"],
}
MORE = {"group": "root", "prepend_path": "/opt/bin", "stdin": "in", "timeout": 10}
TEMPLATE = {"template": "jinja", "context": {"a": 1}, "defaults": {"a": 2}, "args": "x"}
DIGEST = hashlib.sha256(b"x").hexdigest()
SIGNED = {
    "signed_by_any": ["0" * 40],
    "signed_by_all": ["0" * 40],
    "keyring": "/no/ring",
    "gnupghome": "/no/home",
}
MOUNTED = {
    "device": "tmpfs",
    "fstype": "tmpfs",
    "opts": ["size=1M", "mode=0700"],
    "persist": False,
    "mkmnt": True,
}
HIDDEN = {
    "device_name_regex": ["x"],
    "extra_mount_invisible_options": ["mode=0700"],
    "bind_mount_copy_active_opts": False,
    "extra_mount_invisible_keys": ["mode"],
    "extra_mount_ignore_fs_keys": {"tmpfs": ["mode"]},
    "extra_mount_translate_options": {"quiet": "silent"},
}
USER = "useradd -m zoe; "
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJtVE3mJYXPjhnMkXvYyPuVFgXVhGxZ9RzGZ5hZbJ8Kq zoe"
KEYS = (
    f"{USER} echo '{KEY}' > /keys; mkdir -p /home/zoe/.ssh; cp /keys"
    " /home/zoe/.ssh/authorized_keys; "
)
FINGERPRINT = hashlib.sha256(base64.b64decode(KEY.split()[1])).digest().hex(":")
KNOWN = f"mkdir -p /etc/ssh; echo 'h {KEY}' > /etc/ssh/ssh_known_hosts; "
OLD = "apt-get install -q -y greeting=1.0; "
TICK = """cat > /etc/init.d/tick <<'X'
#!/bin/sh
### BEGIN INIT INFO
# Provides: tick
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
case "$1" in start) touch /run/tick ;; stop) rm -f /run/tick ;; status) test -e /run/tick ;; esac
X
chmod 755 /etc/init.d/tick; rm -f /run/tick; """
SLEEPER = starts("sleep", "1077")
NO_GPG = {"sig_backend": "x", "skip_verify": True}
EVENT = {
    "data": 1,
    "preload": {"a": 1},
    "with_env": True,
    "with_grains": ["os"],
    "with_pillar": True,
    "show_changed": True,
}
WORK_TREE = {
    "bare": False,
    "template": "/usr/share/git-core/templates",
    "separate_git_dir": "{tmp}/sep",
}
ANSWERS = "echo 'greeting greeting/{{ w }} string {{ v }}' > /srv/answers; "
SEEN = (
    "printf 'greeting greeting/word string hi\\ngreeting greeting/word seen false' > /srv/answers; "
)
ASKED = "echo greeting greeting/word string hi | debconf-set-selections; "
UNSEEN = {"greeting/word": {"type": "seen", "value": False}}
SELECTIONS = {"template": "jinja", "context": {"w": "word"}, "defaults": {"w": "x", "v": "hi"}}
WAITING = {"password": "x", "ignore_timeout": True, "bg": True}
SCENARIOS = [
    Scenario(
        "file.recurse name={tmp}/d source=[salt://one,salt://two] merge=true", setup=two_trees
    ),
    Scenario("cmd.run password=x", {"name": "true"}, fails="password is for Windows"),
    Scenario("cmd.script password=x", {"name": "true"}, fails="password is for Windows"),
    machine("pkg.held name=greeting", OLD, version="1.0"),
    machine("pkg.unheld name=greeting", OLD + "apt-mark hold greeting", version="1.0"),
    machine("pkg.latest name=greeting watch_flags=false", OLD),
    Scenario(
        "file.keyvalue name={tmp}/say.sh key=echo value=$A separator=' ' prune=true", setup=script
    ),
    Scenario("file.append name={tmp}/say.sh text=x show_changes=false", setup=script),
    Scenario("file.prepend name={tmp}/say.sh text=x show_changes=false", setup=script),
    Scenario(
        "file.replace name={tmp}/say.sh pattern=umask repl=café encoding=latin-1 backup=false",
        setup=script,
    ),
    Scenario("ini.sections_present name={tmp}/i sections=[a] separator=:"),
    Scenario("ini.sections_absent name={tmp}/i sections=[a] separator=:", plans=False),
    Scenario(
        "archive.extracted name={tmp}/a source={tmp}/say.sh signature=true source_hash_sig=true",
        {**SIGNED, **NO_GPG},
        script,
        fails="sig_backend: x is none of gpg and asymmetric",
    ),
    Scenario("event.fire_master name=t", EVENT, converges=False),
    Scenario("event.wait name=t data='{a: 1}'", plans=False),
    Scenario("git.present name={tmp}/g shared=group user=root output_encoding=utf-8"),
    Scenario("git.present name={tmp}/g password=x", WORK_TREE),
    Scenario("git.present force=false", {"name": "{tmp}"}, script, fails="is not a git repository"),
    Scenario("git.present name={tmp}/say.sh force=true", setup=script),
    Scenario("git.present name={tmp}/g separate_git_dir=/x", fails="say bare: False"),
    machine("debconf.set_file name=x source=/srv/answers", ANSWERS, **SELECTIONS),
    machine("debconf.set_file name=x source=/srv/answers", ANSWERS, fails="no type 'w' of an"),
    machine("debconf.set_file name=x source=/srv/answers", SEEN),
    machine("debconf.set name=greeting", ASKED, data=UNSEEN),
    machine("debconf.set name=greeting", data=UNSEEN, fails="no question greeting/word of"),
    machine("debconf.set_file name=x source=/srv/nothing", fails="does not exist"),
    machine("pkg.removed name=greeting:all normalize=true ignore_epoch=true", OLD, version="1.0"),
    machine("pkg.purged name=greeting normalize=false ignore_epoch=true", OLD),
    Scenario("cmd.run name='id -gn' group=root root=/", converges=False),
    Scenario("cmd.script name={tmp}/say.sh", {**HOW, **MORE}, script, converges=False),
    Scenario(
        "cmd.script name={tmp}/say.sh bg=true ignore_timeout=true", setup=script, converges=False
    ),
    Scenario("cmd.wait root=/", {"name": "true", **HOW, **MORE}, plans=False),
    Scenario("cmd.wait python_shell=false", {"name": "true", **WAITING}, plans=False),
    Scenario("cmd.wait_script name={tmp}/say.sh", {**HOW, **TEMPLATE}, script, plans=False),
    Scenario(
        "cmd.wait_script name={tmp}/say.sh clean_env=true", {**MORE, **WAITING}, script, plans=False
    ),
    Scenario(
        "file.cached name={tmp}/say.sh source_hash={tmp}/say.sh source_hash_sig=true sig_backend=x",
        SIGNED,
        script,
        fails="sig_backend: x is none of gpg and asymmetric",
    ),
    Scenario("file.hardlink name={tmp}/l target={tmp}/say.sh user=root group=root", setup=script),
    machine("mount.mounted name=/mnt/x", **MOUNTED, **HIDDEN),
    machine(
        "mount.fstab_present name=/dev/vdx fs_file=/mnt/a fs_vfstype=xfs mount=false"
        " match_on=[name]"
    ),
    machine("pkg.latest name=x pkgs=[greeting] cache_valid_time=3600 skip_verify=true", OLD),
    machine(
        "pkg.latest name=greeting only_upgrade=true install_recommends=false refresh=false", OLD
    ),
    machine(
        "pkg.latest name=nosuchpackage fromrepo=x refresh=false", OLD, fails="No information found"
    ),
    machine("pkg.purged name=x pkgs=[greeting]", OLD, version="1.0"),
    machine("pkg.removed name=greeting", OLD, plans=False, version="2.0"),
    machine(
        "service.dead name=tick sig=no-such-process timeout=5 no_block=true", TICK, plans=False
    ),
    machine("service.dead name=tick enable=false", TICK + "update-rc.d tick defaults"),
    machine(
        "service.running name=tick sig='sleep 1077' init_delay=0 timeout=5",
        TICK + SLEEPER,
        plans=False,
    ),
    machine("ssh_auth.absent user=zoe fingerprint_hash_type=sha256", KEYS, name=KEY),
    machine(
        "ssh_auth.manage name=k user=zoe fingerprint_hash_type=md5"
        " config=%h/.ssh/authorized_keys source=null options=null",
        KEYS,
        plans=False,
        ssh_keys=[KEY],
    ),
    machine(
        "ssh_known_hosts.present name=h fingerprint_hash_type=sha256",
        KNOWN,
        plans=False,
        fingerprint=FINGERPRINT,
    ),
    machine("pkgrepo.managed name='deb [trusted=yes] file:/srv ./' copr=a/b refresh=false"),
    machine("service.running name=tick unmask=true unmask_runtime=true", TICK),
    Scenario("pip.uptodate name=x bin_env=/none use_vt=true", fails="there is no /none"),
]
