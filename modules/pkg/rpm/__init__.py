# SPDX-License-Identifier: Apache-2.0
"""What dnf and zypper share."""
