# SPDX-License-Identifier: Apache-2.0
"""A process that stays, and has states look when something changes that they look at."""
