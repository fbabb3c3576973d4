# SPDX-License-Identifier: Apache-2.0
"""Keys and certificates."""
