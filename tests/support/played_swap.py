# SPDX-License-Identifier: Apache-2.0
"""Swap is this computer's, also in a throw-away machine: what would change it is played there."""

from __future__ import annotations

PLAYED = """
echo Filename Type Size Used Priority >/srv/swaps; mount --bind /srv/swaps /proc/swaps
cat >/usr/local/sbin/swapon <<'X'
#!/bin/sh
p=-2; test "$1" = -p && { p=$2; shift 2; }
echo "$2 file 1 0 $p" >>/srv/swaps
X
cat >/usr/local/sbin/swapoff <<'X'
#!/bin/sh
left=$(grep -v "^$2 " /srv/swaps); echo "$left" >/srv/swaps
X
chmod 755 /usr/local/sbin/swap*
"""
