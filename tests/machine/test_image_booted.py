# SPDX-License-Identifier: Apache-2.0
"""An image that a tree has made is started: what was left to the boot is there, its first run has
done the rest, and a run finds nothing to do.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import debian as machines
from debian import RUNNER, Debian, NoDebian
from debian_layer import lacking

TREE = """
tick.service:
  systemd.unit:
    - contents: |
        [Service]
        ExecStart=/bin/sleep infinity
        [Install]
        WantedBy=multi-user.target
    - enable: True
    - running: True
cron:
  service.dead: [enable: False]
/etc/issue.net:
  file.managed: [contents: made]
made:
  user.present: [linger: True]
/data:
  mount.mounted: [device: tmpfs, fstype: tmpfs, mkmnt: True]
at the boot:
  cmd.run:
    - name: uname -n >/var/lib/started
    - onlyif: test -d /run/systemd/system
    - creates: /var/lib/started
"""
# what the files of this computer and of the layer become below /image, beside which it keeps them
IMAGE = """mkdir -p /image /tmp/upper /tmp/work
mount -t overlay image -o lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/work /image
"""


def test_what_is_made_is_what_starts(debian: Debian, layer: Path, tmp_path: Path) -> None:
    debian.run(IMAGE)
    debian.tree(image=TREE, top="base: {'*': [image]}")
    debian.run(
        "mkdir -p /image/root/tree /image/etc/runner; cp /srv/runner/states/* /image/root/tree"
    )
    debian.write("/image/etc/runner/runner.yaml", "file_roots: {base: [/root/tree]}\n")
    debian.run(f"cp {RUNNER} /tmp/own; rm /image{RUNNER}; cp /tmp/own /image{RUNNER}")
    dry = debian.runner("highstate", "--root", "/image", "--test", "--image").stdout
    assert "Unit tick.service starts at boot\n  Services of user made start at boot" in dry
    assert "tmpfs is mounted at /data at boot" in dry
    assert "5 changed, 1 unchanged" in debian.runner("highstate", "--root", "/image").stdout
    assert "6 unchanged" in debian.runner("highstate", "--root", "/image").stdout
    debian.runner("schedule", "install", "--first-boot", "--root", "/image")
    debian.run("umount /image; tar --xattrs --xattrs-include='*' -C /tmp/upper -cf /image.tar .")
    image = tmp_path / "image.tar"
    shutil.copy(layer, image)
    made = debian.path("/image.tar")
    subprocess.run(["tar", "--concatenate", "-f", image, made], check=True)
    try:
        with machines.debian(image) as started:
            _look(started)
    except NoDebian as reason:
        lacking(reason)


def _look(started: Debian) -> None:
    started.until("test ! -e /etc/systemd/system/multi-user.target.wants/runner-first-boot.service")
    assert started.read("systemctl is-active tick cron; :").split() == ["active", "inactive"]
    assert started.read("findmnt -no FSTYPE /data") == "tmpfs"
    assert started.read("cat /var/lib/started") == started.read("uname -n")
    assert started.read("id -u made") in started.read("ls /run/user").split()
    assert "first run: done" in started.runner("schedule", "status").stdout
    assert "6 unchanged" in started.runner("highstate").stdout
