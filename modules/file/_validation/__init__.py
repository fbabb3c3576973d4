# SPDX-License-Identifier: Apache-2.0
"""Programs that judge new contents of files before they take their place."""
