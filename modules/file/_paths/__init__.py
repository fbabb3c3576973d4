# SPDX-License-Identifier: Apache-2.0
"""From a path to a place that is held open: on the machine or the planned one."""
