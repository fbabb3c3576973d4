# SPDX-License-Identifier: Apache-2.0
"""What command lines may say, and how they are read."""
