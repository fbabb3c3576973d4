# SPDX-License-Identifier: Apache-2.0
"""The SLS files that this machine gets: top files and targets."""
