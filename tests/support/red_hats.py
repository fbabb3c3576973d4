# SPDX-License-Identifier: Apache-2.0
"""What machines of Red Hat have and a Debian has not, in lines of shell."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

STAND_IN = Path(__file__).parent / "red_hats_alternatives.py"
# Red Hat's alternatives instead of Debian's
PROGRAM = f"""cat >/usr/local/sbin/alternatives <<'X'
#!/bin/sh
exec {shlex.quote(sys.executable)} {shlex.quote(str(STAND_IN))} "$@"
X
chmod 755 /usr/local/sbin/alternatives
ln -sf alternatives /usr/local/sbin/update-alternatives
mkdir -p /var/lib/alternatives
"""
FOLLOWED = """alternatives --install /usr/bin/greet greet /bin/cat 10 \\
    --slave /usr/bin/gr.1 gr.1 /bin/ls
alternatives --install /usr/bin/greet greet /bin/date 5
"""
# the record of a package that names its family and the service that goes with it
FAMILY = (
    FOLLOWED
    + r"""alternatives --set greet /bin/cat
sed -i 's/^10$/@old@10 greeter/; s/^5$/@old@5/' /var/lib/alternatives/greet
alternatives --install /usr/bin/greet greet /bin/echo 20
"""
)
