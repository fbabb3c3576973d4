# SPDX-License-Identifier: Apache-2.0
"""How long a site of formulas takes to compile: each SLS imports a map.jinja that reads two YAML
files and the pillar.

    python bench/site.py [COUNT] [COMMAND]

COUNT: SLS files (200). COMMAND: another program to time beside runner; `{folder}` in it is the
folder of the site, whose file `minion` a Salt minion understands: `salt-call --local -c {folder}
state.show_lowstate`. Three sites: a map.jinja for each SLS, for ten of them (formulas of ten SLS
files), and one for all. Prints CPU seconds (user and system, with all children), the least of some
runs each: with empty caches, with the compiled templates of an earlier start, and of the command;
and what part of the command's time runner takes. They run by turns, so that a busy machine makes
their ratio hardly different.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from measure import RUNNER, Program, least_by_turns, prepare_environment

SLS = """{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import mapdata as it with context %}
include:
  - @before
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
    "map.jinja": MAP,
    "defaults.yaml": (
        "f@:\n  pkg: p\n  service: s\n  users: [a, b, c]\n  opts: {a: 1, b: [1, 2, 3]}\n"
    ),
    "osfamilymap.yaml": "Debian:\n  service: deb\nRedHat:\n  service: rh\nSuse: {}\n",
}


RUNS = 7


def write(folder: Path, count: int, each: int) -> None:
    """The site, with a configuration for runner and one for a Salt minion. each: SLS files of one
    map.jinja.
    """
    shutil.rmtree(folder, ignore_errors=True)
    names = [f"f{number // each}.s{number}" for number in range(count)]
    for number, name in enumerate(names):
        place = folder / "states" / name.partition(".")[0]
        place.mkdir(parents=True, exist_ok=True)
        text = SLS.replace("@before", names[max(number - 1, 0)])
        (place / f"s{number}.sls").write_text(text.replace("@", str(number)))
        for file, text in FILES.items() if number % each == 0 else ():
            (place / file).write_text(text.replace("@", str(number // each)))
    (folder / "pillar").mkdir()
    (folder / "pillar" / "top.sls").write_text("base: {'*': [data]}\n")
    data = "".join(
        f"f{number}:\n  lookup: {{pkg: pkg{number}}}\n  port: {number}\n" for number in range(count)
    )
    (folder / "pillar" / "data.sls").write_text(data)
    (folder / "states" / "top.sls").write_text(
        "base:\n  '*':\n" + "".join(f"    - {name}\n" for name in names)
    )
    config = (
        f"id: web1\nfile_roots: {{base: [{folder}/states]}}\npillar_roots: {{base:"
        f" [{folder}/pillar]}}\n"
    )
    (folder / "runner.yaml").write_text(
        config + f"cachedir: {folder}/cache\nstate_dir: {folder}/state\n"
    )
    (folder / "minion").write_text(config + f"file_client: local\nroot_dir: {folder}/root\n")


def main(count: str = "200", command: str = "") -> None:
    prepare_environment()
    for each in dict.fromkeys((1, 10, int(count))):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "site")
            write(folder, int(count), each)
            words = ["show", "lowstate", "--out", "json", "--config", f"{folder}/runner.yaml"]
            warm = Program([sys.executable, "-c", RUNNER, *words])
            cold = warm._replace(stale=[f"{folder}/cache"])
            given = command.replace("{folder}", str(folder)).split()
            programs = [cold, warm, warm, *([Program(given)] if given else [])]
            empty, second, third, *other = (used.cpu for used in least_by_turns(programs, RUNS))
            print(f"{count} SLS files, a map.jinja for each {each}")
            for label, taken in (("runner, empty caches", empty), ("runner", min(second, third))):
                part = f" (a {other[0] / taken:.1f}th of the command's)" if other else ""
                print(f"{taken:6.2f} s  {label}{part}")
            if other:
                print(f"{other[0]:6.2f} s  {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
