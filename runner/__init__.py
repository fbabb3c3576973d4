# SPDX-License-Identifier: Apache-2.0
"""The engine: SLS files in, a converged machine out."""

__version__ = "0.2.0"
ROOT = __path__[0].rpartition("/")[0]  # the folder of `runner`, `states` and `modules`

from runner.support.own_modules import find_own_modules  # noqa: E402

find_own_modules(ROOT)
