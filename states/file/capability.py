# SPDX-License-Identifier: Apache-2.0
"""file.capability: what a program may do that only root may."""

from __future__ import annotations

from functools import partial

from modules import file
from runner.api import FilePath, Name, OneOrMany, Planned, StateFailed
from runner.api.kinds import Kind, Property, Wording
from states._rights import refuse_plain_user

FILE = Kind(
    "the capabilities of {name}",
    Wording("{Title} are in the correct state", "", ""),
    Wording("", "{Title} are set to be changed", "{Title} were changed"),
)


def capability(name: FilePath, caps: OneOrMany[Name]) -> Planned:
    """Make sure that a program's file has just these capabilities (setcap).

    A new version of the file has none: let the state watch, or come after, what installs it.

    name: The file, which has to be there; no link.
    caps: Capabilities in the words of setcap, such as cap_net_bind_service=ep; [] for none.

        /usr/local/bin/web:
          file.capability:
            - caps: cap_net_bind_service=ep

    Salt has nothing like it.
    """
    at = file.seen(name, follow=False)
    if at is None:
        raise StateFailed(f"{name} does not exist", missing=("file", name))
    if at.type != "file":
        raise StateFailed(f"{name} is no plain file, and cannot have capabilities")
    wanted, now = " ".join(caps), file.get_capabilities(name)
    if file.has_capabilities(name, wanted):
        now = wanted
    else:
        refuse_plain_user("setcap")
        if wanted:
            file.refuse_capabilities(name)
    give = partial(file.set_capabilities, name)
    return FILE.present(True, bool, [Property("caps", wanted, lambda: now, give)], name=name)
