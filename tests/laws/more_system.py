# SPDX-License-Identifier: Apache-2.0
"""How the rest of cron, service, pkg and their neighbours is tried."""

from __future__ import annotations

import os
from pathlib import Path

from laws import Scenario, on_machine
from played_swap import PLAYED

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJtVE3mJYXPjhnMkXvYyPuVFgXVhGxZ9RzGZ5hZbJ8Kq"
FIRST = "# Lines below here are managed by Salt, do not edit"
CRON = f"apt-get install -y -q cron; printf '%s\\n' '{FIRST}' 'MAILTO=old' | crontab -u root -; "
KNOWN = (
    f"apt-get install -y -q openssh-client; mkdir -p /etc/ssh; echo 'h ssh-ed25519 {KEY}' >"
    " /etc/ssh/ssh_known_hosts; "
)


on = on_machine()


def old_files(tmp: Path) -> None:
    (tmp / "d/sub").mkdir(parents=True)
    for name in ("d/old.log", "d/sub/old.txt", "d/new.log"):
        (tmp / name).write_text("x" * 100)
    for name in ("d/old.log", "d/sub/old.txt"):
        os.utime(tmp / name, (1, 1))


def target(tmp: Path) -> None:
    (tmp / "t").write_text("t")
    (tmp / "other").write_text("o")
    (tmp / "folder").mkdir()


def linked(tmp: Path) -> None:
    target(tmp)
    (tmp / "l").hardlink_to(tmp / "t")


