# SPDX-License-Identifier: Apache-2.0
"""The command `init`: a small tree to begin with."""

from __future__ import annotations

import os
from typing import Annotated

from runner.cli.parsing.option_spec import argument, option
from runner.cli.running import set_up as setting_up
from runner.model.errors import UsageError

FILES = {
    "README.md": (
        """# What this machine is to look like

    runner check                 # mistakes, before anything is touched
    runner highstate --test      # what would be changed; changes nothing
    runner highstate             # change it

`runner.yaml` is read because it lies in the current folder; from elsewhere add `--config FILE`.

- `states/top.sls` says which SLS files this machine gets, `states/motd.sls` is one of them.
- `pillar/` holds the data that differ from machine to machine.
- `runner doc file.managed` is the manual page of a state, `runner doc` lists all states.
- `runner schema > sls.schema.json` lets an editor complete and check SLS files.
- `runner schedule install --every 30m` (as root) keeps the machine so.
"""
    ),
    "runner.yaml": (
        """\
# The configuration. The keys are those of a Salt minion; paths are relative to this file.
file_roots:
  base: [states]
pillar_roots:
  base: [pillar]
# a mistyped argument is an error, not a warning
strict: true
"""
    ),
    "states/top.sls": (
        """# Which machine gets which SLS files. '*' is a pattern for machine IDs: all of them.
base:
  '*':
    - motd
"""
    ),
    "states/motd.sls": (
        """# One file. Its place and contents come from the pillar (pillar/motd.sls).
# `runner doc file.managed` lists all arguments; `runner show sls motd` what this template becomes.
message of the day:
  file.managed:
    - name: {{ pillar['motd']['path'] }}
    - contents: {{ pillar['motd']['text'] | yaml_dquote }}
    - mode: '0644'

# A command that runs only when the file was changed.
tell that it changed:
  cmd.run:
    - name: echo "the message of the day is new"
    - onchanges:
      - file: message of the day
"""
    ),
    "pillar/top.sls": (
        """# Which machine gets which data.
base:
  '*':
    - motd
"""
    ),
    "pillar/motd.sls": (
        """motd:
  path: /tmp/runner-motd  # as root you may want /etc/motd
  text: This machine is managed by runner.
"""
    ),
    ".pre-commit-config.yaml": (
        """# `pre-commit install` makes git check the tree before each commit.
repos:
  - repo: local
    hooks:
      - id: runner-check
        name: runner check
        entry: runner check --config runner.yaml
        language: system
        pass_filenames: false
        always_run: true  # a file that was deleted, or a template of any name, may break the tree
"""
    ),
    ".github/workflows/check.yml": (
        """# Checks the tree on each push; mistakes are shown at their lines.
on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: '3.12'
      # runner itself: `runner bundle runner.tar` makes it, to be committed with the tree
      - run: mkdir ../runner && tar -xf runner.tar -C ../runner
      - run: ../runner/runner check --config runner.yaml --out github
"""
    ),
}

# of `--containerfile`
OF_CONTAINERS = {
    "Containerfile": (
        """\
# What this tree makes of a base image: `runner bundle runner.tar`, then `podman build .`,
# `buildah build .` or `docker build -f Containerfile .`

# what only the build needs: it is mounted, and is no part of the image
FROM scratch AS build
ADD runner.tar /runner/
COPY runner.yaml /tree/
COPY states /tree/states
COPY pillar /tree/pillar

FROM docker.io/library/debian:trixie-slim
ARG SOURCE_DATE_EPOCH
# the name that the top file knows this machine by
ARG ID=image
# runner needs a Python
RUN --mount=type=bind,from=build,target=/run/build \\
    apt-get update && apt-get install --yes --no-install-recommends python3 && \\
    /run/build/runner/runner highstate --config /run/build/tree/runner.yaml --id "$ID" --image && \\
    apt-get clean && rm -rf /var/lib/apt/lists/*
"""
    ),
}


def init(
    folder: Annotated[
        str, argument(metavar="[FOLDER]", help="Created if it is missing.", complete=("folders",))
    ] = ".",
    containerfile: Annotated[
        bool, option("--containerfile", help="Add a Containerfile that makes an image by the tree.")
    ] = False,
    from_url: Annotated[
        str | None,
        option("--from", metavar="URL", help="Set this machine up with the tree of a repository."),
    ] = None,
    ref: Annotated[
        str | None, option("--ref", metavar="REF", help="Its branch, tag or commit (main).")
    ] = None,
    verify: Annotated[
        str | None,
        option("--verify", metavar="ssh:FILE|gpg:FILE", help="Who has to have signed the tree."),
    ] = None,
) -> int:
    """Create a small, commented tree to begin with.

    It has a top file, pillar, one SLS, the configuration, pre-commit and CI files, and applies as
    it is. Nothing is overwritten; what is missing of an unaltered tree is made anew.

    With --containerfile there is a Containerfile, too, which applies the tree to a base image
    (docs/images.md), also beside a tree that was altered since.

    With --from URL it makes no tree, but writes the configuration of this machine, and pulls the
    tree of that git repository: see `runner pull`.

    Example: runner init my-machine

    Example: runner init --from https://git.example.org/site.git --verify ssh:allowed_signers
    """
    if from_url is not None:
        if folder != "." or containerfile:
            raise UsageError("init makes a tree in FOLDER, or sets this machine up --from URL")
        return setting_up.set_up(from_url, ref, verify)
    if ref or verify:
        raise UsageError("--ref and --verify belong to --from URL")
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} exists and is not a directory; nothing was written")
    files = FILES | (OF_CONTAINERS if containerfile else {})
    if containerfile and os.path.lexists(os.path.join(folder, "runner.yaml")):
        files = OF_CONTAINERS
    others = [name for name in files if _is_other(os.path.join(folder, name), files[name])]
    if others:
        listed = ", ".join(os.path.join(folder, name) for name in others)
        raise UsageError(
            f"already there: {listed}; nothing was written", hint="name another folder"
        )
    missing = [name for name in files if not os.path.lexists(os.path.join(folder, name))]
    for name in missing:
        _write(os.path.join(folder, name), files[name])
    if not missing:
        print(f"The tree in {os.path.abspath(folder)} already exists.")
    else:
        what = "Added to the tree" if files is OF_CONTAINERS else "Made a tree"
        print(f"{what} in {os.path.abspath(folder)}: {', '.join(missing)}.")
    _tell_what_is_next(folder)
    return 0


def _is_other(path: str, text: str) -> bool:
    """True if something else stands in the way of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() != text
    except (OSError, UnicodeDecodeError):
        return os.path.lexists(path)


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _tell_what_is_next(folder: str) -> None:
    import shlex

    where = "" if os.path.abspath(folder) == os.getcwd() else f"cd {shlex.quote(folder)} && "
    print(f"Next:\n  {where}runner check\n  {where}runner highstate --test")
