# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans, with zypper."""

from __future__ import annotations

import json

from both_runs import assert_foreseen, contents_of
from debian import Debian
from rpm_versions import try_triggers, try_versions

LAYER = "zypper"
INIT = "none"


def test_files_of_zyppers_packages_are_foreseen(debian: Debian) -> None:
    try_versions(debian)


def test_what_a_package_needs_is_foreseen_too(debian: Debian) -> None:
    paths = ["/usr/share/words/version", "/etc/words.conf", "/etc/phrase.conf"]
    assert_foreseen(debian, {"phrase": {"pkg.installed": []}, **contents_of(paths)})


def test_what_a_server_has_is_fetched_once(debian: Debian) -> None:
    debian.run("ip link add net0 type bridge; ip addr add 10.9.8.7/24 dev net0")
    debian.run("ip link set net0 up")
    debian.start("sh", "-c", "cd /usr/local/rpms; exec python3 -m http.server 8000 2>/run/asked")
    url = "http://10.9.8.7:8000"
    debian.until(f"python3 -c 'import urllib.request as u; u.urlopen(\"{url}\")'")
    debian.run(f"zypper -q removerepo local; zypper -q addrepo --no-gpgcheck {url} web")
    debian.run("zypper -q -n refresh; rm -rf /var/cache/zypp/packages")
    seen = {"/etc/words.conf": {"file.managed": [{"contents": "own"}]}}
    debian.tree(all=json.dumps({"phrase": {"pkg.installed": []}, **seen}))
    for _ in range(2):
        dry = debian.results("sls", "all", "--test")
        assert "-plain\n" in dry["/etc/words.conf"]["changes"]["diff"]
    assert debian.read("grep -c '[.]rpm HTTP' /run/asked") == "2", "phrase and words"


def test_triggers_of_rpm_are_followed(debian: Debian) -> None:
    try_triggers(debian)
