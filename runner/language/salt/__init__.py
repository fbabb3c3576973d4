# SPDX-License-Identifier: Apache-2.0
"""What Python code of a tree finds of Salt: its packages and the names that its loader gives."""
