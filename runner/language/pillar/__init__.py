# SPDX-License-Identifier: Apache-2.0
"""Pillar data: SLS files, merging, external pillars, decryption."""
