# SPDX-License-Identifier: Apache-2.0
"""The stages of a run; the session, the lock, temporary files left by a killed run."""
