# SPDX-License-Identifier: Apache-2.0
"""Values and texts that several modules read or write in the same way."""
