# SPDX-License-Identifier: Apache-2.0
"""The command `apply`: what a saved plan says, or nothing."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.options import ROOTED, Common, loaded, options_of, some_of, with_common
from runner.cli.running.planning import KEPT
from runner.cli.running.shown_run import finish
from runner.history.saved_plan import machine_key as machine_keys
from runner.history.saved_plan import plan_file, signature
from runner.history.saved_plan.plan import plan_of
from runner.model.errors import RunnerError
from runner.model.said_in import key_folder
from runner.output.formats import MACHINE_RUN
from runner.pipeline import saved_plans

OF_A_RUN = some_of(
    "config cachedir pillar out log_level log_file verbose color quiet test wait"
    " timeout events detailed_exitcodes"
)


@with_common(OF_A_RUN, ROOTED, answer=MACHINE_RUN)
def apply(
    *,
    file: Annotated[str, argument(metavar="FILE", help="A plan that --plan FILE has kept.")],
    allow_other_tree: Annotated[
        bool,
        option("--allow-other-tree", help="The tree may have changed; the states must not have."),
    ] = False,
    allowed_signers: Annotated[
        str | None,
        option("--verify", metavar="FILE", help="Demand a signature of one of these signers."),
    ] = None,
    common: Common,
) -> int:
    """Do exactly what a saved plan says, or nothing.

    The same tree is compiled and planned once more, and compared with the plan: states, changes,
    and what is there before them. What no longer holds is listed, and then nothing is changed. With
    --test it is only compared. The plan of an image is applied with the same --root.

    Example: runner apply web1.plan --verify allowed_signers
    """
    own, _ = loaded(common, inside=False)
    data = plan_file.read_private(file, "plan")
    document = plan_file.parsed(data)
    if signers := allowed_signers or _configured_signers(own):
        _check_signature(file, data, signers)
    if not own.root:
        plan_file.authenticated(document, machine_keys.machine_key(own.state_dir), own.id)
    # the key of an image lies in it, and whoever is in it sees what the plan names
    options = options_of(common, running=True, **_settings(plan_of(document).request.settings))
    key = machine_keys.machine_key(options.state_dir)
    plan = plan_file.authenticated(document, key, own.id or options.id)
    assert key is not None, "the plan is authentic"
    saved_plans.checked(plan, options, key)
    code = finish(common, options, partial(saved_plans.apply, options, plan, key, allow_other_tree))
    if options.test and not common.quiet:
        print(f"{file} still holds; without --test it is applied", file=sys.stderr)
    return code


def _settings(kept: Any) -> dict[str, Any]:
    """The settings of the plan's command line; its files, and its image, are this one's."""
    return {name: value for name, value in kept.items() if name in KEPT - {"cachedir", "root"}}


def _configured_signers(options: Any) -> str:
    """The file of `plan_allowed_signers` of the configuration; empty without one."""
    path = options.raw.get("plan_allowed_signers")
    return os.path.join(key_folder(options.raw, "plan_allowed_signers"), path) if path else ""


def _check_signature(file: str, data: bytes, signers: str) -> None:
    allowed = plan_file.read_private(signers, "list of allowed signers")
    try:
        signed = plan_file.read_private(file + signature.SUFFIX, "signature", signature.LARGEST)
    except RunnerError as error:
        hint = f"ssh-keygen -Y sign -f KEY -n {signature.NAMESPACE} {file} signs it"
        raise RunnerError(error.message, hint=error.hint or hint, code=error.code) from None
    signature.signer(data, signed, allowed, signers)
