# SPDX-License-Identifier: Apache-2.0
"""State modules: what should be. One module or package a state module (file, pkg, cmd, ...)."""
