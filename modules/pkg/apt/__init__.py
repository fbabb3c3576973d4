# SPDX-License-Identifier: Apache-2.0
"""Packages by apt."""