D = {"name": "{tmp}/d"}
OLD = {"age": 30, "time_comparison": "mtime"}
T = {"name": "{tmp}/l", "target": "{tmp}/t"}
GERMAN = "echo 'de_DE.UTF-8 UTF-8' >>/etc/locale.gen; locale-gen >/dev/null; "
SWAPPED = f"{PLAYED} head -c 40960 /dev/zero >/srv/swap; mkswap /srv/swap; "
SCENARIOS = [
    on("mount.swap name=/srv/swap config=/etc/fstab", SWAPPED),
    on("mount.swap name=/srv/swap", SWAPPED + "swapon -- /srv/swap"),
    on("mount.swap name=/srv/swap persist=false", SWAPPED + "swapon -- /srv/swap", plans=False),
    on("locale.present name=de_DE.UTF-8"),
    on("locale.present name=de_DE.utf8"),
    on("locale.absent name=de_DE.UTF-8", GERMAN),
    on("locale.absent name=de_DE.UTF-8", plans=False),
    on("locale.absent name=C.UTF-8", fails="is not one that locale-gen makes"),
    on(
        "locale.absent name=de_DE.utf8",
        GERMAN + "echo LANG=de_DE.UTF-8 >/etc/default/locale",
        fails="is the locale of the system",
    ),
    on("pkg.uptodate name=x pkgs=[greeting] refresh=false", "apt-get install -q -y greeting=1.0"),
    on("cron.env_present name=MAILTO value=me", CRON),
    on("cron.env_present name=PATH value=/bin user=root", CRON),
    on("cron.env_present name=MAILTO value=old", CRON, plans=False),
    on("cron.env_absent name=MAILTO", CRON),
    on("cron.env_absent name=PATH user=root", CRON, plans=False),
    on("service.masked name=nothing runtime=true", fails="Failed to mask"),
    on("service.unmasked name=nothing runtime=false", plans=False),
    on("pkg.held name=tar"),
    on("pkg.held name=tar", "apt-mark hold tar", plans=False),
    on("pkg.held name=x pkgs=[gzip] replace=true", "apt-mark hold tar"),
    on("pkg.held name=no-such-package", fails="Unable to locate package"),
    on("pkg.held name=greeting"),
    on("pkg.unheld name=tar", "apt-mark hold tar"),
    on("pkg.unheld name=x all=true", "apt-mark hold tar"),
    on("pkg.unheld name=x pkgs=[tar]", plans=False),
    on("pkg.uptodate name=all pkgs=[tar] refresh=false", "apt-get dist-upgrade -y -q", plans=False),
    on("debconf.set name=tzdata data='{tzdata/Areas: {type: select, value: Asia}}'"),
    on("debconf.set name=' tzdata '", data={"tzdata/x": {"type": "string", "value": " a  b "}}),
    on(
        "debconf.set name=tzdata",
        "echo tzdata tzdata/many multiselect a, b | debconf-set-selections; "
        "echo tzdata tzdata/no string | debconf-set-selections; ",
        data={
            "tzdata/many": {"type": " multiselect", "value": ["a", "b"]},
            "tzdata/no": {"type": "string", "value": None},
        },
        plans=False,
    ),
    on("debconf.set name=tzdata", plans=False),
    on(
        "debconf.set name=tzdata data='{tzdata/Areas: Asia}'",
        fails="an answer has a `type` and a `value`",
    ),
    on("ssh_known_hosts.present name=other enc=ed25519 port=2222 config=/k/known", KNOWN, key=KEY),
    on(
        "ssh_known_hosts.present name=h enc=ed25519 hash_known_hosts=false timeout=1",
        KNOWN,
        plans=False,
        key=KEY,
    ),
    on("ssh_known_hosts.present name=h enc=ed25519", KNOWN, plans=False),
    on(
        "ssh_known_hosts.present name=h",
        key=KEY,
        fails='Required argument "enc" if using "key" argument.',
    ),
    on("ssh_known_hosts.present name=h enc=rsa fingerprint=a:b", key=KEY, fails="not both"),
    on("ssh_known_hosts.absent name=h config=known", fails="specify an absolute"),
    on("ssh_known_hosts.present name=h user=nobody-here", fails="does not exist"),
    on("ssh_known_hosts.present name=127.0.0.1 timeout=1", KNOWN, fails="Unable to receive"),
    on("ssh_known_hosts.absent name=h", KNOWN),
    on("ssh_known_hosts.absent name=other config=/etc/ssh/ssh_known_hosts", KNOWN, plans=False),
    on("ssh_known_hosts.absent name=h user=nobody-here", fails="does not exist"),
    Scenario(
        "event.send name=tag data='{a: 1}' with_grains=[os] with_pillar=true", converges=False
    ),
    Scenario(
        "event.send name=tag show_changed=false preload='{x: 1}' with_env=true", converges=False
    ),
    Scenario("file.tidied age=30 matches='[.*\\.log$]' time_comparison=mtime", D, old_files),
    Scenario("file.tidied age_size_only=age exclude=[sub] rmdirs=true", {**D, **OLD}, old_files),
    Scenario("file.tidied size=10k age_size_only=size", D, old_files, plans=False),
    Scenario(
        "file.tidied size=50 age_size_logical_operator=AND full_path_match=true followlinks=true",
        {**D, **OLD},
        old_files,
    ),
    Scenario("file.tidied time_comparison=btime", D, old_files, fails="there is no 'btime'"),
    Scenario("file.tidied rmlinks=false", D, fails="is not a directory"),
    Scenario("file.hardlink", T, target),
    Scenario("file.hardlink", T, linked, plans=False, stays=["t", "l"]),
    Scenario("file.hardlink name={tmp}/a/b/l makedirs=true", {**T, "dir_mode": "0750"}, target),
    Scenario("file.hardlink name={tmp}/other", T, target, fails="File exists where"),
    Scenario("file.hardlink name={tmp}/other force=true", T, target),
    Scenario("file.hardlink name={tmp}/folder force=true", T, target, fails="to directory"),
    Scenario("file.hardlink user=no-one-here", T, target, fails="User no-one-here does not"),
    Scenario("file.hardlink target={tmp}/folder", T, target, fails="from directory"),
    Scenario("file.hardlink name={tmp}/a/b/l", T, target, fails="for hard link is not present"),
    Scenario("file.hardlink", T, fails="does not exist"),
]
