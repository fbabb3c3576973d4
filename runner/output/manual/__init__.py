# SPDX-License-Identifier: Apache-2.0
"""The manual and the JSON Schema of SLS files, made from docstrings and signatures."""
