# SPDX-License-Identifier: Apache-2.0
"""A machine of a cloud: cloud-init says who it is, and starts the first run."""

from __future__ import annotations

import itertools
import textwrap
from pathlib import Path

import yaml
from debian import Debian

LAYER = "cloud"
SEED = "/var/lib/cloud/seed/nocloud"
PAGE = (Path(__file__).parents[2] / "docs/images.md").read_text()
URL = "https://git.example.org/ops/site.git"


def example(name: str) -> str:
    """The first block that is indented behind a name on the page of images."""
    lines = PAGE.partition(f"**{name}**")[2].splitlines()[1:]
    block = itertools.dropwhile(lambda line: not line.startswith("    "), lines)
    kept = itertools.takewhile(lambda line: not line or line.startswith("    "), block)
    return textwrap.dedent("\n".join(kept))


TREE = "base:\n  '*': [web]\n"
WEB = "/etc/web:\n  file.managed: [contents: {{ grains.id }}, mode: '0640']\n"
ORIGIN = """cd /srv/site; git init -q -b main .; git add .
git -c user.name=a -c user.email=a@b.c commit -q -m site
"""


def test_cloud_init_starts_the_first_run(debian: Debian) -> None:
    debian.write("/srv/site/states/top.sls", TREE)
    debian.write("/srv/site/states/web.sls", WEB)
    debian.run(ORIGIN)
    user_data = example("cloud-init")
    assert URL in user_data
    debian.write(f"{SEED}/user-data", f"{user_data.replace(URL, '/srv/site')}\nlocale: false\n")
    debian.write(f"{SEED}/meta-data", "instance-id: web1\nlocal-hostname: web1\n")
    for stage in ("init --local", "init", "modules --mode=config", "modules --mode=final"):
        debian.run(f"cloud-init {stage}")
    assert debian.read("cat /etc/web; uname -n") == "web1\nweb1"
    assert "runner pull" in debian.read("runner history")


def test_what_other_installers_are_given(debian: Debian) -> None:
    """By what reads it: debconf, systemd; one unit of Butane, whose own program is not had here."""
    debian.write("/root/preseed", example("Preseed").splitlines()[0] + "\n")
    assert URL in debian.read("cat /root/preseed")
    debian.run("debconf-set-selections -c /root/preseed")
    units = yaml.safe_load(example("Ignition"))["systemd"]["units"]
    assert [unit["name"] for unit in units] == ["first-run.service"]
    debian.write("/etc/systemd/system/first-run.service", units[0]["contents"])
    assert debian.read("systemd-analyze verify first-run.service 2>&1") == ""
