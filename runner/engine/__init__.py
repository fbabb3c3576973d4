"""Runs low chunks in their order: decides, looks, changes, records pending reactions."""
