# SPDX-License-Identifier: Apache-2.0
"""A machine of a cloud: cloud-init says who it is, and starts the first run."""

from __future__ import annotations

from debian import Debian

LAYER = "cloud"
SEED = "/var/lib/cloud/seed/nocloud"
# the example of docs/images.md, with a tree that is there already
USER_DATA = """#cloud-config
locale: false
write_files:
  - path: /etc/runner/runner.yaml
    content: |
      id: web1
      tree: {remote: /srv/site}
runcmd:
  - [runner, pull]
"""
TREE = "base:\n  '*': [web]\n"
WEB = "/etc/web:\n  file.managed: [contents: {{ grains.id }}, mode: '0640']\n"
ORIGIN = """cd /srv/site; git init -q -b main .; git add .
git -c user.name=a -c user.email=a@b.c commit -q -m site
"""


def test_cloud_init_starts_the_first_run(fresh: Debian) -> None:
    fresh.write("/srv/site/states/top.sls", TREE)
    fresh.write("/srv/site/states/web.sls", WEB)
    fresh.run(ORIGIN)
    fresh.write(f"{SEED}/user-data", USER_DATA)
    fresh.write(f"{SEED}/meta-data", "instance-id: web1\nlocal-hostname: web1\n")
    for stage in ("init --local", "init", "modules --mode=config", "modules --mode=final"):
        fresh.run(f"cloud-init {stage}")
    assert fresh.read("cat /etc/web; uname -n") == "web1\nweb1"
    assert "runner pull" in fresh.read("runner history")
