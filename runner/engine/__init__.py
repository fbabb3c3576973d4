# SPDX-License-Identifier: Apache-2.0
"""Runs low chunks in their order: decides, looks, changes, records pending reactions."""
