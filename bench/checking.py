# SPDX-License-Identifier: Apache-2.0
"""What `runner check` costs beside compiling the same site: 200 SLS files with Jinja, pillar,
requisites, sources.

    python bench/checking.py [NUMBER OF SLS FILES]

Prints CPU seconds of `runner show lowstate` and of `runner check`, and their ratio. The target:
little more than 1.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from measure import RUNNER, Program, least_by_turns, prepare_environment

SLS = """{{% from 'lib/map.jinja' import settings with context %}}
{{% set port = pillar.get('port', 80) %}}
include:
  - base
packages {n}:
  pkg.installed:
    - pkgs: [nginx-{n}, vim-{n}]
    - require:
      - test: base
{{% for name in settings.names %}}
/srv/app{n}/{{{{ name }}}}.conf:
  file.managed:
    - source: salt://files/app.conf
    - template: jinja
    - mode: '0644'
    - user: root
    - makedirs: true
    - context:
        port: {{{{ port }}}}
    - require:
      - pkg: packages {n}
    - watch_in:
      - service: app{n}
{{% endfor %}}
app{n}:
  service.running:
    - enable: true
reload {n}:
  cmd.run:
    - name: reload {n}
    - onchanges:
      - file: /srv/app{n}/*
"""


def site(folder: Path, count: int) -> Path:
    """Write the tree; its configuration."""
    files = {
        "states/base.sls": "base:\n  test.nop: []\n",
        "states/lib/map.jinja": "{% set settings = {'names': ['a', 'b', 'c', 'd', 'e']} %}\n",
        "states/files/app.conf": "port {{ port }}\n",
        "states/top.sls": "base:\n  '*':\n" + "".join(f"    - app.s{n}\n" for n in range(count)),
        "pillar/top.sls": "base: {'*': [site]}\n",
        "pillar/site.sls": "port: 8080\n",
        "runner.yaml": "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\nid: bench\n",
        **{f"states/app/s{n}.sls": SLS.format(n=n) for n in range(count)},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "runner.yaml"


def main() -> None:
    prepare_environment()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        config = site(Path(folder), count)
        where = ["--config", str(config), "--cachedir", os.path.join(folder, "cache")]
        program = [sys.executable, "-c", RUNNER]
        shown = Program([*program, "show", "lowstate", *where])
        programs = [shown, Program([*program, "check", *where])]
        least_by_turns([shown], 1)  # fills the cache of templates
        (compiled, _, _), (checked, memory, _) = least_by_turns(programs, 3)
    print(
        f"{count} SLS files: compiling {compiled:.2f} s, checking {checked:.2f} s of CPU"
        f" ({memory:.0f} MB)"
    )
    print(f"checking takes {checked / compiled:.2f} times what compiling takes")


if __name__ == "__main__":
    main()
