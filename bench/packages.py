# SPDX-License-Identifier: Apache-2.0
"""What a dry run of many packages that are not installed costs, with the apt of this machine.

    python bench/packages.py [NUMBER OF STATES ...]

A state for each package: first those of a server, then taken evenly from all that apt knows. Prints
CPU seconds of all processes together, how many times those of one `apt-get -s install` of one
package they are, and how often apt was asked. The target: one question to the solver, however many
states, unless packages do not go together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import RUNNER, Program, cost, prepare_environment

# notes the call; apt keeps its compiled lists, as it does where no container image forbids it
COUNT = """#!/bin/sh
echo {name} "$@" >>{folder}/asked
exec /usr/bin/{name} -o Dir::Cache::pkgcache={folder}/pkgcache.bin \
    -o Dir::Cache::srcpkgcache={folder}/srcpkgcache.bin "$@"
"""

# without one that takes another away, as chrony does with systemd-timesyncd
SERVER = """
    nginx redis-server memcached haproxy keepalived fail2ban htop iotop iftop sysstat tcpdump nmap
    mtr-tiny ethtool screen tmux tree ncdu jq fzf zsh fish mc pwgen unzip zip p7zip-full lz4 pigz pv
    parallel socat whois logwatch needrestart rsync lsof strace dnsutils bind9-host apache2-utils
    iperf3 nfs-common cifs-utils lvm2 mdadm smartmontools hdparm
"""


def packages(count: int, typical: bool) -> list[str]:
    """Names of packages that are not installed. typical: those of a server."""
    listed = subprocess.run(
        ["apt-cache", "pkgnames"], capture_output=True, text=True, check=True
    ).stdout.split()
    argv = ["dpkg-query", "-Wf", "${Package}\n"]
    installed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    missing = set(listed) - set(installed)
    if typical:
        return [name for name in SERVER.split() if name in missing][:count]
    names = sorted(name for name in missing if not name.startswith("lib"))
    return names[:: max(len(names) // count, 1)][:count]


def counted(folder: str) -> None:
    """Programs that note each call, first on the PATH."""
    for name in ("apt-get", "apt-cache"):
        program = Path(folder, name)
        program.write_text(COUNT.format(name=name, folder=folder))
        program.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def dry_run(folder: str, names: list[str]) -> str:
    """Return what a dry run of a state for each name costs."""
    tree = {name: {"pkg.installed": []} for name in names}
    Path(folder, "many.sls").write_text(json.dumps(tree))
    question = Program(["apt-get", "-s", "-q", "install", "--", names[0]])
    cost(question)  # makes apt's compiled lists
    least = cost(question).cpu
    Path(folder, "asked").unlink()
    where = ["--config", f"{folder}/runner.yaml", "--cachedir", f"{folder}/cache"]
    used = cost(Program([sys.executable, "-c", RUNNER, "sls", "many", "--test", "-q", *where]))
    calls = Path(folder, "asked").read_text().splitlines()
    simulations = sum(" -s " in call for call in calls)
    return (
        f"{used.cpu:6.2f} s, {used.cpu / least:.1f} times one question of {least:.2f} s;"
        f" apt was asked {len(calls)} times, {simulations} of them its solver"
    )


def main() -> None:
    """Measure dry runs of growing trees."""
    prepare_environment()
    with tempfile.TemporaryDirectory() as folder:
        counted(folder)
        Path(folder, "runner.yaml").write_text(
            json.dumps({"file_roots": {"base": [folder]}, "id": "bench"})
        )
        for typical in (True, False):
            print("packages of a server" if typical else "any packages")
            for count in [int(word) for word in sys.argv[1:]] or [1, 10, 40]:
                names = packages(count, typical)
                print(f"{len(names):4} packages {dry_run(folder, names)}", flush=True)


if __name__ == "__main__":
    main()
