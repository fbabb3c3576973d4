# SPDX-License-Identifier: Apache-2.0
"""Web servers, and requests to them."""
