# SPDX-License-Identifier: Apache-2.0
"""Arguments of states: schema, binding, conversion."""
