# SPDX-License-Identifier: Apache-2.0
"""Packages with a real pacman: versions, holds, conflicts, signatures, a lock, a kill, a mirror
that is down. Its repository holds what tests/support/debian_layer.py made with makepkg.
"""

from __future__ import annotations

import itertools
import json
import random

from both_runs import unlike
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


def test_what_is_not_declared_goes(debian: Debian) -> None:
    debian.run("pacman -S --noconfirm words phrase greeting polite; pacman -D --asdeps phrase")
    try_declared(debian, lambda: debian.read("pacman", "-Qq"), "polite", "2.0-1")


def test_versions_an_upgrade_a_hold_and_a_removal(debian: Debian) -> None:
    debian.run("cp /etc/pacman.conf /srv")
    debian.run(f"{OLD}; cp /usr/local/older/greeting-1.0* /var/cache/pacman/pkg")
    assert not single(debian, "pkg.installed", "greeting")["changes"], "any version will do"
    single(debian, "pkg.held", "greeting")
    assert debian.read("pacman-conf IgnorePkg") == "greeting"
    refused = single(debian, "pkg.installed", "greeting", "version=2.0-1", code=2)
    assert "update_holds" in str(refused["comment"])
    assert "IgnorePkg" in str(single(debian, "pkg.latest", "greeting", code=2)["comment"])
    assert not single(debian, "pkg.uptodate", "all")["changes"]
    single(debian, "pkg.unheld", "greeting")
    assert debian.read("cat /etc/pacman.conf") == debian.read("cat /srv/pacman.conf")
    change = {"greeting": {"old": "1.0-1", "new": "2.0-1"}}
    assert single(debian, "pkg.latest", "greeting", "--test")["changes"] == change
    assert single(debian, "pkg.latest", "greeting")["changes"] == change
    back = single(debian, "pkg.installed", "greeting", "version=<2")
    assert back["changes"] == {"greeting": {"old": "2.0-1", "new": "1.0-1"}}, "from the cache"
    single(debian, "pkg.removed", "greeting")
    debian.run("pacman -Q greeting", code=1)


def test_purging_takes_configuration_and_what_needs_it(debian: Debian) -> None:
    debian.run("pacman -S --noconfirm phrase; echo mine >>/etc/words.conf")
    refused = single(debian, "pkg.removed", "words", "--test", code=2)
    assert "removing words breaks dependency 'words>=1.0' required by phrase" in str(refused)
    changes = single(debian, "pkg.purged", "words")["changes"]
    assert changes == {
        "removed": {},
        "installed": {"phrase": {"old": "2.0-1", "new": ""}, "words": {"old": "2.0-1", "new": ""}},
    }
    assert debian.read("ls /etc | grep -c ^words || true") == "0"


STATES = """
one: {pkg.installed: [{pkgs: [phrase, greeting]}]}
two: {pkg.installed: [{name: words}]}
three: {pkg.installed: [{name: slow}]}
"""


def test_a_dry_run_is_equal_to_the_real_run_and_a_second_run_is_quiet(debian: Debian) -> None:
    debian.run("touch /run/calm; pacman -U --noconfirm /usr/local/older/manners-1.0*")
    debian.run("chown -R root /usr/local/pacman")  # what others can replace is not foreseen
    debian.tree(all=STATES, newest="all packages: {pkg.uptodate: []}")
    for sls in ("all", "newest"):
        dry = debian.results("sls", sls, "--test", code=None)
        real = debian.results("sls", sls)
        assert unlike(dry, real) == {}
        assert not any(value["changes"] for value in debian.results("sls", sls).values())
    assert debian.read("pacman -Q polite") == "polite 2.0-1", "it replaces manners"


def test_conflicts_are_seen_by_the_dry_run(debian: Debian) -> None:
    both = "pkgs=[rude, greeting]"
    for words in (("rude", "--test"), ("rude",), ("x", both, "--test"), ("x", both)):
        if words[0] == "rude":
            debian.run("pacman -S --noconfirm --needed greeting")
        result = single(debian, "pkg.installed", *words, code=2)
        assert "rude and greeting are in conflict" in str(result["comment"])


