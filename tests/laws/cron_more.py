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
    on("cron.file", FILE, name="/tab"),
    on("cron.file", SAME, plans=False, name="/tab"),
    on("cron.file", TAB + "echo '1 1 * * * /x' > /tab", name="/tab", user="root"),
    on("cron.file", TAB, plans=False, name="/etc/shells", replace=False),
    on("cron.file", TEMPLATE, name="/tab", user="zoe", **VALUES),
    on(
        "cron.file",
        FILE,
        name="/tab",
        source_hash="55da9fd89fe08361252baae6fb2ec2f1",
        source_hash_name="tab",
    ),
    on(
        "cron.file", FILE, name="/tab", source_hash="0" * 32, fails="does not match actual checksum"
    ),
    on(
        "cron.file",
        CRON + "printf '1 1 * * * /x' > /tab",
        name="/tab",
        fails="does not end with a line end",
    ),
    on("cron.file", CRON, name="/no/such/tab", fails="/no/such/tab"),
    on("cron.file", CRON, name="/tab", user="nobody-here", fails="Could not identify group"),
    on("cron.present", CRON, name="/bin/two", comment="first\nsecond", identifier="two"),
    on("cron.present", HAS, plans=False, name="/bin/one", minute=1, identifier="one"),
    on("cron.present", HAS, name="/bin/one", minute=1, identifier="one", comment=""),
    on("cron.absent", HAS, name="/bin/day", special="@daily"),
    on(
        "cron.absent",
        HAS,
        name="x",
        identifier="one",
        minute=1,
        hour=2,
        daymonth=3,
        month=4,
        dayweek=5,
        comment="c",
    ),
    on("cron.present", CRON, name="/bin/off", minute="#0", hour=17),
    on(
        "cron.present",
        CRON,
        name="/bin/boot",
        minute="@reboot",
        hour="",
        daymonth="",
        month="",
        dayweek="",
    ),
    on("cron.absent", HAS, plans=False, name="/bin/theirs", commented=True),
    on("cron.present", TAB, plans=False, name="/bin/theirs", minute=5, hour=5, adopt=True),
    on("cron.present", TAB, name="/bin/theirs", minute=6, commented=True, adopt=True),
    on("cron.absent", TAB, name="/bin/theirs", adopt=True),
    on("cron.env_present", TAB, name="MAILTO", value="ours", adopt=True),
    on("cron.env_present", TAB, name="MAILTO", value="ours"),
    on("cron.env_present", HAS, name="MAILTO", value=7),
    on("cron.env_present", HAS, plans=False, name="EMPTY"),
    on("cron.env_present", HAS, name="NEW", value='"a b"', user="zoe"),
    on("cron.env_absent", TAB, plans=False, name="MAILTO"),
    on("cron.env_absent", HAS, name="MAILTO"),
]
