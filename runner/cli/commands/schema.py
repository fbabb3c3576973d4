# SPDX-License-Identifier: Apache-2.0
"""The command `schema`: the JSON Schema of SLS files."""

from __future__ import annotations

import json

from runner.cli.running.options import READING, Common, options_of_tree, with_common
from runner.cli.running.streams import answer_alone
from runner.tools.queries import explain


@with_common(READING)
def schema(*, common: Common) -> int:
    """Print the JSON Schema of SLS files, for editors.

    An editor with a YAML language server completes and checks SLS files with it. The states of the
    tree are in it.

    Example: runner schema > sls.schema.json
    """
    with answer_alone():
        answer = explain.schema(options_of_tree(common))
    print(json.dumps(answer, separators=(",", ":")))
    return 0
