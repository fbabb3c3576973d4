# SPDX-License-Identifier: Apache-2.0
"""Attacks by arguments, as templates and module.run give them: no state's signature stands before
these functions.
"""

from __future__ import annotations

import json

from debian import Debian

FILES = (
    "/etc/shadow /etc/group /etc/hosts /etc/fstab /etc/aliases /etc/default/locale"
    " /etc/sysctl.d/99-salt.conf"
)
PWNED = "/root/pwned"
EVIL = f"* * * * * touch {PWNED}"
HASH = "$6$abcdefgh$evil"
ATTACKS = (
    ("shadow.set_password", "daemon", f"{HASH}\nroot:{HASH}"),
    ("shadow.set_password", "daemon:x", HASH),
    ("user.chfullname", "daemon", "a\nroot::0:0::/:/bin/sh"),
    ("user.add", "-h"),
    ("group.add", "--help"),
    ("group.adduser", "sudo", "-h"),
    ("aliases.set_target", "postmaster", f'root\nroot: "|touch {PWNED}"'),
    ("locale.set_locale", 'C.UTF-8"\nLD_PRELOAD=/evil'),
    ("sysctl.persist", "kernel.domainname", "x\nkernel.core_pattern=|/evil"),
    ("cron.set_job", "root", "*", "*", "*", "*", "*", f"true\n{EVIL}"),
    ("cron.set_special", "root", "@daily", "true", f"identifier=x\n{EVIL}"),
    ("cron.set_env", "root", "MAILTO", f"x\n{EVIL}"),
    ("pkg.install", f"-oDPkg::Pre-Invoke::=touch {PWNED}"),
    ("pkg.install", "pkgs=['-oAPT::Solver=/bin/sh']"),
    ("pkg.remove", f"-oDPkg::Pre-Invoke::=touch {PWNED}"),
    ("pkg.hold", "--help"),
    ("pkg.latest_version", f"-oAPT::Update::Pre-Invoke::=touch {PWNED}"),
    ("alternatives.install", "--help", "/usr/bin/x", "/bin/true", "1"),
    ("alternatives.auto", "--help"),
    ("service.start", "--help"),
    ("kmod.load", "--help"),
    ("network.mod_hostname", "-F/etc/passwd"),
)


def snapshot(machine: Debian) -> str:
    """Whatever the attacks aim at."""
    return machine.run(
        f"sha256sum {FILES}; crontab -u root -l; ls {PWNED}; hostname", code=None
    ).stdout


def test_an_argument_is_no_option_and_no_line(debian: Debian) -> None:
    before = snapshot(debian)
    wrong = {}
    for function, *arguments in ATTACKS:
        words = [
            each if each.startswith(("pkgs=", "identifier=")) else repr_of(each)
            for each in arguments
        ]
        done = debian.runner("call", "--out", "json", function, "--", *words, code=None)
        assert "Traceback" not in done.stdout + done.stderr
        assert snapshot(debian) == before, (function, arguments)
        if not done.returncode and json.loads(done.stdout)["local"] not in (False, {}, ""):
            wrong[function, *arguments] = done.stdout
    assert not wrong, "it claims to be done"


def repr_of(text: str) -> str:
    """A text as the command line's YAML has it."""
    return json.dumps(text) if "\n" in text or text.startswith(("*", "@")) else text


def test_the_same_in_a_template_of_a_dry_run(debian: Debian) -> None:
    debian.tree(
        t=(
            f"{{{{ salt['pkg.latest_version']('-oAPT::Update::Pre-Invoke::=touch {PWNED}') }}}}\nx:"
            " test.nop\n"
        )
    )
    debian.runner("sls", "t", "--test", code=None)
    debian.run(f"test ! -e {PWNED}")
