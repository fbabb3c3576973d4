# SPDX-License-Identifier: Apache-2.0
"""The commands: one a file, each called like its file."""
