# SPDX-License-Identifier: Apache-2.0
"""Packages with a real zypper and rpm: dry runs and real ones, its lock, signatures, a mirror that
is down, an update that was killed.
"""

from __future__ import annotations

import json
from typing import Any

import yaml
from debian import Debian
from declaring import try_declared

LAYER = "zypper"

KEYS = """
export GNUPGHOME=/srv/gnupg
mkdir -m 700 $GNUPGHOME
gpg --batch -q --passphrase '' --quick-gen-key me@example.org rsa2048 sign never
gpg --armor --export >/srv/key.asc
mkdir /srv/signed; cp /usr/local/rpms/words-*.rpm /srv/signed
createrepo_c -q /srv/signed
gpg --batch -q --detach-sign --armor /srv/signed/repodata/repomd.xml
cp /srv/key.asc /srv/signed/repodata/repomd.xml.key
"""
SLOW = """
Name: slow
Version: VERSION
Release: 1
Summary: Waits while it is set up
License: MIT
BuildArch: noarch
%description
A test.
%post
test -e /run/calm && exit 0
touch /run/reached
sleep 100
%files
"""


def single(debian: Debian, *words: str, code: int = 0) -> dict[str, Any]:
    (result,) = debian.results("single", *words, code=code).values()
    assert isinstance(result, dict)
    return result


def dry_and_real(debian: Debian, *words: str) -> Any:
    """The changes of a state, which the dry run has predicted; a second run changes nothing."""
    dry = single(debian, *words, "--test")
    real = single(debian, *words)
    assert dry["changes"] == real["changes"], (dry, real)
    assert not single(debian, *words)["changes"]
    return real["changes"]


def test_a_version_a_hold_an_upgrade_and_a_downgrade(debian: Debian) -> None:
    assert single(debian, "pkg.installed", "greeting", "version=1.0", "hold=True")["changes"] == {
        "greeting": {"old": "install", "new": "1.0-1\nhold"}
    }
    assert "solvable_name: greeting" in debian.read("cat /etc/zypp/locks")
    refused = single(debian, "pkg.installed", "greeting", "version=2.0", code=2)
    assert "Set update_holds to True" in refused["comment"]
    assert not single(debian, "pkg.uptodate", "name=all")["changes"], "what is locked stays"
    single(debian, "pkg.unheld", "greeting")
    assert single(debian, "pkg.uptodate", "name=all")["changes"] == {
        "greeting": {"old": "1.0-1", "new": "2.0-1"}
    }
    assert dry_and_real(debian, "pkg.installed", "pkgs=[greeting: '<2', phrase: null]") == {
        "greeting": {"old": "2.0-1", "new": "1.0-1"},
        "phrase": {"old": "", "new": "1.0-1"},
        "words": {"old": "", "new": "1.0-1"},
    }
    assert debian.read("rpm -q greeting") == "greeting-1.0-1.noarch"


def test_what_is_not_declared_goes(debian: Debian) -> None:
    debian.run("zypper -q -n install greeting words old phrase")
    debian.write("/var/lib/zypp/AutoInstalled", "phrase\n")
    try_declared(debian, lambda: debian.read("rpm -qa --qf '%{NAME}\\n'"), "old", "2.0-1")


def test_what_cannot_be_installed_fails_in_a_dry_run_too(debian: Debian) -> None:
    debian.run("zypper -q -n install greeting")
    names = ("rude", "lonely", "failing")
    debian.tree(three=json.dumps({name: {"pkg.installed": []} for name in names}))
    dry, real = (debian.results("sls", "three", *words, code=2) for words in (["--test"], []))
    for name, why in {
        "rude": "rude-1.0-1.noarch conflicts with greeting provided by greeting-2.0-1.noarch",
        "lonely": "nothing provides nosuchthing needed by lonely-1.0-1.noarch",
    }.items():
        assert dry[name]["comment"] == real[name]["comment"]
        assert why in real[name]["comment"]
        assert real[name]["changes"] == {}
    assert "%prein(failing-1.0-1.noarch) scriptlet failed" in real["failing"]["comment"]


def test_one_transaction_for_many_states(debian: Debian) -> None:
    names = ("greeting", "words", "phrase")
    debian.tree(many=json.dumps({name: {"pkg.installed": [{"aggregate": True}]} for name in names}))
    results = debian.results("sls", "many")
    assert {name: result["changes"] for name, result in results.items()} == {
        "greeting": {"greeting": {"old": "", "new": "2.0-1"}},
        "words": {"words": {"old": "", "new": "1.0-1"}},
        "phrase": {"phrase": {"old": "", "new": "1.0-1"}},
    }
    commands = debian.read("grep '|command|' /var/log/zypp/history | tail -1")
    assert all(f"'{name}'" in commands for name in names)


def test_it_waits_for_the_lock_and_looks_without_it(debian: Debian) -> None:
    debian.start("sleep 1000 | zypper --no-refresh shell", ready="test -s /run/zypp.pid")
    assert single(debian, "pkg.installed", "greeting", "--test")["result"] is None
    failed = debian.run("ZYPP_LOCK_TIMEOUT=0 runner single pkg.installed greeting", code=2)
    assert "waited 0 seconds; ZYPP_LOCK_TIMEOUT" in failed.stdout
    words = ("runner", "single", "pkg.installed", "greeting")
    pid = debian.start(*words, output="/run/told", ready="grep waiting /run/told")
    debian.kill("sleep")
    debian.ended(pid)
    told = debian.read("cat /run/told")
    assert "waiting for another package manager: System management is locked" in told
    assert debian.read("rpm -q greeting") == "greeting-2.0-1.noarch"


