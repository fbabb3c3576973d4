# SPDX-License-Identifier: Apache-2.0
"""Why a machine has to be restarted, in the words that the grain and states have of it."""

from __future__ import annotations

ASKED = "/run/reboot-required"  # of Debian's packages, and of those who follow them
PACKAGES, KERNEL = "packages ask for it", "a newer kernel is installed"
# what dnf is asked, which needs no repository for it, or its program of old; both exit with 1 then
QUESTIONS = (("dnf", "-q", "--disablerepo=*", "needs-restarting", "-r"), ("needs-restarting", "-r"))
YES = "Reboot is required"
