# SPDX-License-Identifier: Apache-2.0
"""State and execution modules: built-in ones and those of a tree, Salt-style ones too."""