def test_a_package_without_a_trusted_signature_is_refused(debian: Debian) -> None:
    sign = (
        "export GNUPGHOME=/root/keys; mkdir -m 700 $GNUPGHOME; mkdir /srv/signed; cd /srv/signed;"
        " cp /usr/local/pacman/greeting-2.0* .; gpg --batch --passphrase ''"
        " --quick-generate-key me@example.org; gpg --armor --export >key.asc;"
        " gpg --batch --detach-sign greeting*.zst; repo-add -q signed.db.tar.gz *.zst"
    )
    debian.run(sign)
    debian.run("sed -i '/^.testing/,$d' /etc/pacman.conf")
    repository = ["signed", "server=file:///srv/signed", "siglevel=Required DatabaseOptional"]
    single(debian, "pkgrepo.managed", *repository)
    refused = single(debian, "pkg.installed", "greeting", code=2)
    assert "pacman trusts no signature of this: add the key" in str(refused["comment"])
    trusted = single(debian, "pkgrepo.managed", *repository, "key_url=/srv/signed/key.asc")
    assert trusted["changes"] == {"keys": "1 new"}
    assert single(debian, "pkg.installed", "greeting")["changes"]
    again = single(debian, "pkgrepo.managed", *repository, "key_url=/srv/signed/key.asc")
    assert not again["changes"]
    single(debian, "pkgrepo.absent", "signed")
    assert "/etc/pacman.d/signed.conf" not in debian.read("cat /etc/pacman.conf")
    debian.run("test -e /etc/pacman.d/signed.conf", code=1)


def test_it_waits_for_the_lock_and_says_so(debian: Debian) -> None:
    debian.start("python3", "-c", LOCK, ready="test -e /var/lib/pacman/db.lck")
    words = ("runner", "single", "pkg.installed", "words")
    pid = debian.start(*words, output="/run/told", ready="grep waiting /run/told")
    debian.run("touch /run/release")
    debian.ended(pid)
    assert "waiting for another package manager: python3 (" in debian.read("cat /run/told")
    assert debian.read("pacman -Q words") == "words 2.0-1"


def test_after_a_kill_it_says_what_to_do(debian: Debian) -> None:
    debian.start("pacman", "-S", "--noconfirm", "slow", ready="test -e /run/reached")
    debian.kill("pacman", "sleep")
    debian.run("touch /run/calm")
    for mode in (["--test"], []):
        done = debian.runner("single", "pkg.installed", "greeting", *mode, code=None)
        said = " ".join((done.stdout + done.stderr).split())
        assert "no process has it open" in said
        assert "rm /var/lib/pacman/db.lck" in said
    debian.run("rm /var/lib/pacman/db.lck")
    result = single(debian, "pkg.installed", "all", "pkgs=[slow, greeting]")
    assert "greeting" in str(result["changes"])
    assert debian.read("pacman -Qq") == "greeting\nslow"


def test_a_mirror_that_is_down(debian: Debian) -> None:
    debian.run("sed -i 's|^Server = .*|Server = http://127.0.0.1:1/x|' /etc/pacman.conf")
    result = single(debian, "pkg.installed", "greeting", "refresh=True", code=2)
    assert "127.0.0.1:1" in str(result["comment"])
    assert "name another Server in /etc/pacman.d" in str(result["comment"])


def test_the_provider_is_that_of_the_system_when_nothing_is_configured(debian: Debian) -> None:
    debian.run("rm /etc/runner/runner.yaml")
    assert debian.read("/usr/local/bin/runner call pkg.owner /etc/os-release") != ""
    debian.run("rm /etc/os-release; printf 'ID=arch\\nNAME=\"Arch Linux\"\\n' >/etc/os-release")
    family = json.loads(debian.read("/usr/local/bin/runner call grains.get os_family --out json"))
    assert family == {"local": "Arch"}
    single(debian, "pkg.installed", "greeting")
    assert debian.read("pacman -Q greeting") == "greeting 2.0-1"
    assert "greeting" in str(single(debian, "pkg.removed", "greeting", "provider=pacmanpkg"))


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
