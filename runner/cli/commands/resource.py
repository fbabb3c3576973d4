# SPDX-License-Identifier: Apache-2.0
"""The command `resource`: what is there now, as SLS."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.options import READING, ROOTED, Common, options_of, with_common
from runner.cli.running.streams import answer_alone
from runner.model.errors import UsageError
from runner.support.redaction import HIDDEN
from runner.tools.queries import inventory, layout, resources


@with_common(READING, ROOTED)
def resource(
    *,
    state: Annotated[
        str | None,
        argument(
            metavar="[STATE]",
            help="file, user, group, pkg, service, cron, mount, ... (default: the whole machine)",
            complete=("modules",),
        ),
    ] = None,
    names: Annotated[
        list[str] | None, argument(metavar="[NAME...]", help="Their names (default: all).")
    ] = None,
    layout: Annotated[
        str | None,
        option("--layout", metavar="DIR", help="Write a tree of the machine: an SLS file a role."),
    ] = None,
    show_secrets: Annotated[
        bool, option("--show-secrets", help="Do not leave out what is, or looks like, a secret.")
    ] = False,
    common: Common,
) -> int:
    """Print what this machine has now as SLS, ready to be managed.

    Without STATE: the whole machine, but for what its distribution brings by itself. Passwords are
    left out, the pillar's secrets hidden.

    Example: runner resource user deploy > states/deploy.sls

    Example: runner resource --layout my-machine
    """
    if state is None or layout is not None:
        if state is not None:
            raise UsageError("--layout takes the whole machine, without STATE")
        if layout is not None and common.settings.get("root"):
            raise UsageError("--layout takes this machine, no --root")
        return _whole_machine(common, layout, show_secrets)
    if "" in (names or ()):
        raise UsageError(f"runner resource {state}: a name is empty")
    with answer_alone():
        listed = resources.of_state(options_of(common), state, names or (), show_secrets)
    if not common.quiet and HIDDEN in str(listed):
        print(
            f"secrets of the pillar are shown as {HIDDEN}: write the pillar's keys there",
            file=sys.stderr,
        )
    if common.for_people:
        print(inventory.text(listed), end="")
        if not listed and not common.quiet:
            print(f"there is no {state}", file=sys.stderr)
    else:
        write_value(common, inventory.by_id(listed))
    return 0


def _whole_machine(common: Common, folder: str | None, secrets: bool) -> int:
    with answer_alone():
        described = resources.of_machine(options_of(common), secrets, _written(folder))
    every = [item for one in described for item in one.resources]
    if folder is not None:
        files = layout.files(described)
        layout.write(folder, files)
        listed = [path for path in files if path.count("/") < 2]
        sources = len(files) - len(listed)
        beside = f" and {sources} sources" if sources else ""
        print(f"Wrote {', '.join(listed)}{beside} to {os.path.abspath(folder)}.")
    elif common.for_people:
        print(inventory.text(every), end="")
    else:
        write_value(common, inventory.by_id(every))
    if os.geteuid() and not common.quiet:
        print("what only root may read is not among it", file=sys.stderr)
    return 0


def _written(folder: str | None) -> list[str]:
    """Return what this command itself writes to: no part of the machine."""
    paths = [folder] if folder is not None else []
    with suppress(OSError):
        paths.append(os.readlink("/proc/self/fd/1"))
    return [path for path in paths if path.startswith("/") or path == folder]
