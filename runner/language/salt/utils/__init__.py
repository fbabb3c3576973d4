# SPDX-License-Identifier: Apache-2.0
"""Salt's `salt.utils.X` for the Python code of a tree: a file for each of Salt's modules,
written anew.
"""
