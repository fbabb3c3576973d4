# SPDX-License-Identifier: Apache-2.0
"""Packages with a real dnf, on a throw-away machine with a repository of its own.

The repository: tests/support/debian_layer.py, RPMS. The machine has apt as well; its configuration
says that packages are dnf's.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from both_runs import unlike
from debian import Debian
from declaring import try_declared

from modules.pkg.rpm import packages as rpm

LAYER = "dnf"
CONFIG = "providers: {pkg: dnf}\n"
REPOSITORY = "[local]\nname=Local\nbaseurl=file:///usr/local/rpms\ngpgcheck=0\n"
HOLDS = "/etc/dnf/plugins/versionlock.list"
RPM = "/usr/local/rpms/{}.noarch.rpm"


@pytest.fixture
def machine(debian: Debian) -> Debian:
    debian.write("/etc/runner/runner.yaml", CONFIG)
    return debian


def installed(machine: Debian, *packages: str) -> None:
    machine.run("rpm", "-i", "--nosignature", *(RPM.format(package) for package in packages))


def there(machine: Debian) -> list[str]:
    lines = machine.read("rpm", "-qa", "--qf", "%{NAME} %{VERSION}\\n").splitlines()
    return sorted(line for line in lines if not line.startswith("gpg-pubkey"))


def single(machine: Debian, *words: str, code: int | None = 0) -> dict[str, Any]:
    (result,) = machine.results("single", *words, code=code).values()
    assert isinstance(result, dict)
    return result


def test_versions_are_ordered_as_rpm_does(machine: Debian) -> None:
    versions = "1.0 1.0~rc1 1.0^git1 1:0.5 0:1.0 1.0a 1.0.a 1.0.1 01.0 1_0 1.0. 1.0^ 1.0~ 1.0~~"
    versions += " 1.0^git1~x 2.0.1a a A b 10 9 1.0^20 1.0.20 fc4 fc.4"
    releases = "1.0-1 1.0-1~a 1.0-2 1:1.0-1 1.0~1-1 1.0-1.el9 1.0-1.fc40 1.0-10 1.0-1^a 1.0-a"
    pairs = [
        pair
        for words in (versions.split(), releases.split())
        for pair in itertools.product(words, repeat=2)
    ]
    lines = (f"print(rpm.vercmp('{one}', '{two}') .. ' ')" for one, two in pairs)
    machine.write("/tmp/compare.lua", "\n".join(lines))
    answers = machine.read("rpm", "--eval", "%{lua:dofile('/tmp/compare.lua')}").split()
    wrong = [
        (pair, answer)
        for pair, answer in zip(pairs, answers, strict=True)
        if rpm.compare(*pair) != int(answer)
    ]
    assert not wrong


def test_a_dry_run_says_what_the_real_run_does_and_a_second_one_is_quiet(machine: Debian) -> None:
    installed(machine, "words-1.0-1")
    machine.tree(
        life=(
            "old one: {pkg.installed: [{pkgs: [greeting: '<2']}]}\n"
            "brings another: {pkg.installed: [{name: phrase}]}\n"
            "with an epoch: {pkg.installed: [{name: old, version: '1:1.*'}]}\n"
        ),
        more="new one: {pkg.latest: [{name: greeting}]}\ngone: {pkg.removed: [{name: words}]}\n",
    )
    for name in ("life", "more"):
        dry = machine.results("sls", name, "--test")
        real = machine.results("sls", name)
        assert unlike(dry, real) == {}
        assert all(result["changes"] for result in real.values())
        again = machine.results("sls", name)
        assert not any(result["changes"] for result in again.values())
        assert all(result["result"] is True for result in again.values())
    assert there(machine) == ["greeting 2.0", "old 1.0"]


def test_one_simulation_answers_for_the_states_of_a_dry_run(machine: Debian) -> None:
    names = ("phrase", "words", "greeting", "old")
    machine.tree(many="\n".join(f"{name}: pkg.installed" for name in names))
    machine.run(": >/var/log/dnf.log")
    dry = machine.results("sls", "many", "--test")
    assert machine.read("grep -c 'Command: dnf.* --assumeno' /var/log/dnf.log") == "1"
    brought = {"phrase": {"phrase", "words"}, "words": set(), "greeting": {"greeting"}}
    assert {name: {*dry[name]["changes"]} for name in names} == {**brought, "old": {"old"}}
    real = machine.results("sls", "many")
    assert unlike(dry, real) == {}


def test_versions_go_up_and_down_and_stay(machine: Debian) -> None:
    installed(machine, "greeting-2.0-1")
    older = single(machine, "pkg.installed", "greeting", "version=1.0-1")
    assert older["changes"] == {"greeting": {"old": "2.0-1", "new": "1.0-1"}}
    single(machine, "pkg.held", "greeting")
    assert machine.path(HOLDS).read_text().count("greeting-0:1.0-1.*") == 1
    refused = single(machine, "pkg.installed", "greeting", "version=2.0", code=2)
    assert "Set update_holds to True" in refused["comment"]
    changed = single(machine, "pkg.installed", "greeting", "version=2.0", "update_holds=true")
    assert changed["changes"] == {"greeting": {"old": "1.0-1", "new": "2.0-1"}}
    assert "greeting-0:2.0-1.*" in machine.path(HOLDS).read_text()
    assert "greeting-0:1.0-1.*" not in machine.path(HOLDS).read_text()
    single(machine, "pkg.unheld", "greeting")
    assert "greeting" not in machine.path(HOLDS).read_text()


def test_what_dnf_refuses_fails_in_a_dry_run_too(machine: Debian) -> None:
    causes = {
        "rude": "rude-1.0-1.noarch conflicts with greeting",
        "lonely": "nothing provides nosuchthing needed by lonely-1.0-1.noarch",
        "nosuch": "No match for argument: nosuch",
    }
    installed(machine, "greeting-2.0-1")
    machine.tree(refused="\n".join(f"{name}: pkg.installed" for name in causes))
    for words in (("--test",), ()):
        results = machine.results("sls", "refused", *words, code=2)
        for name, cause in causes.items():
            assert results[name]["result"] is False
            assert cause in results[name]["comment"]
    assert there(machine) == ["greeting 2.0"]


def test_a_package_without_a_trusted_signature_is_refused(machine: Debian) -> None:
    machine.write("/etc/yum.repos.d/local.repo", REPOSITORY.replace("gpgcheck=0", "gpgcheck=1"))
    result = single(machine, "pkg.installed", "words", code=2)
    assert "the key that the packages are signed with is not here" in result["comment"]
    assert there(machine) == []
    assert single(machine, "pkg.installed", "words", "skip_verify=true")["result"] is True


def test_a_key_is_imported_once(machine: Debian) -> None:
    home = "--homedir /root/keys --batch --passphrase ''"
    machine.run(
        f"mkdir -pm 700 /root/keys; gpg {home} --quick-gen-key Tester rsa2048 sign never;"
        f" gpg {home} --export >/root/key.gpg; gpg {home} --export --armor >/root/key.asc"
    )
    for key in ("/root/key.asc", "/root/key.gpg"):
        words = ("pkgrepo.managed", "local", f"key_url={key}", "gpgcheck=1", "refresh=false")
        assert single(machine, *words)["changes"], key
        assert "Tester" in machine.read("rpm", "-q", "gpg-pubkey", "--qf", "%{SUMMARY}")
        assert single(machine, *words)["changes"] == {}
        machine.run("rpm -e $(rpm -q gpg-pubkey)")
    machine.run("echo nonsense >/root/key.asc")
    refused = single(machine, "pkgrepo.managed", "local", "key_url=/root/key.asc", code=2)
    assert "is no PGP key" in refused["comment"]


def test_a_mirror_that_does_not_answer_is_named(machine: Debian) -> None:
    gone = "[gone]\nname=Gone\nbaseurl=http://127.0.0.1:1/\ngpgcheck=0\nskip_if_unavailable=0\n"
    machine.write("/etc/yum.repos.d/gone.repo", gone)
    result = single(machine, "pkg.installed", "nosuch", code=2)
    assert "Failed to download metadata for repo 'gone'" in result["comment"]
    assert "the mirror does not answer" in result["comment"]


def test_another_package_manager_is_waited_for(machine: Debian) -> None:
    holding = (
        "import fcntl, time; lock = open('/var/lib/rpm/.rpm.lock', 'w');"
        " fcntl.lockf(lock, fcntl.LOCK_EX); print('held', flush=True)\n"
        "while 'not run transaction' not in open('/var/log/dnf.log').read(): time.sleep(0.1)"
    )
    machine.write("/tmp/hold.py", holding)
    machine.run(": >/var/log/dnf.log")
    machine.start("python3", "/tmp/hold.py", output="/tmp/held", ready="test -s /tmp/held")
    done = machine.runner("single", "pkg.installed", "words")
    assert "waiting for another package manager" in done.stderr
    assert there(machine) == ["words 1.0"]


# in the shape of the public formulas: defaults and maps in YAML, merged with the pillar; a state an
# SLS, files by template, what belongs together by requisites of whole SLS files
FORMULA = {
    "talk/defaults.yaml": "talk: {package: hello, config: /etc/talk.conf, extra: [], tone: loud}",
    "talk/osfamilymap.yaml": "RedHat: {package: greeting, config: /etc/greeting.conf}\nDebian: {}",
    "talk/osfingermap.yaml": "Rocky Linux-9: {extra: [phrase]}",
    "talk/map.jinja": """
{%- set tplroot = tpldir.split('/')[0] %}
{%- import_yaml tplroot ~ "/defaults.yaml" as defaults %}
{%- import_yaml tplroot ~ "/osfamilymap.yaml" as families %}
{%- import_yaml tplroot ~ "/osfingermap.yaml" as fingers %}
{%- set merged = salt['grains.filter_by'](defaults, default='talk',
    merge=salt['grains.filter_by'](families, grain='os_family', merge=salt['grains.filter_by'](
        fingers, grain='osfinger', merge=salt['pillar.get']('talk', {}, merge=True)))) %}
{%- set talk = merged %}
""",
    "talk/init.sls": "include: [.package, .config]",
    "talk/package/init.sls": """
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import talk with context %}
talk-package:
  pkg.installed:
    - name: {{ talk.package }}
