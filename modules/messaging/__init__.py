# SPDX-License-Identifier: Apache-2.0
"""Message brokers and key-value stores."""
