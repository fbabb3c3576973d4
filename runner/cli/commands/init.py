# SPDX-License-Identifier: Apache-2.0
"""The command `init`: a small tree to begin with."""

from __future__ import annotations

import os
import shlex
from importlib.resources import files

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import set_up as setting_up
from runner.model.errors import UsageError

# of runner/cli/new_tree, without the dot: bundles leave out what is hidden
FILES = (
    "README.md runner.yaml states/top.sls states/motd.sls pillar/top.sls pillar/motd.sls"
    " .pre-commit-config.yaml .github/workflows/check.yml"
).split()
OF_CONTAINERS = ["Containerfile"]  # of `--containerfile`


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
    adds = containerfile and os.path.lexists(os.path.join(folder, "runner.yaml"))
    names = OF_CONTAINERS if adds else FILES + (OF_CONTAINERS if containerfile else [])
    new_tree = files("runner.cli").joinpath("new_tree")
    texts = {
        name: new_tree.joinpath(name.removeprefix(".")).read_text(encoding="utf-8")
        for name in names
    }
    others = [name for name in names if _is_other(os.path.join(folder, name), texts[name])]
    if others:
        listed = ", ".join(os.path.join(folder, name) for name in others)
        raise UsageError(
            f"already there: {listed}; nothing was written", hint="name another folder"
        )
    missing = [name for name in names if not os.path.lexists(os.path.join(folder, name))]
    for name in missing:
        _write(os.path.join(folder, name), texts[name])
    if not missing:
        print(f"The tree in {os.path.abspath(folder)} already exists.")
    else:
        what = "Added to the tree" if adds else "Made a tree"
        print(f"{what} in {os.path.abspath(folder)}: {', '.join(missing)}.")
    _tell_what_is_next(folder)
    return 0


def _is_other(path: str, text: str) -> bool:
    """Return whether something else stands in the way of a file."""
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
    where = "" if os.path.abspath(folder) == os.getcwd() else f"cd {shlex.quote(folder)} && "
    print(f"Next:\n  {where}runner check\n  {where}runner highstate --test")
