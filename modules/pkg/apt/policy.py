# SPDX-License-Identifier: Apache-2.0
"""Packages of a system that does not run start nothing: the policy that their scripts ask
(policy-rc.d), for as long as apt-get and dpkg work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from modules import file
from runner.api import for_states
from runner.api.offline import is_offline

POLICY = "/usr/sbin/policy-rc.d"
# harmless once the system runs, should whoever ends this machine leave it behind
_DENIES = b"""#!/bin/sh
# runner: packages start nothing while this system does not run; this goes when they are installed
if [ -d /run/systemd/system ] && [ /proc/1/root -ef / ]; then exit 0; fi
exit 101
"""
# it goes with the program, too, where runner is killed meanwhile
_REMOVING = f'"$@"; code=$?; rm -f {POLICY}; exit $code'


@for_states
@contextmanager
def starting_nothing(argv: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the command line that runs a package manager where nothing is to be started. A policy
    that is there stays, and is the one that holds.
    """
    if "update" in argv[1:2]:  # lists alone: a look may ask for it
        yield argv
        return
    if _is_ours():  # of a run that was killed
        file.remove(POLICY)
    if not is_offline() or file.lexists(POLICY):
        yield argv
        return
    file.write(POLICY, _DENIES, mode="0755", user=0, group=0)
    try:
        yield ["sh", "-c", _REMOVING, "sh", *argv]
    finally:
        if _is_ours():
            file.remove(POLICY)


def _is_ours() -> bool:
    return file.is_file(POLICY) and file.read_bytes(POLICY) == _DENIES
