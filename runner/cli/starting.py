"""The command `init`: a small tree to begin with."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from runner.errors import UsageError

FILES = {
    "runner.yaml": """# The configuration: Salt's minion keys. Paths are relative to this file.
file_roots:
  base: [states]
pillar_roots:
  base: [pillar]
# a mistyped argument is an error, not a warning
strict: true
""",
    "states/top.sls": """# Which SLS files which machine gets: targets are globs of IDs, grains, ...
base:
  '*':
    - motd
""",
    "states/motd.sls": """# One file, its contents from the pillar. `runner doc file.managed` tells the arguments.
message of the day:
  file.managed:
    - name: {{ pillar['motd']['path'] }}
    - contents: {{ pillar['motd']['text'] | yaml_dquote }}
    - mode: '0644'
""",
    "pillar/top.sls": """# Which machine gets which data.
base:
  '*':
    - motd
""",
    "pillar/motd.sls": """motd:
  path: /tmp/runner-motd
  text: This machine is managed by runner.
""",
    ".pre-commit-config.yaml": """repos:
  - repo: local
    hooks:
      - id: runner-check
        name: runner check
        entry: runner check --config runner.yaml
        language: system
        pass_filenames: false
        files: \\.(sls|jinja|yaml)$
""",
    ".github/workflows/check.yml": """on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install runner
      - run: runner check --config runner.yaml
""",
}


def init(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Made if it is missing.")] = ".",
) -> int:
    """Make a small, commented tree: top file, pillar, one SLS, configuration, pre-commit and CI files.

    Example: runner init my-machines
    """
    there = [name for name in FILES if os.path.lexists(os.path.join(folder, name))]
    if there:
        raise UsageError(f"{os.path.join(folder, there[0])} is there already; nothing was written")
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    where = os.path.join(folder, "runner.yaml")
    print(f"Made a tree in {os.path.abspath(folder)}. Try:\n  runner highstate --test --config {where}")
    return 0
