"""Listeners and printers; they show results and decide nothing."""
