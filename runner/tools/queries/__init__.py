# SPDX-License-Identifier: Apache-2.0
"""Commands that answer questions about the tree, the machine and earlier runs."""
