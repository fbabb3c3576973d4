# SPDX-License-Identifier: Apache-2.0
"""What every room needs: files, programs, the log, YAML with places, secrets, drawings."""
