# SPDX-License-Identifier: Apache-2.0
"""The machine as a whole: its restart."""

from __future__ import annotations

from modules import pkg, system
from runner.api import Done, Duration, Line, Name, Plan, Planned, StateFailed, here
from runner.api.offline import offline_as
from runner.api.restarts import KERNEL
from runner.api.run_end import THE_RUN_ENDS
from states._rights import only_root

dry_run_check = only_root("shutdown")


@offline_as(lambda name, **_: "This system does not run: nothing is to be restarted")
def reboot(
    name: Name,
    message: Line = "",
    timeout: Duration[int] = 1,
    only_on_pending_reboot: bool = True,
    continue_: bool = False,
) -> Planned:
    """Make sure that the machine is restarted where that is required. The run ends there: what
    comes after it is left to the next run.

    name: Names the state.
    message: What users are told.
    timeout: Minutes until then, for what the run itself has to finish.
    only_on_pending_reboot: Only where a package asks for it (`/run/reboot-required`,
      `needs-restarting`) or a newer kernel is installed. False restarts it whenever the state runs:
      with `onchanges`.
    continue: The same run goes on when the machine has started, before anybody else starts one.
      The state does not restart it again then.

        new kernel:
          pkg.latest:
            - name: linux-image-amd64
        use it:
          system.reboot:
            - continue: True
            - require:
              - pkg: new kernel

    Salt's system.reboot is one of Windows.
    """
    asked, tag = system.last_restart(), " ".join((here.chunk.tag if here.chunk else name).split())
    if asked.is_awaited(tag):
        return "The machine was restarted, and the run goes on"
    why = system.restart_needed()
    planned = only_on_pending_reboot and not why and bool(pkg.planned_changes())
    if only_on_pending_reboot and not why and not planned:
        return "No restart is required"
    system.check_restart(timeout, message)
    run = system.this_run(continue_)
    if asked.is_under_way(run, continue_):
        return Done("The machine is about to be restarted", extra=THE_RUN_ENDS)
    if only_on_pending_reboot and why == KERNEL and asked.was_in_vain(why):
        raise StateFailed(
            f"The machine was restarted for a newer kernel and runs {asked.kernel} again: look at"
            " its boot loader"
        )
    goes_on = ", and the run goes on after it" if continue_ else ""
    yield Plan(
        {} if planned else {"restart": why or "asked for by the state"},
        f"The machine is set to be restarted{goes_on}"
        f"{', where a package asks for it that is to be changed' if planned else ''}",
        exact=not planned,
        why="packages are to be changed before, which may ask for a restart" if planned else None,
    )
    system.restart(tag, why, run, continue_, timeout, message)
    return Done(f"The machine is restarted in {timeout} min{goes_on}", extra=THE_RUN_ENDS)
