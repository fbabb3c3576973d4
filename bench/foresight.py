# SPDX-License-Identifier: Apache-2.0
"""How far a dry run sees ahead, compared with the real run state by state.

python bench/foresight.py [FIRST [LAST]]
    chains of 20 random states on a scratch folder (those of tests/test_foresight.py): files,
    directories, links, copies, renames and edits on ten paths, so that nearly every state meets
    what states before it have made. Prints what the two runs report otherwise, then counts.
python bench/foresight.py [--dnf | --zypper | --pacman] FOLDER[:SLS,...] ...
    formulas, each on a throw-away machine of its own (root on Debian): a folder is a root of
    states with an example of its pillar (pillar.example, or test/salt/pillar/default.sls). Without
    SLS names the formula's own (NAME of NAME-formula) is applied. The machine has the packages of
    PACKAGES (FEW_PACKAGES but for apt) at hand, and no network. Prints states that are undecided or
    wrong, then counts. A state is wrong where the dry run said something else than what the real
    one did: failed, a changed key, a diff.

Of the 100 chains of the seeds 200 to 299 (2,000 states) 98 were equal. One differed in the order in
which file.tidied lists files; in one a link led to itself, which the dry run refused and the real
run replaced.

Of 62 public formulas (those of saltstack-formulas) 48 run on such a machine; the others compile
with none of their examples, or need the network. Of 504 states 492 were right, none wrong, two
undecided (a download; whether a script in Perl of postfix's package adds an alias), and 10 failed
in the real run, as such machines have no clock, kernel or network of their own. ufw-formula has
states of its own, which say in a dry run what they like: 18 of its 25 states are undecided.

With dnf, zypper and pacman, which have Debian's packages packed anew (bench/foreign_packages.py),
of 96 states of 15 formulas (chrony, cron, haproxy, keepalived, logrotate, memcached, nginx, redis,
rsyslog, snmp, sudoers, tmux, unbound, vsftpd, vim) 91 were right with each, and 5 failed in the
real run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/support")]

import debian  # noqa: E402
import debian_layer  # noqa: E402
from command import Machine  # noqa: E402
from foreign_packages import packed_anew  # noqa: E402
from test_foresight import differing  # noqa: E402

# what formulas install
PACKAGES = (
    *("redis-server", "redis-sentinel", "nginx", "chrony", "haproxy", "rsyslog", "fail2ban"),
    *("logrotate", "sudo", "apache2", "openssh-server", "postgresql", "mariadb-server", "vim"),
    *("libapache2-mod-php", "php-fpm", "php-mysql", "php-curl", "php-xml", "php-gd", "zsh", "git"),
    *("docker.io", "libpam-google-authenticator", "policykit-1", "unbound", "bind9", "snmpd"),
    *("dovecot-core", "postfix", "vsftpd", "nfs-kernel-server", "samba", "memcached"),
    *("rabbitmq-server", "squid", "keepalived", "iptables-persistent", "collectd"),
    *("ufw", "cron", "isc-dhcp-server", "varnish", "monit", "screen", "tmux", "htop"),
    *("firewalld", "ntpsec", "dnsmasq", "openvpn", "tomcat10", "certbot", "zabbix-agent", "lvm2"),
    *("prometheus-node-exporter", "locales", "lsof", "bash-completion", "vim-nox", "curl"),
)
# those of a few formulas, for package managers that have none of their own
FEW_PACKAGES = (
    *("chrony", "haproxy", "keepalived", "logrotate", "memcached", "nginx", "redis-server"),
    *("redis-sentinel", "rsyslog", "snmpd", "tmux", "unbound", "vsftpd", "vim", "sudo", "cron"),
)
STATES, PILLAR = "/srv/runner/states", "/srv/runner/pillar"
EXAMPLES = ("pillar.example", "test/salt/pillar/default.sls")
Results = dict[str, dict[str, Any]]


def chains(first: int, last: int) -> None:
    unequal = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory(prefix="chain-") as folder:
            states = differing(Machine(Path(folder)), seed)
        unequal += bool(states)
        for name, sides in states.items():
            print(seed, name)
            for side, result in zip(("dry", "real"), sides, strict=True):
                print(f"  {side}", result["result"], json.dumps(result["changes"]))
                print("   ", result["comment"])
    print(f"{last - first} chains, {unequal} of them not as their dry run said")


def formula(layer: Path, folder: Path, names: str) -> tuple[Results, Results] | str:
    """Return the results of a formula's dry and real run; what is wrong with it where it compiles
    with none of its examples.
    """
    sides: tuple[Results, Results] | str = ""
    for example in [path for path in map(folder.joinpath, EXAMPLES) if path.exists()] or [None]:
        sides = with_example(layer, folder, names, example)
        if not isinstance(sides, str):
            break
    return sides


def with_example(
    layer: Path, folder: Path, names: str, example: Path | None
) -> tuple[Results, Results] | str:
    with debian.debian(layer) as machine:
        shutil.copytree(
            folder,
            machine.path(STATES),
            symlinks=True,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(".git", "kitchen", "node_modules", "*.lock"),
        )
        machine.write(f"{PILLAR}/example.sls", example.read_text() if example else "")
        machine.write(f"{PILLAR}/top.sls", "base: {'*': [example]}\n")
        sides = []
        for words in (["--test"], []):
            try:
                done = machine.runner("sls", names, *words, "--out", "json", code=None)
            except subprocess.TimeoutExpired:
                return "it takes too long"
            if done.returncode not in (0, 2):
                return f"{done.stdout}{done.stderr}".strip()[-600:]
            sides.append(json.loads(done.stdout)["local"])
        return sides[0], sides[1]


def judged(dry: dict[str, Any], real: dict[str, Any]) -> str:
    """Return whether a dry run said what happened: right, undecided, unsure (it is to run, what it
    changes is not known), wrong.
    """
    said, done = (dry["result"], dry["changes"]), (real["result"], real["changes"])
    comment = dry["comment"]
    if re.search(r"decided when |\(depends on |^It would be run if ", comment):
        return "undecided"
    if said == (None, {}):  # that something is to run: nobody knows what it changes
        return "undecided" if done[1] or done[0] is not True else "wrong"
    if said == (None if done[0] and done[1] else done[0], done[1]):
        return "right"
    if done[0] is False or "One or more requisite failed" in real["comment"]:
        return "failed"
    if said[0] is None and done[0] and done[1]:
        same = said[1].keys() == done[1].keys()
        runs = real["__run_num__"] is not None and "pid" in done[1]
        return "right" if runs or (same and not dry.get("exact", True)) else "wrong"
    return "wrong"


def layer_of(manager: str) -> Path:
    """The layer of a machine on which a package manager has what formulas install."""
    name = f"formulas-{manager}" if manager else "formulas"
    contents = debian_layer.Contents(archive=PACKAGES)
    if manager:
        own = debian_layer.LAYERS[manager]
        furnish = f"{own.furnish}{packed_anew(manager)}"
        contents = debian_layer.Contents(own.installed, FEW_PACKAGES, furnish)
    debian_layer.LAYERS[name] = contents
    return debian_layer.layer(name)


def formulas(words: Sequence[str]) -> None:
    manager = words[0].removeprefix("--") if words[0].startswith("--") else ""
    words = words[1:] if manager else words
    layer = layer_of(manager)
    counts: dict[str, int] = {}
    for word in words:
        path, _, names = word.partition(":")
        folder = Path(path).resolve()
        names = names or folder.name.removesuffix("-formula")
        sides = formula(layer, folder, names)
        if isinstance(sides, str):
            print(f"{folder.name}: does not compile: {sides}", flush=True)
            continue
        own: dict[str, int] = {}
        for key, real in sides[1].items():
            dry = sides[0].get(key) or {"result": True, "changes": {}, "comment": "not there"}
            verdict = judged(dry, real)
            own[verdict] = own.get(verdict, 0) + 1
            if verdict != "right":
                print(f"{folder.name} {verdict}: {key}")
                for side, result in (("dry", dry), ("real", real)):
                    told = json.dumps(result["changes"])[:400]
                    print(f"    {side} {result['result']} {told} {result['comment'][:300]!r}")
        print(f"{folder.name}: {json.dumps(own)}", flush=True)
        for verdict, count in own.items():
            counts[verdict] = counts.get(verdict, 0) + count
    print(f"{sum(counts.values())} states: {json.dumps(counts)}")


def main() -> None:
    if sys.argv[1:] and not sys.argv[1].isdigit():
        formulas(sys.argv[1:])
        return
    first, last = (int(word) for word in [*sys.argv[1:], "0", "20"][:2])
    chains(first, last)


if __name__ == "__main__":
    os.umask(0o022)
    main()
