# SPDX-License-Identifier: Apache-2.0
"""Rights beyond modes and owners."""
