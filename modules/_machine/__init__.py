# SPDX-License-Identifier: Apache-2.0
"""Programs that are started, and what else all modules ask this machine for."""