talk-extra:
  pkg.installed:
    - pkgs: {{ talk.extra | json }}
    - require: [{pkg: talk-package}]
talk-unwanted:
  pkg.removed:
    - pkgs: {{ talk.unwanted }}
""",
    "talk/config/init.sls": """
{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ "/map.jinja" import talk with context %}
include: [{{ tplroot }}.package]
talk-config:
  file.managed:
    - name: {{ talk.config }}
    - source: salt://{{ tplroot }}/files/talk.conf.jinja
    - template: jinja
    - context: {talk: {{ talk | json }}}
    - require: [{sls: {{ tplroot }}.package}]
""",
    "talk/files/talk.conf.jinja": "tone = {{ talk.tone }}\n",
}
ROCKY = "{os: Rocky, os_family: RedHat, osfullname: Rocky Linux, osfinger: Rocky Linux-9}"


def test_a_formula_of_the_public_shape(machine: Debian) -> None:
    for path, text in FORMULA.items():
        machine.write(f"/srv/runner/states/{path}", text)
    machine.write("/etc/runner/runner.yaml", f"{CONFIG}grains: {ROCKY}\n")
    pillar = json.dumps({"talk": {"tone": "soft", "unwanted": ["old"]}})
    installed(machine, "old-1.0-1")
    dry, real, again = (
        {
            key: result["changes"]
            for key, result in machine.results("sls", "talk", "--pillar", pillar, *words).items()
        }
        for words in (["--test"], [], [])
    )
    assert real == {
        "talk-package": {"greeting": {"old": "", "new": "2.0-1"}},
        "talk-extra": {"phrase": {"old": "", "new": "1.0-1"}, "words": {"old": "", "new": "1.0-1"}},
        "talk-unwanted": {"old": {"old": "1:1.0-1", "new": ""}},
        "talk-config": {"diff": "--- \n+++ \n@@ -1 +1 @@\n-plain\n+tone = soft\n"},
    }
    assert dry == real
    assert not any(again.values())


def test_what_is_not_declared_goes(machine: Debian) -> None:
    installed(machine, "words-1.0-1", "phrase-1.0-1", "greeting-2.0-1", "old-1.0-1")
    # what an earlier test installed is in the history of dnf
    machine.run("dnf -q -C mark install words greeting old; dnf -q -C mark remove phrase")

    def names() -> str:
        return machine.read("rpm", "-qa", "--qf", "%{NAME}\n")

    try_declared(machine, names, "old", "2.0-1")


def test_what_an_interrupted_dnf_left_twice_is_removed_first(machine: Debian) -> None:
    installed(machine, "greeting-1.0-1")
    # what an upgrade leaves that was killed between its two halves
    machine.run("rpm", "-i", "--justdb", "--force", "--nosignature", RPM.format("greeting-2.0-1"))
    assert there(machine) == ["greeting 1.0", "greeting 2.0"]
    done = machine.runner("single", "pkg.installed", "words")
    assert "dnf had been interrupted: the old versions of greeting were removed" in done.stdout
    assert there(machine) == ["greeting 2.0", "words 1.0"]


def test_groups_files_and_altered_packages(machine: Debian) -> None:
    group = single(machine, "pkg.group_installed", "talking", "include=[old]")
    assert sorted(group["changes"]) == ["greeting", "old", "words"]
    assert single(machine, "pkg.group_installed", "Talking Tools")["changes"] == {}
    machine.run("echo altered >/usr/share/words/version")
    again = single(machine, "pkg.installed", "words", "pkg_verify=true")
    assert again["changes"] == {"words": {"old": "1.0-1", "new": "1.0-1"}}
    assert machine.path("/usr/share/words/version").read_text() == "1.0\n"
    machine.run("echo altered >/etc/words.conf")
    options = "pkg_verify=[{ignore_types: [config]}]"
    assert single(machine, "pkg.installed", "words", options)["changes"] == {}
    provided = single(machine, "pkg.installed", "vocabulary", "resolve_capabilities=true")
    assert provided["changes"] == {}
    source = f"sources=[{{phrase: {RPM.format('phrase-1.0-1')}}}]"
    assert single(machine, "pkg.installed", "phrase", source)["changes"] == {
        "phrase": {"old": "", "new": "1.0-1"}
    }


def test_repositories_are_written_and_deleted(machine: Debian) -> None:
    machine.run("mkdir -p /srv/other; cp /usr/local/rpms/words-* /srv/other")
    machine.run("createrepo_c", "-q", "/srv/other")
    words = ("pkgrepo.managed", "other", "humanname=Other", "gpgcheck=0", "priority=10")
    words += ("baseurl=file:///srv/other", "exclude=rude*", "comments=[Ours]")
    assert single(machine, *words, "--test")["changes"] == {"repo": "other"}
    assert not machine.path("/etc/yum.repos.d/other.repo").exists()
    assert single(machine, *words)["changes"] == {"repo": "other"}
    assert machine.path("/etc/yum.repos.d/other.repo").read_text() == (
        "[other]\n# Ours\nname=Other\nenabled=1\nbaseurl=file:///srv/other\ngpgcheck=0\n"
        "priority=10\nexclude=rude*\n"
    )
    assert single(machine, *words)["changes"] == {}
    off = single(machine, "pkgrepo.managed", "other", "enabled=false")
    assert off["changes"] == {"enabled": {"old": "1", "new": "0"}}
    only = single(machine, "pkg.installed", "words", "fromrepo=other")
    assert only["result"] is True
    assert "other" in machine.read("dnf", "-q", "-C", "info", "--installed", "words")
    assert single(machine, "pkgrepo.absent", "other")["changes"] == {"repo": "other"}
    assert not machine.path("/etc/yum.repos.d/other.repo").exists()
    assert single(machine, "pkgrepo.absent", "other")["changes"] == {}


def test_execution_functions(machine: Debian) -> None:
    installed(machine, "greeting-1.0-1")

    def call(*words: str, code: int = 0) -> Any:
        done = machine.runner("call", *words, "--out", "json", code=code)
        return json.loads(done.stdout)["local"]

    assert call("pkg.list_upgrades") == {"greeting": "2.0-1"}
    assert call("pkg.info_installed", "greeting", "attr=version,arch") == {
        "greeting": {"version": "1.0", "arch": "noarch"}
    }
    assert call("pkg.show", "greeting", "filter=license") == {
        "greeting": {"1.0-1": {"License": "MIT"}, "2.0-1": {"License": "MIT"}}
    }
    assert call("pkg.owner", "/etc/greeting.conf") == "greeting"
    assert call("pkg.version_cmp", "1.0~rc1", "1.0") == -1
    changed = call("pkg.mod_repo", "local", "enabled=0", "exclude=rude", "refresh=false")
    assert (changed["enabled"], changed["exclude"]) == ("0", "rude")
    assert call("pkg.list_repos")["local"] == changed
    assert call("pkg.del_repo", "local", "refresh=false") == "Repo 'local' has been removed"
    assert call("pkg.get_repo", "local") == {}


def test_the_family_of_the_machine_chooses_between_apt_and_dnf(machine: Debian) -> None:
    installed(machine, "words-1.0-1")
    machine.write("/etc/runner/runner.yaml", "{}\n")
    assert machine.runner("call", "pkg.version", "words").stdout.strip() in ("", "''")
    machine.write("/etc/runner/runner.yaml", "grains: {os_family: RedHat}\n")
    assert machine.runner("call", "pkg.version", "words").stdout.strip() == "1.0-1"


def test_packages_of_an_image_that_was_started_are_not_changed(debian: Debian) -> None:
    """As with bootc: what is there is found, and what is lacking says where it belongs."""
    debian.write("/etc/runner/runner.yaml", CONFIG)
    debian.run("touch /run/ostree-booted; rpm -i /usr/local/rpms/words-1.0-1.noarch.rpm")
    debian.run("mount --bind /usr /usr; mount -o remount,bind,ro /usr")
    for more in (["--test"], []):
        there = debian.results("single", "pkg.installed", "name=words", *more)
        assert [each["result"] for each in there.values()] == [True]
        for function in ("pkg.installed", "pkg.removed"):
            name = "rude" if function == "pkg.installed" else "words"
            (one,) = debian.results("single", function, f"name={name}", *more, code=2).values()
            assert one["result"] is False
            assert "the image that this system was started from (OSTree)" in one["comment"]
            assert "rpm-ostree install" in one["comment"]
    debian.run("mount -o remount,bind,rw /usr")  # as `bootc usr-overlay` lets it be written
    debian.results("single", "pkg.removed", "name=words")


FIRMWARE = "Name: linux-firmware\\nVersion: 1\\nRelease: 1\\nSummary: x\\nLicense: MIT\\n"


def test_what_dnf_says_takes_a_restart_is_named(machine: Debian) -> None:
    """By the grain and the end of a run; `system.reboot` does it."""
    machine.tree(
        web="firmware:\n  cmd.run: [name: rpm -i /root/linux-firmware-1-1.noarch.rpm]\n",
        boot="boot:\n  system.reboot: []\n",
    )
    machine.run(f"printf '{FIRMWARE}BuildArch: noarch\\n%%description\\n%%files\\n' >/root/a.spec")
    name = "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"
    machine.run("rpmbuild", "-bb", "-D_rpmdir /root", f"-D_build_name_fmt {name}", "/root/a.spec")
    assert machine.read("runner", "call", "grains.get", "reboot_required") == "false"
    machine.run("sleep 1")  # rpm notes whole seconds: not that of the boot
    assert "has to be restarted: packages ask for it" in machine.runner("sls", "web").stderr
    assert machine.read("runner", "call", "grains.get", "reboot_required") == "true"
    restart = machine.results("sls", "boot", "--test")["boot"]
    assert restart["changes"] == {"restart": "packages ask for it"}
