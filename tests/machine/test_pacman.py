# SPDX-License-Identifier: Apache-2.0
"""Packages with a real pacman: versions, holds, conflicts, signatures, a lock, a kill, a mirror
that is down. Its repository holds what tests/support/debian_layer.py made with makepkg.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator

import pytest
from debian import Debian
from declaring import try_declared

from modules.pkg.pacman import versions as pacman_versions

LAYER = "pacman"
OLD = "pacman -U --noconfirm /usr/local/older/greeting-1.0*"
LOCK = """import os, time
lock = os.open("/var/lib/pacman/db.lck", os.O_CREAT | os.O_EXCL)
while not os.path.exists("/run/release"):
    time.sleep(0.05)
os.remove("/var/lib/pacman/db.lck")
"""


def single(debian: Debian, *words: str, code: int = 0) -> dict[str, object]:
    (result,) = debian.results("single", *words, code=code).values()
    assert isinstance(result, dict)
    return result


@pytest.fixture
def clean(debian: Debian) -> Iterator[Debian]:
    """The machine, afterwards without packages and with the configuration that it had."""
    debian.run("cp -n /etc/pacman.conf /srv/pacman.conf; rm -rf /var/cache/pacman/pkg/*")
    yield debian
    debian.run(
        "cp /srv/pacman.conf /etc/pacman.conf; rm -f /var/lib/pacman/db.lck; pacman -Sy;"
        " set -- $(pacman -Qq); test $# = 0 || pacman -Rdd --noconfirm $@"
    )


def test_what_is_not_declared_goes(clean: Debian) -> None:
    clean.run("pacman -S --noconfirm words phrase greeting polite; pacman -D --asdeps phrase")
    try_declared(clean, lambda: clean.read("pacman", "-Qq"), "polite", "2.0-1")


def test_versions_an_upgrade_a_hold_and_a_removal(clean: Debian) -> None:
    clean.run(f"{OLD}; cp /usr/local/older/greeting-1.0* /var/cache/pacman/pkg")
    assert not single(clean, "pkg.installed", "greeting")["changes"], "any version will do"
    single(clean, "pkg.held", "greeting")
    assert clean.read("pacman-conf IgnorePkg") == "greeting"
    refused = single(clean, "pkg.installed", "greeting", "version=2.0-1", code=2)
    assert "update_holds" in str(refused["comment"])
    assert "IgnorePkg" in str(single(clean, "pkg.latest", "greeting", code=2)["comment"])
    assert not single(clean, "pkg.uptodate", "all")["changes"]
    single(clean, "pkg.unheld", "greeting")
    assert clean.read("cat /etc/pacman.conf") == clean.read("cat /srv/pacman.conf")
    change = {"greeting": {"old": "1.0-1", "new": "2.0-1"}}
    assert single(clean, "pkg.latest", "greeting", "--test")["changes"] == change
    assert single(clean, "pkg.latest", "greeting")["changes"] == change
    back = single(clean, "pkg.installed", "greeting", "version=<2")
    assert back["changes"] == {"greeting": {"old": "2.0-1", "new": "1.0-1"}}, "from the cache"
    single(clean, "pkg.removed", "greeting")
    clean.run("pacman -Q greeting", code=1)


def test_purging_takes_configuration_and_what_needs_it(clean: Debian) -> None:
    clean.run("pacman -S --noconfirm phrase; echo mine >>/etc/words.conf")
    refused = single(clean, "pkg.removed", "words", "--test", code=2)
    assert "removing words breaks dependency 'words>=1.0' required by phrase" in str(refused)
    changes = single(clean, "pkg.purged", "words")["changes"]
    assert changes == {
        "removed": {},
        "installed": {"phrase": {"old": "2.0-1", "new": ""}, "words": {"old": "2.0-1", "new": ""}},
    }
    assert clean.read("ls /etc | grep -c ^words || true") == "0"


STATES = """
one: {pkg.installed: [{pkgs: [phrase, greeting]}]}
two: {pkg.installed: [{name: words}]}
three: {pkg.installed: [{name: slow}]}
"""


def test_a_dry_run_is_equal_to_the_real_run_and_a_second_run_is_quiet(clean: Debian) -> None:
    clean.run("touch /run/calm; pacman -U --noconfirm /usr/local/older/manners-1.0*")
    clean.tree(all=STATES, newest="all packages: {pkg.uptodate: []}")
    for sls in ("all", "newest"):
        dry = clean.results("sls", sls, "--test", code=None)
        real = clean.results("sls", sls)
        assert {key: value["changes"] for key, value in dry.items()} == {
            key: value["changes"] for key, value in real.items()
        }
        assert not any(value["changes"] for value in clean.results("sls", sls).values())
    assert clean.read("pacman -Q polite") == "polite 2.0-1", "it replaces manners"
    clean.run("rm /run/calm")


def test_conflicts_are_seen_by_the_dry_run(clean: Debian) -> None:
    both = "pkgs=[rude, greeting]"
    for words in (("rude", "--test"), ("rude",), ("x", both, "--test"), ("x", both)):
        if words[0] == "rude":
            clean.run("pacman -S --noconfirm --needed greeting")
        result = single(clean, "pkg.installed", *words, code=2)
        assert "rude and greeting are in conflict" in str(result["comment"])


def test_a_package_without_a_trusted_signature_is_refused(clean: Debian) -> None:
    sign = (
        "export GNUPGHOME=/root/keys; mkdir -m 700 -p $GNUPGHOME /srv/signed; cd /srv/signed;"
        " cp /usr/local/pacman/greeting-2.0* .; test -e key.asc || gpg --batch --passphrase ''"
        " --quick-generate-key me@example.org; gpg --armor --export >key.asc;"
        " gpg --batch --yes --detach-sign greeting*.zst; repo-add -q signed.db.tar.gz *.zst"
    )
    clean.run(sign)
    clean.run("sed -i '/^.testing/,$d' /etc/pacman.conf")
    repository = ["signed", "server=file:///srv/signed", "siglevel=Required DatabaseOptional"]
    single(clean, "pkgrepo.managed", *repository)
    refused = single(clean, "pkg.installed", "greeting", code=2)
    assert "pacman trusts no signature of this: add the key" in str(refused["comment"])
    trusted = single(clean, "pkgrepo.managed", *repository, "key_url=/srv/signed/key.asc")
    assert trusted["changes"] == {"keys": "1 new"}
    assert single(clean, "pkg.installed", "greeting")["changes"]
    again = single(clean, "pkgrepo.managed", *repository, "key_url=/srv/signed/key.asc")
    assert not again["changes"]
    single(clean, "pkgrepo.absent", "signed")
    assert "/etc/pacman.d/signed.conf" not in clean.read("cat /etc/pacman.conf")
    clean.run("test -e /etc/pacman.d/signed.conf", code=1)


def test_it_waits_for_the_lock_and_says_so(clean: Debian) -> None:
    clean.start("python3", "-c", LOCK, ready="test -e /var/lib/pacman/db.lck")
    words = ("runner", "single", "pkg.installed", "words")
    pid = clean.start(*words, output="/run/told", ready="grep waiting /run/told")
    clean.run("touch /run/release")
    clean.ended(pid)
    assert "waiting for another package manager: python3 (" in clean.read("cat /run/told")
    assert clean.read("pacman -Q words") == "words 2.0-1"


def test_after_a_kill_it_says_what_to_do(clean: Debian) -> None:
    clean.run("rm -f /run/reached")
    clean.start("pacman", "-S", "--noconfirm", "slow", ready="test -e /run/reached")
    clean.kill("pacman", "sleep")
    clean.run("touch /run/calm")
    for mode in (["--test"], []):
        done = clean.runner("single", "pkg.installed", "greeting", *mode, code=None)
        said = " ".join((done.stdout + done.stderr).split())
        assert "no process has it open" in said
        assert "rm /var/lib/pacman/db.lck" in said
    clean.run("rm /var/lib/pacman/db.lck")
    result = single(clean, "pkg.installed", "all", "pkgs=[slow, greeting]")
    assert "greeting" in str(result["changes"])
    assert clean.read("pacman -Qq") == "greeting\nslow"


def test_a_mirror_that_is_down(clean: Debian) -> None:
    clean.run("sed -i 's|^Server = .*|Server = http://127.0.0.1:1/x|' /etc/pacman.conf")
    result = single(clean, "pkg.installed", "greeting", "refresh=True", code=2)
    assert "127.0.0.1:1" in str(result["comment"])
    assert "name another Server in /etc/pacman.d" in str(result["comment"])


def test_the_provider_is_that_of_the_system_when_nothing_is_configured(clean: Debian) -> None:
    clean.run("mv /etc/runner/runner.yaml /srv; cp -a /etc/os-release /srv/os-release")
    assert clean.read("/usr/local/bin/runner call pkg.owner /etc/os-release") != ""
    clean.run("rm /etc/os-release; printf 'ID=arch\\nNAME=\"Arch Linux\"\\n' >/etc/os-release")
    family = json.loads(clean.read("/usr/local/bin/runner call grains.get os_family --out json"))
    assert family == {"local": "Arch"}
    single(clean, "pkg.installed", "greeting")
    clean.run("mv -f /srv/os-release /etc/os-release; mv /srv/runner.yaml /etc/runner")
    assert clean.read("pacman -Q greeting") == "greeting 2.0-1"
    assert "greeting" in str(single(clean, "pkg.removed", "greeting", "provider=pacmanpkg"))


def test_versions_compare_as_with_vercmp(debian: Debian) -> None:
    chance = random.Random(18)
    pieces = ["1", "0", "10", "01", "a", "rc", ".", ".", "_", "..", "+", "-1", "-2", "1:"]
    versions = ["".join(chance.choices(pieces, k=chance.randint(1, 5))) for _ in range(30)]
    versions += ["1.0", "1.0-1", "1.0rc1", "1.0.a", "1:0.5", "1.0.1", "1.0a"]
    pairs = list(itertools.product(versions, repeat=2))
    lines = "".join(f"vercmp '{one}' '{two}'\n" for one, two in pairs)
    answers = debian.run("sh", stdin=lines).stdout.split()
    mine = [str(pacman_versions.compare(one, two)) for one, two in pairs]
    assert [pair for pair, one, two in zip(pairs, mine, answers, strict=True) if one != two] == []
