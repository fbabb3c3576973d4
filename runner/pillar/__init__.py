"""Pillar data: SLS files, merging, external pillars, decryption."""
