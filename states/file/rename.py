# SPDX-License-Identifier: Apache-2.0
"""file.rename: a file has moved to another path."""

from __future__ import annotations

from modules import file
from runner.api import AbsolutePath, Done, Plan, Planned
from states.file import _lines
from states.file._nested import refuse_to_replace


def rename(name: AbsolutePath, source: str, force: bool = False, makedirs: bool = False) -> Planned:
    """Move a file or folder, if it is still at its old path.

    name: The new path.
    source: The old path.
    force: Overwrite what is at the new path.
    makedirs: Create missing parent folders.

        /srv/new:
          file.rename:
            - source: /srv/old
    """
    if not file.lexists(source):
        comment = f'Source file "{source}" has already been moved out of place'
        return Done(comment, missing=_lines.absence(source))
    name = _lines.put_to(name, source)
    occupied = file.lexists(name)
    if occupied and not force:
        return f'The target file "{name}" exists and will not be overwritten'
    above = _lines.parent(name)
    _lines.require_parent(name, makedirs, f"The target directory {above} is not present")
    if occupied:
        refuse_to_replace(name, source)
    facts = [("file", name), ("no file", source)]
    yield Plan({name: source}, f'File "{source}" is set to be moved to "{name}"', provides=facts)
    _lines.make_parent(name)
    if occupied:
        file.remove(name)
    file.rename(source, name)
    return f'Moved "{source}" to "{name}"'
