# SPDX-License-Identifier: Apache-2.0
"""Where settings and trees come from: configuration, file roots, git repositories, formulas."""
