# SPDX-License-Identifier: Apache-2.0
"""What is there of this family now."""
