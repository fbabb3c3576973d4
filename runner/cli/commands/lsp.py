# SPDX-License-Identifier: Apache-2.0
"""The command `lsp`: a language server for editors."""

from __future__ import annotations

import os

from runner.api.extras import how_to_install
from runner.cli.parsing.option_spec import Annotated, option
from runner.cli.running.options import Common, overrides, some_of, with_common
from runner.model.errors import UsageError

OPTIONS = some_of("config state_tree pillar_tree id saltenv pillarenv cachedir")


@with_common(OPTIONS)
def lsp(
    *,
    lenient: Annotated[
        bool, option("--lenient", help="Unknown arguments and states are warnings.")
    ] = False,
    common: Common,
) -> int:
    """Tell an editor of mistakes while one types, and more.

    The editor starts this language server, and speaks with it on stdin and stdout. It executes what
    `runner check` executes, and nothing more. docs/editors.md has the settings of editors.

    Example: runner lsp
    """
    try:
        from runner.tools.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError(
            f"the language server needs the Python package {error.name}, which is not installed",
            hint=how_to_install("lsp"),
        ) from None
    config = os.path.abspath(common.config) if common.config else None
    return serve(config, overrides(common), lenient)
