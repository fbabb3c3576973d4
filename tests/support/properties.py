# SPDX-License-Identifier: Apache-2.0
"""Properties, tried with values that hypothesis makes up: always the same ones, so that no run
fails by chance. A failure shows the smallest value that breaks the property, and the line
(`@reproduce_failure`) that tries just this one again.

`RUNNER_PROPERTIES=5000` in the environment tries so many values, other ones each time.
"""

from __future__ import annotations

import os
import tempfile

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: pip install -e '.[dev]'")

from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

_HOME = tempfile.TemporaryDirectory(prefix="hypothesis-")  # nothing is left in the checkout
set_hypothesis_home_dir(_HOME.name)

_OTHERS = os.environ.get("RUNNER_PROPERTIES")
settings.register_profile(
    "runner",
    derandomize=not _OTHERS,
    max_examples=int(_OTHERS or 200),
    database=None,
    deadline=None,  # nothing depends on the speed of the machine
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("runner")
