# SPDX-License-Identifier: Apache-2.0
"""Salt's functions of files, under Salt's names and with Salt's answers."""
