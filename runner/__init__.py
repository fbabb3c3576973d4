# SPDX-License-Identifier: Apache-2.0
"""The engine: SLS files in, a converged machine out."""

__version__ = "0.2.0"
