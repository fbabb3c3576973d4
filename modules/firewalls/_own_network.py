# SPDX-License-Identifier: Apache-2.0
"""Network namespaces that last as long as one program: what is tried there is in force nowhere.

On a system that does not run the kernel's rules are another system's. There a firewall is looked at
and changed in such a namespace, into which its files were loaded, and is kept in these files. A dry
run tries in one what it plans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modules import cmd
from modules._machine.processes import Completed, needs
from runner.api import StateFailed, Unforeseen, fetcher, here
from runner.api.own_program import in_image

UNLOADED = 125


def probe(script: str, *words: str, stdin: str | None = None) -> Completed:
    """What a shell script says that runs in a network and with mounts of its own, with these
    arguments. Raises StateFailed where there can be none.
    """
    needs("unshare", "util-linux")
    # who may not configure the network of an image's host may configure one of their own users
    users = ["--user", "--map-root-user"] if in_image() else []
    alone = ["unshare", *users, "--net", "--mount"]
    done = cmd.probe([*alone, "sh", "-c", script, "sh", *words], stdin=stdin)
    if done.retcode and done.stderr.startswith("unshare:"):
        raise StateFailed(
            f"there is no network here to try it in ({done.error_text}): write the firewall's own"
            " files with file.managed"
        )
    return done


def with_kept(
    load: str, argv: Sequence[str], keep: str = "", stdin: str | None = None
) -> Completed:
    """What a program says where that is in force which a script loads. keep: a script that prints
    what is to be kept, once the program has succeeded. Raises StateFailed for what does not load.
    """
    then = f'"$@" >&2 && {keep}' if keep else 'exec "$@"'
    done = probe(f"{{ {load}; }} || exit {UNLOADED}\n{then}", *argv, stdin=stdin)
    if done.retcode == UNLOADED:
        raise StateFailed(f"the rules that are kept here cannot be loaded: {done.error_text}")
    return done


def loading(path: str, command: str) -> str:
    """The script that has a command read a file, where there is one."""
    return f"{{ test ! -s {path} || {command} <{path}; }}"


@fetcher
def with_planned(
    planned: Mapping[str, str], argv: Sequence[str], keep: str = "", stdin: str | None = None
) -> Completed:
    """What a program says where that is in force which a dry run has planned. planned: texts by the
    commands that read them. keep: as of with_kept. Raises Unforeseen where they cannot be.
    """
    loads = []
    for number, (command, text) in enumerate(planned.items()):
        path = f"{here.scratch()}/planned-{number}"
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        loads.append(loading(path, command))
    try:
        return with_kept(" && ".join(loads), argv, keep, stdin)
    except StateFailed as failure:
        raise Unforeseen(f"what was planned cannot be tried: {failure.message}") from None
