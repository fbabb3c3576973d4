# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the laws by a user who is not root, in a process of its own: what a dry run and
a real run say of each, and of each with a value that nobody means; a line of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import HarnessHere
from hostile import with_hostile_values
from law_table import sampled
from laws import Scenario, all_scenarios
from trying import tried

# only this capability: the tests, and the Python that runs them, may lie in root's home
SOMEBODY = tuple(
    """
    setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all,+dac_read_search
    --inh-caps +dac_read_search --ambient-caps +dac_read_search
    """.split()
)


def prepared(scenario: Scenario) -> dict[str, Any] | None:
    """Return what the runs say; None where the scenario cannot be prepared by such a user."""
    tmp = Path(tempfile.mkdtemp(prefix="somebody-"))
    environment = dict(os.environ)
    try:
        scenario.setup(tmp)
        root = tmp / "tree" if (tmp / "tree").is_dir() else tmp
        return tried(scenario, tmp, lambda dry: HarnessHere(root, dry))
    except PermissionError:
        return None
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(tmp, ignore_errors=True)


def main(part: int, parts: int) -> None:
    """Try each scenario of a part."""
    every = [each for each in all_scenarios() if not each.machine]
    scenarios = [every[number] for number in sampled(every)]
    others = [other for _, some in with_hostile_values(every) for other in some]
    for scenario in [*scenarios, *others][part::parts]:
        result = prepared(scenario)
        if result is not None:
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
