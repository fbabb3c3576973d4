# SPDX-License-Identifier: Apache-2.0
"""Contents of files: written whole, copied, hashed, downloaded."""
