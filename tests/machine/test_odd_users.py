# SPDX-License-Identifier: Apache-2.0
"""The tests themselves where a stranger may run them: a user without a name, in a checkout of
somebody else, with an odd environment; on other distributions.
"""

from __future__ import annotations

import sys

import pytest
from debian import ROOT, Debian

# a sample: what asks for users, servers, programs, descriptors, texts and the clock
SAMPLE = (
    "tests/modules/test_everyday_functions.py",
    "tests/modules/test_for_templates.py",
    "tests/runner/support/test_group_commit.py",
    "tests/states/file/test_umask.py",
)
FIRST = "tests/test_laws.py::test_laws_of_first_scenarios"
SCENARIOS = (
    "test_laws.py and not (cmd or cron or file or gem or postgres or rabbitmq or supervisord)"
)
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
ODD = ("HOME=/srv/ho me", "TMPDIR=/srv/tmp", "LANG=C", "LC_ALL=C", "TZ=Pacific/Chatham")


def test_a_stranger_runs_the_tests(debian: Debian) -> None:
    debian.run("mkdir -m 777 '/srv/ho me'; mkdir -m 1777 /srv/tmp; chmod 755 /root")
    debian.run("rm -f /usr/bin/unshare; mount -t tmpfs -o ro none /dev/shm")
    debian.run("echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6 >/dev/null", code=None)
    words = ("--shuffle-seed", "7", *SAMPLE, FIRST, "-k", f"not ({SCENARIOS})")
    nobody = ("setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups")
    line = 'umask 077; cd "$0"; exec "$@"'
    done = debian.run("sh", "-c", line, str(ROOT), *nobody, "env", *ODD, *PYTEST, *words, code=None)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert "has no name" in done.stdout, "what it skips has its reason"
    debian.run("mount -t tmpfs -o size=1m none /srv/tmp")
    done = debian.run("sh", "-c", line, str(ROOT), "env", *ODD, *PYTEST, *SAMPLE, code=None)
    assert done.stderr.startswith("ERROR: /srv/tmp has 1 MB left, and the tests need 500: "), done


# the layer with its package manager; what /etc/os-release says, and what compares versions there
RELEASES = {
    "pacman": ("ID=arch\nNAME='Arch Linux'\n", "vercmp"),
    "dnf": ("ID=almalinux\nNAME=AlmaLinux\nID_LIKE='rhel centos fedora'\nVERSION_ID=9.4\n", "rpm"),
}
DEBIANS = "/usr/bin/apt* /usr/bin/dpkg* /var/lib/dpkg /etc/debian_version /etc/apt"
# a sample: what asks for the distribution, its package manager, versions, programs and users
ELSEWHERE = (
    "tests/properties/test_versions.py",
    "tests/modules/pkg",
    "tests/modules/test_for_templates.py",
    "tests/runner/language/test_grains.py",
)


@pytest.mark.parametrize("layer", RELEASES, indirect=True)
def test_tests_run_on_another_distribution(debian: Debian, request: pytest.FixtureRequest) -> None:
    """Its package manager and its name, with this computer's Python."""
    release, compares = RELEASES[request.node.callspec.params["layer"]]
    debian.write("/etc/os-release", release)
    debian.run(f"rm -rf {DEBIANS}")
    debian.run("chmod 755 /root")
    line = 'cd "$0"; exec "$@"'
    done = debian.run("sh", "-c", line, str(ROOT), *PYTEST, "--fast", *ELSEWHERE, code=None)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    wanting = f"{compares} is not installed"
    assert wanting not in done.stdout, "versions are compared with its own tool"


def test_a_shell_that_is_not_there_is_told(debian: Debian) -> None:
    debian.tree(
        it="""
none: {user.present: [{createhome: false}, {shell: /opt/no-shell}]}
made: {user.present: [{createhome: false}, {shell: /opt/shell}, {require: [{file: /opt/shell}]}]}
/opt/shell: {file.managed: [{contents: x}, {mode: 755}]}
"""
    )
    for words in (["--test"], []):
        results = debian.results("sls", "it", *words)
        (told,) = results["none"]["warnings"]
        assert told == "there is no /opt/no-shell: as long as that is so, none cannot log in"
        assert "warnings" not in results["made"]
