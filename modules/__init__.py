"""Execution modules: how to look at the machine and how to change it."""
