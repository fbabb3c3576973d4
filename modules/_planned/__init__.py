# SPDX-License-Identifier: Apache-2.0
"""What a dry run has planned: files, and the view that commands get of them."""
