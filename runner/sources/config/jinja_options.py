# SPDX-License-Identifier: Apache-2.0
"""The options that Jinja takes from a configuration and from the head of a template."""

from __future__ import annotations

TEXTS = frozenset(
    [
        "block_start_string",
        "block_end_string",
        "variable_start_string",
        "variable_end_string",
        "newline_sequence",
    ]
    + ["comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix"]
)
SWITCHES = frozenset(["trim_blocks", "lstrip_blocks", "keep_trailing_newline"])
NAMES = tuple(sorted(TEXTS | SWITCHES))
