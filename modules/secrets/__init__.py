# SPDX-License-Identifier: Apache-2.0
"""Stores of secrets."""
