# SPDX-License-Identifier: Apache-2.0
"""What it costs that a dry run knows what is in the packages that it plans.

    python bench/foreseen_packages.py [nginx|apache2 [PACKAGE ...]]

As root on Debian: a throw-away machine installs the packages from a server that gives 5 MB a
second. Prints seconds, the least of five: of `apt-get install --download-only`, of the dry run of
a state that installs them and one that looks at a file of theirs, which fetches them, of a second
one, and of one with `foresee: {packages: never}`.

On two cores, with nginx, redis-server, logrotate, fail2ban and rsyslog (3 MB): 0.56 s, 0.81 s, and
0.05 s more in the second dry run; with apache2, mariadb-server, php-fpm and git (31 MB), and a file
of apache2's: 6.1 s, 6.9 s (1.12 times), and 0.41 s more, in which the scripts of 37 packages are
followed.
"""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/support")]

from debian import Debian, debian  # noqa: E402
from debian_archive import FOLDER, INDEX  # noqa: E402
from debian_layer import layer_or_skip  # noqa: E402

PACKAGES = ("nginx", "redis-server", "logrotate", "fail2ban", "rsyslog")
ADDRESS, CACHE = "10.9.8.7:8000", "/var/cache/apt/archives"
FILES = {"nginx": "/etc/nginx/nginx.conf", "apache2": "/etc/apache2/ports.conf"}
TIMES = 5


def serve(machine: Debian, folder: Path) -> None:
    """Let a machine install what is in a folder of this computer."""
    machine.run(f"mkdir -p {FOLDER}; rm -f /etc/apt/sources.list.d/*")
    for archive in folder.glob("*.deb"):
        machine.path(f"{FOLDER}/{archive.name}").write_bytes(archive.read_bytes())
    machine.run(INDEX)
    machine.run(
        "ip link add net0 type bridge; ip addr add 10.9.8.7/24 dev net0; ip link set net0 up"
    )
    machine.start("sh", "-c", f"cd {FOLDER}; exec python3 -m http.server 8000")
    machine.until(f"python3 -c 'import urllib.request as u; u.urlopen(\"http://{ADDRESS}/\")'")
    machine.write("/etc/apt/sources.list.d/own.list", f"deb [trusted=yes] http://{ADDRESS} ./\n")
    machine.write("/etc/apt/apt.conf.d/zz-own", 'Acquire::http::Dl-Limit "5000";\n')
    machine.run("apt-get -q update")


def least(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    seconds = []
    for _ in range(TIMES):
        before()
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def main() -> None:
    names = tuple(sys.argv[1:]) or PACKAGES
    for room in ("runner", "states", "modules"):
        compileall.compile_dir(ROOT / room, quiet=1)
    with tempfile.TemporaryDirectory() as folder, debian(layer_or_skip("base")) as machine:
        fetch = ["apt-get", "-qq", "-y", "-o", f"Dir::Cache::archives={folder}/"]
        subprocess.run([*fetch, "install", "--download-only", *names], check=True)
        serve(machine, Path(folder))
        states = {
            "all": {"pkg.installed": [{"pkgs": [*names]}]},
            "file": {"file.managed": [{"name": FILES[names[0]]}, {"contents": "x"}]},
        }
        machine.tree(all=json.dumps(states))

        def dry(setting: str) -> Callable[[], object]:
            machine.write("/etc/runner/runner.yaml", f"foresee: {{packages: {setting}}}\n")
            return lambda: machine.runner("sls", "all", "--test")

        def clean() -> None:
            machine.run(f"rm -rf {CACHE}/*.deb /var/cache/runner/packages")

        argv = ("apt-get", "-q", "-y", "install", "--download-only", *names)
        never = least(dry("never"))
        fetching = least(lambda: machine.run(*argv), clean)
        first = least(dry("auto"), clean)
        again = least(dry("auto"))
        print(f"apt-get --download-only {fetching:.2f} s")
        print(f"first dry run {first:.2f} s, {first / fetching:.2f} times as much")
        print(f"second one {again:.2f} s, {again - never:.2f} s more than without ({never:.2f} s)")


if __name__ == "__main__":
    main()
