# SPDX-License-Identifier: Apache-2.0
"""The Ansible collection over ssh: sudo with its password, few round trips, and a pillar that is
nowhere but in what the states write.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from debian import ROOT, Debian

PREPARE = """
mkdir -p /run/sshd /srv/site; ssh-keygen -A >/dev/null; /usr/sbin/sshd
useradd -m -s /bin/sh zoe; echo 'zoe:opens sudo' | chpasswd
echo 'zoe ALL=(ALL) ALL' >/etc/sudoers.d/zoe
ssh-keygen -q -t ed25519 -N '' -f /root/key
install -d -o zoe -m 700 /home/zoe/.ssh
install -o zoe -m 600 /root/key.pub /home/zoe/.ssh/authorized_keys
"""
TREE = {
    "runner.yaml": "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n",
    "pillar/top.sls": "base: {'*': [site]}",
    "pillar/site.sls": "site:\n  token: {{ 'NEKOT' | lower | reverse }}-of-{{ grains.id }}\n",
    "states/top.sls": "base: {'*': [site]}",
    "states/site.sls": "/srv/written:\n  file.managed:\n    - mode: '0600'\n    - contents: |\n"
    "        {{ pillar.site.token }} {{ grains.username }}\n"
    "        {{ salt['spy.seen'](pillar.site.token) }}\n",
}
SECRET = "token-of-web1"
LINK = "/usr/local/bin/runner-of-bundle"
PLAY = [
    {
        "hosts": "all",
        "gather_facts": False,
        "roles": [{"role": "runner.runner.bootstrap", "become": True, "runner_link": LINK}],
    },
    {
        "hosts": "all",
        "gather_facts": False,
        "become": True,
        "tasks": [
            {"name": "first", "runner.runner.highstate": {"config": "/srv/site/runner.yaml"}},
            {"name": "second", "runner.runner.highstate": {"config": "/srv/site/runner.yaml"}},
            {
                "name": "as the user",
                "runner.runner.call": {"fun": "grains.get", "args": ["username"]},
                "become": False,
                "register": "user",
            },
            {"name": "tell", "ansible.builtin.debug": {"var": "user.salt.local"}},
        ],
    },
]
INVENTORY = {
    "all": {
        "hosts": {"web1": {"ansible_host": "127.0.0.1"}},
        "vars": {
            "ansible_user": "zoe",
            "ansible_become_password": "opens sudo",
            "ansible_ssh_private_key_file": "/root/key",
            "ansible_ssh_common_args": "-o StrictHostKeyChecking=no",
        },
    }
}
# but for what undo goes by, the contents of files for their owner alone
LOOK = (
    "find /var /etc /root /home /tmp /run /opt /srv /usr/local /dev/shm -xdev -newer /srv/begun"
    f" -type f -not -path '*/undo/*.contents' -print0 | xargs -0r grep -laF -e {SECRET} || true"
)


def test_a_host_with_sshd(debian: Debian) -> None:
    debian.run(PREPARE)
    spy: Any = Path(__file__).parents[1] / "support/spy.py"
    debian.write("/srv/site/states/_modules/spy.py", spy.read_text())
    for path, text in TREE.items():
        debian.write(f"/srv/site/{path}", text)
    debian.write("/srv/play.json", json.dumps(PLAY))
    debian.write("/srv/inventory.yml", json.dumps(INVENTORY))
    collections = "from runner.tools.fleet.collection import path; path('/srv/collections')"
    debian.run(
        sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {collections}"
    )
    debian.run("touch /srv/begun")
    argv = [f"{Path(sys.executable).parent}/ansible-playbook", "-vvv", "-i", "/srv/inventory.yml"]
    variables = ["ANSIBLE_COLLECTIONS_PATH=/srv/collections", f"PYTHONPATH={ROOT}"]
    done = debian.run("env", *variables, *argv, "/srv/play.json", code=None)
    assert done.returncode == 0, done.stdout[-8000:]

    assert debian.read("cat /srv/written") == f"{SECRET} root\n[]"
    assert debian.read(LOOK) == "/srv/written"
    assert SECRET not in done.stdout + done.stderr
    parts = done.stdout.split("\nTASK [")
    trips = {part.partition("]")[0]: part.count("SSH: EXEC") for part in parts}
    assert (trips["first"], trips["second"]) == (3, 2)
    assert (parts[-4].count("changed: [web1]"), parts[-3].count("ok: [web1]")) == (1, 1)
    assert '"user.salt.local": "zoe"' in done.stdout
    assert debian.read(f"{LINK} call grains.get username --out json").split() == [
        "{",
        '"local":',
        '"root"',
        "}",
    ]
    assert debian.read("stat -c '%a %U' /var/lib/runner/fleet") == "700 root"
