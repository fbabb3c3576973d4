# SPDX-License-Identifier: Apache-2.0
"""Expectations: what shall hold on a machine, as YAML says it, and whether it does.

`words.py` has the words that may be used, `reading.py` reads a file strictly, `looks.py` looks at a
machine, and `evaluation.py` does that on this machine or inside of a sandbox.
"""
