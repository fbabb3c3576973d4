"""How long a site of formulas takes to compile: each SLS imports a map.jinja that reads two YAML files and the pillar.

    python bench/site.py [COUNT] [COMMAND]

COUNT: SLS files (200). COMMAND: another program to time beside runner; `{folder}` in it is the folder of the site,
whose file `minion` a Salt minion understands: `salt-call --local -c {folder} state.show_lowstate`.
Prints CPU seconds (user and system, with all children), the least of three runs each: with empty caches, with the
compiled templates of an earlier start, and of the command; and what part of the command's time runner takes.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SLS = """{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import mapdata as it with context %}
include:
  - f@before
f@-pkg:
  pkg.installed:
    - name: {{ it.pkg }}
f@-conf:
  file.managed:
    - name: /etc/f@.conf
    - context:
        conf: {{ it | json }}
    - require:
      - pkg: f@-pkg
{%- for user in it.users %}
f@-user-{{ user }}:
  test.nop:
    - require_in:
      - file: f@-conf
{%- endfor %}
f@-service:
  service.running:
    - name: {{ it.service }}
    - watch:
      - file: f@-conf
"""
MAP = """{%- import_yaml tpldir ~ "/defaults.yaml" as defaults %}
{%- import_yaml tpldir ~ "/osfamilymap.yaml" as families %}
{%- set chosen = salt['grains.filter_by'](defaults, default='f@', merge=salt['grains.filter_by'](
      families, grain='os_family', merge=salt['pillar.get']('f@:lookup', {}))) %}
{%- set mapdata = salt['pillar.get']('f@', default=chosen, merge=True) %}
"""
FILES = {
    "init.sls": SLS,
    "map.jinja": MAP,
    "defaults.yaml": "f@:\n  pkg: p\n  service: s\n  users: [a, b, c]\n  opts: {a: 1, b: [1, 2, 3]}\n",
    "osfamilymap.yaml": "Debian:\n  service: deb\nRedHat:\n  service: rh\nSuse: {}\n",
}


RUNS = 3


def write(folder: Path, count: int) -> None:
    """The site, with a configuration for runner and one for a Salt minion."""
    for number in range(count):
        place = folder / "states" / f"f{number}"
        place.mkdir(parents=True)
        for name, text in FILES.items():
            text = text.replace("@before", str(max(number - 1, 0)))
            (place / name).write_text(text.replace("@", str(number)))
    (folder / "pillar").mkdir()
    (folder / "pillar" / "top.sls").write_text("base: {'*': [data]}\n")
    data = "".join(f"f{number}:\n  lookup: {{pkg: pkg{number}}}\n  port: {number}\n" for number in range(count))
    (folder / "pillar" / "data.sls").write_text(data)
    named = "".join(f"    - f{number}\n" for number in range(count))
    (folder / "states" / "top.sls").write_text(f"base:\n  '*':\n{named}")
    config = f"id: web1\nfile_roots: {{base: [{folder}/states]}}\npillar_roots: {{base: [{folder}/pillar]}}\n"
    (folder / "runner.yaml").write_text(config + f"cachedir: {folder}/cache\nstate_dir: {folder}/state\n")
    (folder / "minion").write_text(config + f"file_client: local\nroot_dir: {folder}/root\n")


def seconds(argv: list[str], cache: Path | None = None) -> float:
    """CPU seconds of a program and its children. cache: a folder to remove before."""
    if cache:
        shutil.rmtree(cache, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(count: str = "200", command: str = "") -> None:
    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, int(count))
        program = [sys.executable, "-c", "from runner.cli import main; main()"]
        argv = [*program, "show", "lowstate", "--out", "json", "--config", str(folder / "runner.yaml")]
        cold = min(seconds(argv, folder / "cache") for _ in range(RUNS))
        warm = min(seconds(argv) for _ in range(RUNS))
        other = min(seconds(command.replace("{folder}", name).split()) for _ in range(RUNS)) if command else 0.0
        for label, taken in (("runner, empty caches", cold), ("runner", warm)):
            print(f"{taken:6.2f} s  {label}" + (f" (a {other / taken:.1f}th of the command's)" if command else ""))
        if command:
            print(f"{other:6.2f} s  {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
