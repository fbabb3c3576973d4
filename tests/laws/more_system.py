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
    on("mount.swap", SWAPPED, name="/srv/swap", config="/etc/fstab"),
    on("mount.swap", SWAPPED + "swapon -- /srv/swap", name="/srv/swap"),
    on("mount.swap", SWAPPED + "swapon -- /srv/swap", plans=False, name="/srv/swap", persist=False),
    on("locale.present", name="de_DE.UTF-8"),
    on("locale.present", name="de_DE.utf8"),
    on("locale.absent", GERMAN, name="de_DE.UTF-8"),
    on("locale.absent", plans=False, name="de_DE.UTF-8"),
    on("locale.absent", name="C.UTF-8", fails="is not one that locale-gen makes"),
    on(
        "locale.absent",
        GERMAN + "echo LANG=de_DE.UTF-8 >/etc/default/locale",
        name="de_DE.utf8",
        fails="is the locale of the system",
    ),
    on(
        "pkg.uptodate",
        "apt-get install -q -y greeting=1.0",
        name="x",
        pkgs=["greeting"],
        refresh=False,
    ),
    on("cron.env_present", CRON, name="MAILTO", value="me"),
    on("cron.env_present", CRON, name="PATH", value="/bin", user="root"),
    on("cron.env_present", CRON, plans=False, name="MAILTO", value="old"),
    on("cron.env_absent", CRON, name="MAILTO"),
    on("cron.env_absent", CRON, plans=False, name="PATH", user="root"),
    on("service.masked", name="nothing", runtime=True, fails="Failed to mask"),
    on("service.unmasked", plans=False, name="nothing", runtime=False),
    on("pkg.held", name="tar"),
    on("pkg.held", "apt-mark hold tar", plans=False, name="tar"),
    on("pkg.held", "apt-mark hold tar", name="x", pkgs=["gzip"], replace=True),
    on("pkg.held", name="no-such-package", fails="Unable to locate package"),
    on("pkg.held", name="greeting"),
    on("pkg.unheld", "apt-mark hold tar", name="tar"),
    on("pkg.unheld", "apt-mark hold tar", name="x", all=True),
    on("pkg.unheld", plans=False, name="x", pkgs=["tar"]),
    on(
        "pkg.uptodate",
        "apt-get dist-upgrade -y -q",
        plans=False,
        name="all",
        pkgs=["tar"],
        refresh=False,
    ),
    on("debconf.set", name="tzdata", data={"tzdata/Areas": {"type": "select", "value": "Asia"}}),
    on("debconf.set", name=" tzdata ", data={"tzdata/x": {"type": "string", "value": " a  b "}}),
    on("debconf.set", plans=False, name="tzdata"),
    on(
        "debconf.set",
        name="tzdata",
        data={"tzdata/Areas": "Asia"},
        fails="an answer has a `type` and a `value`",
    ),
    on(
        "ssh_known_hosts.present",
        KNOWN,
        name="other",
        key=KEY,
        enc="ed25519",
        port=2222,
        config="/k/known",
    ),
    on(
        "ssh_known_hosts.present",
        KNOWN,
        plans=False,
        name="h",
        key=KEY,
        enc="ed25519",
        hash_known_hosts=False,
        timeout=1,
    ),
    on("ssh_known_hosts.present", KNOWN, plans=False, name="h", enc="ed25519"),
    on(
        "ssh_known_hosts.present",
        name="h",
        key=KEY,
        fails='Required argument "enc" if using "key" argument.',
    ),
    on(
        "ssh_known_hosts.present", name="h", key=KEY, enc="rsa", fingerprint="a:b", fails="not both"
    ),
    on("ssh_known_hosts.absent", name="h", config="known", fails="specify an absolute"),
    on("ssh_known_hosts.present", name="h", user="nobody-here", fails="does not exist"),
    on("ssh_known_hosts.present", KNOWN, name="127.0.0.1", timeout=1, fails="Unable to receive"),
    on("ssh_known_hosts.absent", KNOWN, name="h"),
    on(
        "ssh_known_hosts.absent",
        KNOWN,
        plans=False,
        name="other",
        config="/etc/ssh/ssh_known_hosts",
    ),
    on("ssh_known_hosts.absent", name="h", user="nobody-here", fails="does not exist"),
    Scenario(
        "event.send",
        {"name": "tag", "data": {"a": 1}, "with_grains": ["os"], "with_pillar": True},
        converges=False,
    ),
    Scenario(
        "event.send",
        {"name": "tag", "show_changed": False, "preload": {"x": 1}, "with_env": True},
        converges=False,
    ),
    Scenario(
        "file.tidied",
        {**D, "age": 30, "matches": [r".*\.log$"], "time_comparison": "mtime"},
        old_files,
    ),
    Scenario(
        "file.tidied",
        {**D, **OLD, "age_size_only": "age", "exclude": ["sub"], "rmdirs": True},
        old_files,
    ),
    Scenario("file.tidied", {**D, "size": "10k", "age_size_only": "size"}, old_files, plans=False),
    Scenario(
        "file.tidied",
        {
            **D,
            **OLD,
            "size": 50,
            "age_size_logical_operator": "AND",
            "full_path_match": True,
            "followlinks": True,
        },
        old_files,
    ),
    Scenario(
        "file.tidied",
        {**D, "time_comparison": "btime"},
        old_files,
        fails="there is no 'btime'",
        plans=False,
    ),
    Scenario("file.tidied", {**D, "rmlinks": False}, fails="is not a directory", plans=False),
    Scenario("file.hardlink", T, target),
    Scenario("file.hardlink", T, linked, plans=False, stays=["t", "l"]),
    Scenario(
        "file.hardlink", {**T, "name": "{tmp}/a/b/l", "makedirs": True, "dir_mode": "0750"}, target
    ),
    Scenario(
        "file.hardlink",
        {**T, "name": "{tmp}/other"},
        target,
        fails="File exists where",
        plans=False,
    ),
    Scenario("file.hardlink", {**T, "name": "{tmp}/other", "force": True}, target),
    Scenario(
        "file.hardlink",
        {**T, "name": "{tmp}/folder", "force": True},
        target,
        fails="to directory",
        plans=False,
    ),
    Scenario(
        "file.hardlink",
        {**T, "user": "no-one-here"},
        target,
        fails="User no-one-here does not",
        plans=False,
    ),
    Scenario(
        "file.hardlink",
        {**T, "target": "{tmp}/folder"},
        target,
        fails="from directory",
        plans=False,
    ),
    Scenario("file.hardlink", T, fails="does not exist", plans=False),
]
