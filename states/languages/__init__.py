# SPDX-License-Identifier: Apache-2.0
"""Package managers of programming languages."""
