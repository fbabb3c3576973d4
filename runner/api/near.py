# SPDX-License-Identifier: Apache-2.0
"""What somebody probably meant by a word that there is not."""

from __future__ import annotations

from runner.model.diagnostics import closest as closest
