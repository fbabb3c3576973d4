# SPDX-License-Identifier: Apache-2.0
"""What commands that only read are made of: checks, queries, the language server, many machines."""
