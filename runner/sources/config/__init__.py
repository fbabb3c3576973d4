# SPDX-License-Identifier: Apache-2.0
"""The configuration: files, flags and environment -> Options."""
