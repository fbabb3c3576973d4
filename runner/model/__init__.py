# SPDX-License-Identifier: Apache-2.0
"""The values that travel between the stages; nothing here imports another package."""
