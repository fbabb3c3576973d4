# SPDX-License-Identifier: Apache-2.0
"""`--plan FILE` and `--ask` of the commands that run states."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from runner.cli.running import stepping
from runner.cli.running.exit_codes import DONE
from runner.cli.running.options import CHOOSING, Common, overrides
from runner.cli.running.shown_run import finish, live_listener, notices
from runner.history.saved_plan import plan_file, signature
from runner.history.saved_plan.plan import PlanRequest, SavedPlan
from runner.model.errors import UsageError
from runner.model.paths import on_host
from runner.model.places import of_host
from runner.model.result import Report
from runner.pipeline import saved_plans
from runner.support.redaction import command_line

# the settings of a command line that decide what is compiled; `--pillar` is known by its hash alone
KEPT = frozenset(
    ["id", "root", "saltenv", "pillarenv", "cachedir", "file_roots", "pillar_roots", *CHOOSING]
)


def carried_out(
    common: Common,
    options: Any,
    command: str,
    names: Sequence[str],
    arguments: Mapping[str, Any] | None = None,
) -> int:
    """Plan, and keep the plan or ask; the exit code. Raises UsageError for what does not fit."""
    settings = {name: value for name, value in overrides(common).items() if name in KEPT}
    request = PlanRequest(command, tuple(names), arguments or {}, settings)
    if settings.get("root"):
        settings["root"] = options.root  # a whole path
    if common.step:
        raise UsageError("--step asks by itself: neither --plan nor --ask goes with it")
    if common.ask:
        return _ask(common, options, request)
    if common.plan is None:
        raise UsageError("--sign-key signs a plan, and there is none", hint="--test --plan FILE")
    if options.image:
        raise UsageError(
            "--image leaves nothing in the image, not the key of a plan either",
            hint="leave --image (`image: true`) away, in `runner apply` too",
        )
    if not options.test:
        raise UsageError(
            "--plan keeps what a dry run has shown: it needs --test", hint="add --test"
        )
    return _keep(common, options, request, common.plan)


# ---------------------------------------------------------------- --plan


def _keep(common: Common, options: Any, request: PlanRequest, path: str) -> int:
    path = on_host(path)
    plan_file.check_destination(path)
    key = common.sign_key
    if key and options.root:
        raise UsageError(
            "--sign-key: keys of this machine are not seen from an image",
            hint=f"then: ssh-keygen -Y sign -f {key} -n {signature.NAMESPACE} {common.plan}",
        )
    if key:
        signature.check_key(key)
    # without any value of the pillar; a plan of `single` with a secret is refused
    typed = " ".join(["runner", *command_line(sys.argv[1:])])
    destination = saved_plans.Destination(
        path, typed, (lambda data: signature.sign(data, key)) if key else None
    )
    plans: list[SavedPlan] = []

    def run(listeners: tuple[Any, ...]) -> Report:
        plan, report = saved_plans.make(options, request, destination, listeners)
        plans.extend([plan] if plan else [])
        return report

    code = finish(common, options, run, command="")
    for plan in plans:
        if not common.quiet:
            print(*_kept(plan, path), sep="\n", file=sys.stderr)
    if not plans:
        print("runner: the plan is not whole; it is not kept", file=sys.stderr)
    return code


def _kept(plan: SavedPlan, path: str) -> list[str]:
    path = of_host(path)
    lines = [f"The plan is kept in {path}. To apply it:"]
    lines.append(f"  {plan_file.how_to_apply(plan, path)}")
    if undecided := plan.undecided:
        names = ", ".join(state.title for state in undecided[:5])
        more = f" and {len(undecided) - 5} more" if len(undecided) > 5 else ""
        lines.append(f"What these would do is not known before: {names}{more}.")
    return lines


# ---------------------------------------------------------------- --ask


def _ask(common: Common, options: Any, request: PlanRequest) -> int:
    if common.plan or common.sign_key:
        raise UsageError("--ask keeps no plan", hint="--test --plan FILE keeps one")
    stepping.check(common, "--ask", "--test --plan FILE, and then `runner apply FILE`")
    terminal = os.dup(sys.stdin.fileno())  # a run has no stdin
    answers: list[bool] = []
    dry = common._replace(test=True)

    def confirmed(report: Report) -> bool:
        answers.append(_is_yes(terminal))
        return answers[-1]

    def run(listeners: tuple[Any, ...]) -> Report:
        planning = [notices(options), live_listener(dry, options, "")]
        report, done = saved_plans.ask(options, request, confirmed, planning, listeners)
        if not done and report.changed:
            print("Nothing was changed.")
        return report

    try:
        code = finish(common, options, run)
    finally:
        os.close(terminal)
    return DONE if answers == [False] else code


def _is_yes(terminal: int) -> bool:
    """Return whether the person at the terminal says yes."""
    for _ in range(3):
        answer = stepping.answer(terminal, "Apply this plan? [y/N] ")
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
    return False
