# SPDX-License-Identifier: Apache-2.0
"""The tree of sls_examples on a real machine, as the README says: nginx, a user, a crontab; then
again.
"""

from __future__ import annotations

import json
import os
import shlex

from debian import ROOT, Debian

HIGHSTATE = ["highstate", "--config", f"{ROOT}/sls_examples/runner.yaml"]


def page(debian: Debian, port: int, name: str = "index.html") -> str:
    # a reload is a signal: nginx listens anew a moment later
    retry = ["--retry", "20", "--retry-connrefused", "--retry-delay", "1"]
    return debian.read("curl", "-sS", *retry, f"http://localhost:{port}/{name}")


def touched(debian: Debian) -> list[str]:
    """Return what was made or changed anywhere since the file /marker was, beside runner's own
    notes and the tests'.

    What changes on this computer meanwhile shines through: it is not meant. It may change again
    between two looks, so that these are repeated.
    """
    own = " ".join(
        f"-path '{path}' -prune -o"
        for path in ("/var/lib/runner", "/var/cache/runner", "/var/cache/runner-*", "/marker")
    )
    found = debian.read(f"find / -xdev {own} -type f -newercm /marker -print").splitlines()
    return [path for path in found if not any(_shines_through(debian, path) for _ in range(9))]


def _shines_through(debian: Debian, path: str) -> bool:
    """Return whether a file is this computer's, or is gone."""
    time = debian.run(f"stat -c %.6Y {shlex.quote(path)}", code=None).stdout.strip()
    try:
        return not time or abs(os.lstat(path).st_mtime - float(time)) < 0.001
    except OSError:  # made in the machine, unless it has just gone from a folder of this computer
        marked = float(debian.read("stat -c %.6Y /marker"))
        folder = os.path.dirname(path)
        return os.path.isdir(folder) and os.stat(folder).st_mtime > marked


def test_the_highstate_of_the_example(debian: Debian) -> None:
    """Tried dry, done, done again, and done with other settings."""
    debian.run("touch /marker; sync -f /marker")
    dry = debian.results(*HIGHSTATE, "--test")
    assert {result["result"] for result in dry.values()} == {None}
    assert touched(debian) == []
    first = debian.results(*HIGHSTATE)
    assert all(result["result"] is True and result["changes"] for result in first.values()), first
    assert set(dry) == set(first)
    assert touched(debian), "the search finds what is changed"
    everything_works(debian)
    nothing_is_left_to_do(debian)
    a_changed_configuration_reloads_nginx(debian)


def everything_works(website: Debian) -> None:
    assert page(website, 8080) == "<h1>It works</h1>"
    assert page(website, 8080, "about.html") == "<h1>About this server</h1>"
    assert (
        website.read("systemctl is-active nginx; systemctl is-enabled nginx") == "active\nenabled"
    )
    assert website.read("id -un site; stat -c %a /usr/local/bin/site-report").split() == [
        "site",
        "755",
    ]
    crontab = website.read("crontab", "-l").split("\n")
    assert "# SALT_CRON_IDENTIFIER:site-report" in crontab
    assert "15 3 * * * /usr/local/bin/site-report" in crontab
    assert website.read("/usr/local/bin/site-report") == "2"


def nothing_is_left_to_do(website: Debian) -> None:
    second = website.results(*HIGHSTATE, "--detailed-exitcodes")
    assert all(result["result"] is True and not result["changes"] for result in second.values()), (
        second
    )
    assert {result["result"] for result in website.results(*HIGHSTATE, "--test").values()} == {True}


def a_changed_configuration_reloads_nginx(website: Debian) -> None:
    started = website.read("systemctl", "show", "--property=MainPID,InvocationID", "nginx")
    other = ["--pillar", json.dumps({"webserver": {"port": 8081}})]
    result = website.results(*HIGHSTATE, *other)["webserver-service"]
    assert result["comment"] == "Service reloaded"
    assert page(website, 8081) == "<h1>It works</h1>"
    assert website.read("systemctl", "show", "--property=MainPID,InvocationID", "nginx") == started
    website.run(
        "timeout 20 sh -c 'while curl -s -o /dev/null http://localhost:8080/; do sleep 0.1; done'"
    )
    assert not any(result["changes"] for result in website.results(*HIGHSTATE, *other).values())
