# SPDX-License-Identifier: Apache-2.0
"""High data -> low chunks -> requisites -> order."""
