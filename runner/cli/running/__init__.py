# SPDX-License-Identifier: Apache-2.0
"""What carries a command out: its options as settings, the run, its end and how it is shown."""
