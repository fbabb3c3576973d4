# SPDX-License-Identifier: Apache-2.0
"""Listeners and printers; they show results and decide nothing."""
