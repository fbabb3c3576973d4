# SPDX-License-Identifier: Apache-2.0
"""The engine: SLS files in, a converged machine out."""

__version__ = "0.2.0"
ROOT = __path__[0].rpartition("/")[0]  # the folder of `runner`, `states` and `modules`
