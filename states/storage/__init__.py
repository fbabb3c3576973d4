# SPDX-License-Identifier: Apache-2.0
"""Disks and what lies on them."""
