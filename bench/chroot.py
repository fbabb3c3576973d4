# SPDX-License-Identifier: Apache-2.0
"""An image made with `runner --root`, beside Salt in a chroot.

python bench/chroot.py ROOT SALT-CALL
    ROOT: as `bench/offline.py` takes it. SALT-CALL: of a virtual environment of Salt, which the
    chroot sees with its Python. Each makes a copy of ROOT by the same tree (packages, accounts, 100
    templates, a cron job, an enabled service), then finds nothing to do, the least of three. Prints
    CPU seconds, of apt and all else that is started too, and seconds on the clock. Root.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Cost, Program, cost

TREE = """
packages:
  pkg.installed: [pkgs: [nginx-light, git, sudo]]
www:
  group.present: []
deploy:
  user.present: [shell: /bin/bash, groups: [www, sudo], require: [group: www]]
{% for number in range(100) %}
/etc/web/site{{ number }}.conf:
  file.managed: [source: salt://site.conf, template: jinja, makedirs: True, mode: '0640',
    group: www, context: {number: {{ number }}}]
{% endfor %}
/etc/nginx/sites-enabled/default:
  file.absent: [require: [pkg: packages]]
nginx:
  service.enabled: [require: [pkg: packages]]
backup:
  cron.present: [name: /usr/local/bin/backup, user: deploy, hour: 3, require: [user: deploy]]
"""
SITE = "# {{ grains.id }}\nserver { listen {{ 8000 + number }}; root /srv/{{ number }}; }\n"
ENTER = """
mount --make-rprivate /; cd "$0"
mount -t proc proc proc; mount -t sysfs -o ro sysfs sys; mount --rbind /dev dev
mount --bind /etc/resolv.conf etc/resolv.conf
for folder in $1; do mkdir -p ".$folder"; mount --bind "$folder" ".$folder"; done
shift; exec chroot . "$@"
"""


def tree(folder: Path) -> None:
    config = {"id": "web", "file_client": "local", "file_roots": {"base": [str(folder)]}}
    (folder / "load.sls").write_text(TREE)
    (folder / "site.conf").write_text(SITE)
    for name in ("minion", "runner.yaml"):
        (folder / name).write_text(json.dumps(config))


def runner(image: Path, folder: Path, _: str) -> Program:
    program = str(Path(sys.executable).with_name("runner"))
    words = ["--config", str(folder / "runner.yaml"), "--root", str(image)]
    return Program([program, "sls", "load", *words])


def salt(image: Path, folder: Path, command: str) -> Program:
    environment = Path(command).absolute().parent.parent
    home = subprocess.check_output(
        [environment / "bin/python", "-c", "import sys; print(sys.base_prefix)"], text=True
    )
    shared = f"{environment} {home.strip()} {folder}"
    words = [command, "--local", "-c", str(folder), "-l", "quiet", "--retcode-passthrough"]
    enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", ENTER]
    return Program([*enter, str(image), shared, *words, "state.sls", "load"])


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, command = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="chroot-") as scratch:
        folder = Path(scratch, "tree")
        folder.mkdir()
        tree(folder)
        for name, make in (("runner", runner), ("Salt", salt)):
            image = Path(scratch, name)
            subprocess.run(["cp", "-a", "--reflink=auto", root, str(image)], check=True)
            program = make(image, folder, command)
            first = cost(program)
            again = Cost(*map(min, zip(*[cost(program) for _ in range(3)], strict=True)))
            for told, one in (("first run", first), ("nothing to do", again)):
                print(f"{name}, {told}: {one.cpu:.2f} s CPU, {one.wall:.2f} s", flush=True)
            shutil.rmtree(image)


if __name__ == "__main__":
    main()