def test_a_repository_whose_key_is_not_trusted_and_then_is(debian: Debian) -> None:
    debian.run(KEYS)
    debian.run("zypper -q modifyrepo --disable local")
    signed = ("pkgrepo.managed", "signed", "baseurl=file:///srv/signed", "gpgcheck=True")
    refused = single(debian, *signed, code=2)["comment"]
    for part in ("Signature verification failed for repomd.xml", "Hint: ", "gpgautoimport: True"):
        assert part in refused
    assert single(debian, "pkg.installed", "words", code=2)["changes"] == {}
    assert dry_and_real(debian, *signed, "key_url=/srv/key.asc") == {"repo": "signed"}
    assert "words" in single(debian, "pkg.installed", "words")["changes"]
    debian.run("rpm -e words $(rpm -qa 'gpg-pubkey*'); rm /etc/zypp/repos.d/signed.repo")
    assert single(debian, *signed, "gpgautoimport=True")["changes"] == {"repo": "signed"}
    assert "words" in single(debian, "pkg.installed", "words")["changes"]
    unsigned = "sources=[rude: /usr/local/rpms/rude-1.0-1.noarch.rpm]"
    refused = single(debian, "pkg.installed", "x", unsigned, code=2)["comment"]
    assert "Signature verification failed [6-File is unsigned]" in refused
    assert "skip_verify: True installs without verifying" in refused


def test_a_mirror_that_is_down(debian: Debian) -> None:
    bad = ("pkgrepo.managed", "bad", "baseurl=http://127.0.0.1:9/x")
    refused = single(debian, *bad, code=2)["comment"]
    for part in ("127.0.0.1 port 9", "Hint: the repository cannot be reached"):
        assert part in refused
    done = debian.runner("single", "pkg.latest", "greeting", "refresh=True")
    assert "some package lists are old" in done.stdout + done.stderr
    assert debian.read("rpm -q greeting") == "greeting-2.0-1.noarch", "from the others"


def test_an_update_that_was_killed_is_finished_first(debian: Debian) -> None:
    for version in ("1.0", "2.0"):
        debian.write("/srv/slow.spec", SLOW.replace("VERSION", version))
        debian.run("rpmbuild -bb -D '_rpmdir /srv/slow' -D '_topdir /srv/build' /srv/slow.spec")
    debian.run("createrepo_c -q /srv/slow; touch /run/calm")
    single(debian, "pkgrepo.managed", "slow", "baseurl=file:///srv/slow", "gpgcheck=False")
    single(debian, "pkg.installed", "slow", "version=1.0")
    debian.run("rm /run/calm")
    words = ("runner", "single", "pkg.latest", "slow")
    pid = debian.start(*words, ready="test -e /run/reached")
    debian.kill("zypper", "rpm", "sleep")
    debian.ended(pid)
    debian.run("touch /run/calm")
    assert debian.read("rpm -q slow").split() == ["slow-1.0-1.noarch", "slow-2.0-1.noarch"]
    dry = debian.runner("single", "pkg.latest", "slow", "--test")
    assert "an update was interrupted, which the next change first finishes: slow" in dry.stdout
    assert debian.read("rpm -q slow | wc -l") == "2", "a dry run changes nothing"
    assert dry_and_real(debian, "pkg.latest", "slow") == {"slow": {"old": "1.0-1", "new": "2.0-1"}}
    assert debian.read("rpm -q slow") == "slow-2.0-1.noarch"


def test_patches_and_what_is_asked_of_packages(debian: Debian) -> None:
    debian.run(": >/var/lib/zypp/AutoInstalled; zypper -q -n install greeting=1.0")
    assert yaml.safe_load(debian.read("runner call pkg.list_upgrades")) == {"greeting": "2.0-1"}
    assert single(debian, "pkg.patch_installed", "TEST-2026-1")["changes"] == {
        "greeting": {"old": "1.0-1", "new": "2.0-1"}
    }
    again = single(debian, "pkg.patch_installed", "TEST-2026-1")
    assert again["comment"] == "Advisory is already installed"
    assert debian.read("runner call pkg.owner /etc/greeting.conf") == "greeting"
    repositories = yaml.safe_load(debian.read("runner call pkg.list_repos"))
    assert repositories["local"]["gpgcheck"] is False
    debian.run("zypper -q -n install phrase; zypper -q -n remove phrase")
    unneeded = debian.read("runner call pkg.autoremove list_only=True --out json")
    assert json.loads(unneeded) == {"local": ["words"]}


def test_the_package_manager_is_chosen_by_the_system_or_by_the_configuration(
    debian: Debian,
) -> None:
    assert debian.read("runner call pkg.version base") == "1.0-1"
    debian.run("rm /etc/runner/runner.yaml")
    assert debian.read("runner call pkg.version base") == "", "apt, as it is a Debian"
    debian.write("/etc/os-release", 'NAME="openSUSE Leap"\nID="opensuse-leap"\nVERSION_ID="15.6"\n')
    assert debian.read("runner call pkg.version base") == "1.0-1"
    apt = single(debian, "pkg.installed", "greeting", "provider=apt", "--test")
    assert apt["changes"] == {"greeting": {"old": "", "new": "2.0"}}
