# SPDX-License-Identifier: Apache-2.0
"""Execution modules: how to look at the machine and how to change it."""
