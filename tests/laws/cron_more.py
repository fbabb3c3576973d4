# SPDX-License-Identifier: Apache-2.0
"""How whole crontabs, their comments and variables are tried: on a copy of the machine."""

from __future__ import annotations

from laws import on_machine

CRON = "apt-get install -y -q cron; id zoe || useradd zoe; "
FIRST = "# Lines below here are managed by Salt, do not edit"
TAB = f"{CRON} printf '%s\\n' 'MAILTO=theirs' '5 5 * * * /bin/theirs' | crontab -; "
HAS = (
    f"{CRON} printf '%s\\n' MAILTO=theirs '{FIRST}' MAILTO=ours EMPTY='\"\"' '# why' '#"
    " SALT_CRON_IDENTIFIER:one' '1 * * * * /bin/one' '@daily /bin/day' | crontab -; "
)
FILE = CRON + "echo '1 2 * * * /bin/a' > /tab; "
SAME = FILE + "crontab /tab; "
TEMPLATE = CRON + "printf '%s\\n' '{{ m }} 2 * * * {{ d }}' '' > /tab; "
VALUES = {"template": "jinja", "context": {"m": 7}, "defaults": {"d": "/bin/d", "m": 1}}


on = on_machine()


SCENARIOS = [
    on("cron.file name=/tab", FILE),
    on("cron.file name=/tab", SAME, plans=False),
    on("cron.file name=/tab user=root", TAB + "echo '1 1 * * * /x' > /tab"),
    on("cron.file name=/etc/shells replace=false", TAB, plans=False),
    on("cron.file name=/tab user=zoe", TEMPLATE, **VALUES),
    on(
        "cron.file name=/tab source_hash=55da9fd89fe08361252baae6fb2ec2f1 source_hash_name=tab",
        FILE,
    ),
    on("cron.file name=/tab", FILE, source_hash="0" * 32, fails="does not match actual checksum"),
    on(
        "cron.file name=/tab",
        CRON + "printf '1 1 * * * /x' > /tab",
        fails="does not end with a line end",
    ),
    on("cron.file name=/no/such/tab", CRON, fails="/no/such/tab"),
    on("cron.file name=/tab user=nobody-here", CRON, fails="Could not identify group"),
    on("cron.present name=/bin/two identifier=two", CRON, comment="first\nsecond"),
    on("cron.present name=/bin/one minute=1 identifier=one", HAS, plans=False),
    on("cron.present name=/bin/one minute=1 identifier=one", HAS, comment=""),
    on("cron.absent name=/bin/day special=@daily", HAS),
    on(
        "cron.absent name=x identifier=one minute=1 hour=2 daymonth=3 month=4 dayweek=5 comment=c",
        HAS,
    ),
    on("cron.present name=/bin/off minute=#0 hour=17", CRON),
    on(
        "cron.present name=/bin/boot minute=@reboot",
        CRON,
        hour="",
        daymonth="",
        month="",
        dayweek="",
    ),
    on("cron.absent name=/bin/theirs commented=true", HAS, plans=False),
    on("cron.present name=/bin/theirs minute=5 hour=5 adopt=true", TAB, plans=False),
    on("cron.present name=/bin/theirs minute=6 commented=true adopt=true", TAB),
    on("cron.absent name=/bin/theirs adopt=true", TAB),
    on("cron.env_present name=MAILTO value=ours adopt=true", TAB),
    on("cron.env_present name=MAILTO value=ours", TAB),
    on("cron.env_present name=MAILTO value=7", HAS),
    on("cron.env_present name=EMPTY", HAS, plans=False),
    on("cron.env_present name=NEW user=zoe", HAS, value='"a b"'),
    on("cron.env_absent name=MAILTO", TAB, plans=False),
    on("cron.env_absent name=MAILTO", HAS),
]
