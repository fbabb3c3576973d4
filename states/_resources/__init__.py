# SPDX-License-Identifier: Apache-2.0
"""The present machine as states: a file for each state module, read by `runner resource` alone."""
