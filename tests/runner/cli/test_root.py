# SPDX-License-Identifier: Apache-2.0
"""`--root DIR`: the machine is the tree below a folder, and nothing else."""

from __future__ import annotations

import ctypes.util
import json
import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from as_somebody import SOMEBODY
from command import Machine
from image_root import entries, image_root
from needing import may_mount, needs
from repositories import Repository
from starting import PATIENCE, at_a_terminal, running, wait_until

pytestmark = pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
TREE = """
/etc/greeting:
  file.managed:
    - source: salt://greeting
    - template: jinja
deploy:
  user.present:
    - shell: /bin/sh
seen:
  cmd.run:
    - name: id deploy >/root/seen; ls / >>/root/seen
    - creates: /root/seen
"""
ABOUT_THIS_MACHINE = ("disable", "doc", "report")


class Image(Machine):
    """runner on an image: its own files lie where they do on a machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        del self.config["id"]
        self.root = image_root(folder / "image")
        self.outside = folder / "outside"
        self.outside.mkdir()
        self.write(web=TREE)
        (folder / "states/greeting").write_text("{{ grains.os }} {{ grains.osrelease }}\n")

    def argv(self, *words: str) -> list[str]:
        argv = super().argv(*words)
        at = argv.index("--cachedir")
        del argv[at : at + 2]
        if "--root" in words or "root" in self.config or words[0] in ABOUT_THIS_MACHINE:
            return argv
        return [*argv, "--root", self.where]

    @property
    def where(self) -> str:
        return str(self.root)

    def text(self, path: str) -> str:
        return (self.root / path).read_text()


@pytest.fixture
def image(tmp_path: Path) -> Image:
    return Image(tmp_path / "work")


def empty_afterwards(image: Image) -> None:
    """Nothing of the machinery is left: no mount, nothing in what was mounted over."""
    assert image.where not in Path("/proc/self/mountinfo").read_text()
    for name in ("proc", "sys", "dev", "run", "tmp"):
        assert list((image.root / name).iterdir()) == [], name


def test_a_tree_makes_an_image(image: Image) -> None:
    before = entries(image.root)
    dry = image("sls", "web", "--test")
    assert "3 would change" in dry.stdout
    assert entries(image.root) == before
    image("sls", "web")
    assert image.text("etc/greeting") == "Debian 99\n"
    assert "deploy:x:" in image.text("etc/passwd")
    assert "deploy:x:" not in Path("/etc/passwd").read_text()
    assert not Path("/etc/greeting").exists()
    uid, *folders = image.text("root/seen").splitlines()
    assert "(deploy)" in uid
    assert {"etc", "root"} <= {*folders} <= {path.name for path in image.root.iterdir()}
    again = json.loads(image("sls", "web", "--out", "json").stdout)["local"]
    assert [value["changes"] for value in again.values()] == [{}, {}, {}]
    empty_afterwards(image)


def test_history_and_undo_lie_in_the_image(image: Image) -> None:
    image("sls", "web")
    with sqlite3.connect(image.root / "var/lib/runner/history.sqlite") as history:
        places = [row[0] for row in history.execute("select place from results")]
    history.close()
    assert places[0].startswith(f"{image.folder}/states/web.sls:")
    assert "runner sls web" in image("history").stdout
    image("undo", code=None)
    assert not (image.root / "etc/greeting").exists()
    assert "deploy" not in image.text("etc/passwd")


def test_accounts_name_and_hardware_are_those_of_the_image(image: Image) -> None:
    assert image("call", "user.list_users").stdout.split() == ["-", "imaged", "-", "root"]
    grains = image("call", "grains.item", "id", "host", "osrelease", "mem_total", "uuid").stdout
    assert grains.split("\n")[:3] == ["id: imagehost", "host: imagehost", "osrelease: '99'"]
    assert grains.split("\n")[3:] == ["mem_total: ''", "uuid: ''", ""]
    assert "id: web1" in image("call", "grains.item", "id", "--id", "web1").stdout


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"# a\n\n web.example.org \nb\n", "web.example.org"),
        (b"a b\n", "localhost"),
        (b"\xff\0", "localhost"),
        (b"h" * 300, "localhost"),
    ],
)
def test_a_host_name_is_one(image: Image, text: bytes, name: str) -> None:
    (image.root / "etc/hostname").write_bytes(text)
    assert image("call", "grains.get", "id").stdout.strip() == name


def test_what_goes_wrong_at_the_door_is_told(image: Image) -> None:
    (image.root / "etc/hostname").unlink()
    os.mkfifo(image.root / "etc/hostname")
    (image.root / "etc/resolv.conf").symlink_to("/run/" + "a" * 300)
    refused = image("call", "grains.get", "id", code=1)
    assert "File name too long" in refused.stderr and "bug" not in refused.stderr


@pytest.mark.parametrize(
    ("files", "init"),
    [
        ({"usr/sbin/init": "../lib/systemd/systemd"}, "systemd"),
        ({"usr/sbin/init": "runit-init"}, "runit"),
        ({"usr/sbin/init": "/bin/cat", "usr/sbin/openrc": "/bin/cat"}, "openrc"),
        ({"usr/sbin/init": "/bin/cat", "etc/inittab": "/bin/cat"}, "sysvinit"),
        ({}, "unknown"),
    ],
)
def test_the_init_is_the_one_that_will_run(image: Image, files: dict[str, str], init: str) -> None:
    for name, target in files.items():
        (image.root / name).symlink_to(target)
    assert image("call", "grains.get", "init").stdout.strip() == init


def test_no_link_leads_out_of_it(image: Image) -> None:
    """Absolute links, and `..`, mean the image: by the kernel, for programs, too."""
    secret = image.outside / "secret"
    secret.write_text("secret")
    (image.root / "etc/absolute").symlink_to(image.outside)
    (image.root / "etc/up").symlink_to(f"../../../../../../..{image.outside}")
    image.write(
        out=f"""
/etc/absolute/made:
  file.managed: [contents: x]
/etc/up/made:
  file.managed: [contents: x]
{image.outside}/made:
  file.managed: [contents: x, makedirs: true]
cat:
  cmd.run: [name: "cat /etc/absolute/secret /etc/up/secret || test ! -e {secret}"]
"""
    )
    image("sls", "out", code=None)
    assert [path.name for path in image.outside.iterdir()] == ["secret"]
    for name in ("absolute", "up"):
        found = image("call", "file.file_exists", f"/etc/{name}/secret").stdout
        assert found.strip() == "false"


def test_messages_have_the_paths_of_the_host(image: Image) -> None:
    image.write(bad="a:\n  file.manage:\n    - name: /x\n")
    done = image("sls", "bad", code=1)
    assert f"at {image.folder}/states/bad.sls:2:3" in done.stderr
    assert "  2 |   file.manage:" in done.stderr
    answer = image("check", "bad", "--out", "json", code=1).stdout
    assert f"{image.folder}/states/bad.sls" in answer
    assert "/run/runner" not in answer + done.stderr


def test_files_that_the_command_line_names_are_the_hosts(image: Image) -> None:
    events, plan = image.folder / "events", image.folder / "a.plan"
    image("sls", "web", "--test", "--events", str(events), "--plan", str(plan))
    assert len(events.read_text().splitlines()) > 3
    assert f"from {image.folder}/states" in image("plan", "show", str(plan)).stdout
    assert "/run/runner" not in plan.read_text()
    given = image.folder / "pillar.json"
    given.write_text('{"colour": "red"}')
    image.write(colour="/etc/colour:\n  file.managed: [contents: {{ pillar.colour }}]\n")
    image("sls", "colour", "--pillar", f"@{given}")
    assert image.text("etc/colour") == "red\n"


def test_side_by_side_states_have_their_programs(image: Image) -> None:
    """Python itself is started there, too: by the watchdog, and for regular expressions."""
    (image.root / "root/b").write_text("foo\n")
    image.write(
        beside="""
/root/a:
  file.managed: [contents: a, parallel: true]
/root/b:
  file.replace: [pattern: "o+", repl: "0", parallel: true]
"""
    )
    done = image("sls", "beside")
    assert image.text("root/b") == "f0\n"
    assert done.stderr == ""


def test_python_loads_nothing_of_the_image(image: Image) -> None:
    """What the C library looks for late, as at the end of a thread, is there; names are asked of
    the image's files.
    """
    (image.root / "etc/nsswitch.conf").write_text("hosts: strange\npasswd: strange\n")
    (image.root / "etc/hosts").write_text("192.0.2.7 known\n")
    modules = image.folder / "states/_modules"
    modules.mkdir()
    (modules / "probe.py").write_text(
        "import pwd, socket, sqlite3, ssl\n"
        "def loaded():\n"
        "    with open('/proc/self/maps') as file:\n"
        "        late = 'libgcc_s' in file.read()\n"
        "    return [late, socket.gethostbyname('known'), pwd.getpwnam('imaged').pw_uid]\n"
    )
    expected = [bool(ctypes.util.find_library("gcc_s")), "192.0.2.7", 4321]
    answer = json.loads(image("call", "probe.loaded", "--out", "json").stdout)
    assert answer["local"] == expected


def test_a_configuration_names_an_image(image: Image) -> None:
    image.config |= {"root": "image", "id": "web1"}
    image.write(id="/etc/id:\n  file.managed: [contents: {{ grains.id }}]\n")
    image("sls", "id")
    assert image.text("etc/id") == "web1\n"
    for command in ("disable", "report"):
        refused = image(command, "list", code=1)
        assert "`root` of the configuration names an image" in refused.stderr
    assert "Make sure" in image("doc", "file.managed").stdout


def test_a_plan_of_an_image_is_applied_to_it(image: Image) -> None:
    plan = image.folder / "web.plan"
    kept = image("sls", "web", "--test", "--plan", str(plan)).stderr
    assert f"runner apply {plan} --config {image.config_file} --root {image.where}" in kept
    assert "still holds" in image("apply", str(plan), "--test").stderr
    assert not (image.root / "etc/greeting").exists()

    elsewhere = Image(image.folder / "elsewhere")
    elsewhere.config_file = image.config_file
    refused = image("apply", str(plan), "--root", elsewhere.where, code=1)
    assert f"--root {image.where}" in refused.stderr, "it has another key"
    damaged = image.folder / "damaged"
    damaged.write_text(plan.read_text().replace('"sls"', '"highstate"', 1))
    damaged.chmod(0o600)
    assert "altered since" in image("apply", str(damaged), code=1).stderr

    assert "3 changed" in image("apply", str(plan)).stdout
    assert image.text("etc/greeting") == "Debian 99\n"
    assert "no longer holds" in image("apply", str(plan), code=1).stderr
    empty_afterwards(image)


def test_what_a_plan_of_an_image_cannot_have(image: Image) -> None:
    words = ("sls", "web", "--test", "--plan", str(image.folder / "a.plan"))
    assert "ssh-keygen -Y sign -f k" in image(*words, "--sign-key", "k", code=1).stderr
    assert "leave --image" in image(*words, "--image", code=1).stderr
    assert not (image.folder / "a.plan").exists()


def test_a_question_comes_before_an_image_is_changed(image: Image) -> None:
    for answer, changed in ((b"n\n", False), (b"y\n", True)):
        argv = image.argv("sls", "web", "--ask")
        at_a_terminal(argv, image.environment, b"[y/N]", [answer])
        assert (image.root / "etc/greeting").exists() is changed


EXPECTED = """
file: {/etc/greeting: {exists: true}, /etc/none: {exists: true}}
user: {deploy: {exists: true}}
command: {cat /etc/greeting: {stdout: Debian 99}}
"""


def test_a_rehearsal_happens_on_a_copy_of_the_image(image: Image) -> None:
    (image.folder / "expect.yaml").write_text(EXPECTED)
    image.root.chmod(0o700)
    before = entries(image.root)
    wanted = str(image.folder / "expect.yaml")
    done = image("rehearse", "sls", "web", "--twice", "--expect", wanted, "--out", "json", code=2)
    report = json.loads(done.stdout)
    assert {state["result"] for state in report["local"].values()} == {True}
    assert not report["differences"] and not report["second_run"]["changed"]
    files = report["changed"]["files"]
    assert {"/etc/greeting", "/etc/passwd", "/home/deploy", "/root/seen"} <= {*files}
    assert not [path for path in files if path.startswith(("/var", image.where))]
    assert files["/etc/greeting"]["diff"].endswith("+Debian 99")
    problems = [item["name"] for item in report["expectations"] if not item["ok"]]
    assert problems == ["/etc/none"]
    assert report["warnings"] == []
    assert entries(image.root) == before
    assert not (image.root / "var/lib/runner").exists()
    empty_afterwards(image)


IN_A_CHROOT = """
mkdir "$1/chroot" "$1/here" && mount --rbind / "$1/chroot" && cd "$1/chroot$1/here" &&
mount -t tmpfs none . && mkdir "$1/chroot$1/here/only" && folder=$1 && shift &&
exec chroot "$folder/chroot" env -C "$folder/here/only" "$@"
"""


def test_a_rehearsal_in_a_chroot_stays_in_its_copy(image: Image) -> None:
    """The root of the mounts is another one, which has not what is here."""
    argv = image.argv("rehearse", "single", "test.nop", "name=x", "--quiet")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", IN_A_CHROOT, "sh", str(image.folder), *argv],
        capture_output=True,
        text=True,
        env=image.environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rehearsal_can_be_looked_at(image: Image) -> None:
    """It runs the states that the command line chooses."""
    kept = ("--cachedir", str(image.folder / "kept"))
    image("rehearse", "sls", "web", "--keep", "--only", "/etc/greeting", *kept)
    argv = image.argv("rehearse", "--shell", *kept)
    shown = subprocess.run(
        argv, input="cat /etc/greeting; id deploy", capture_output=True, text=True, check=False
    )
    assert shown.stdout == "Debian 99\n"
    image("rehearse", "single", "test.nop", "name=x", *kept)


def test_an_image_gets_its_own_schedule(image: Image) -> None:
    """What starts there is the program that is there, with its own configuration."""
    job = ("single", "schedule.present", "name=often", "function=state.highstate", "hours=1")
    none = "no program `runner` in this image"
    (image.root / "etc/cron.d").mkdir()
    (image.root / "etc/systemd/system").mkdir(parents=True)
    assert none in image(*job, code=2).stdout
    assert none in image("schedule", "install", code=1).stderr
    program = image.root / "usr/bin/runner"
    program.touch(0o755)
    image(*job)
    image("schedule", "install")
    image("schedule", "install", "--first-boot")
    jobs = [f"cron.d/{path.name}" for path in (image.root / "etc/cron.d").iterdir()]
    assert len(jobs) == 2
    for path in (*jobs, "systemd/system/runner-first-boot.service"):
        text = image.text(f"etc/{path}")
        assert "/usr/bin/runner highstate -q" in text
        assert "/run/runner" not in text and image.where not in text and "--config" not in text
    status = image("schedule", "status").stdout
    assert "installed: /etc/cron.d/runner" in status and "pending" in status
    image("schedule", "remove")
    assert not (image.root / "etc/cron.d/runner").exists()
    shutil.rmtree(image.root / "var/lib/runner")
    image("schedule", "install", "--first-boot", "--image")
    assert not (image.root / "var/lib/runner").exists()


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    """States and pillar of two branches, and a branch that no top file names."""
    repository = Repository(tmp_path / "tree")
    sls = "/etc/{0}:\n  file.managed: [contents: '{{{{ pillar.who }}}} {0}']\n"
    states = {"a.sls": sls.format("main"), "b.sls": sls.format("base")}
    tops = {"top.sls": "base: {'*': [a]}\ndev: {'*': [c]}\n", "pillar/top.sls": "base: {'*': [p]}"}
    repository.commit({**states, **tops, "pillar/p.sls": "who: somebody"})
    for branch in ("dev", "other"):
        repository.git("checkout", "-q", "--orphan", branch)
        repository.git("rm", "-qrf", ".")
        repository.commit({"c.sls": sls.format(branch)})
    return repository


def test_git_repositories_are_fetched_outside(image: Image, tree: Repository) -> None:
    image.config |= {
        "fileserver_backend": ["gitfs"],
        "gitfs_remotes": [tree.url],
        "gitfs_base": "main",
        "git_pillar_base": "main",
        "ext_pillar": [{"git": [{f"main {tree.url}": [{"root": "pillar"}]}]}],
    }
    cache = image.folder / "cache"
    image.config |= {"cachedir": str(cache), "state_dir": "/var/lib/runner"}
    assert "2 would change" in image("highstate", "--test").stdout
    assert "2 changed" in image("highstate").stdout
    assert image.text("etc/main") == "somebody main\n"
    assert image.text("etc/dev") == "somebody dev\n"
    commit = tree.git("rev-parse", "main")
    assert commit in image("history", "show", "--out", "json").stdout
    assert "1 changed" in image("sls", "c", "--saltenv", "other").stdout
    assert image.text("etc/other") == "somebody other\n"
    assert not [*image.root.rglob("*gitfs*")]
    shutil.rmtree(tree.folder)
    shutil.rmtree(cache)
    refused = image("highstate", code=1).stderr
    assert "there is no earlier copy of it" in refused and "runner.yaml" in refused
    assert "sls c" in image("history").stdout, "which needs none"
    image("forget", "--all")
    image("schedule", "status")
    assert "/etc/other" in image("undo", "--test").stdout
    assert "there is no earlier copy of it" in image("undo", "--react", code=1).stderr
    image("undo")
    assert not (image.root / "etc/other").exists()
    empty_afterwards(image)


def times(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): int(path.lstat().st_mtime) for path in folder.rglob("*")}


def test_a_build_leaves_nothing_of_its_own(image: Image) -> None:
    """And is no younger than it may be; what was there before keeps its time."""
    image.environment["SOURCE_DATE_EPOCH"] = "1700000000"
    image.config["image_clean"] = ["apt"]
    lists, log = image.root / "var/lib/apt/lists/a_list", image.root / "var/log/dpkg.log"
    for path in (lists, log):
        path.parent.mkdir(parents=True)
        path.write_text("x")
    os.utime(image.root / "etc/os-release", (1600000000, 1600000000))
    assert "3 changed" in image("sls", "web", "--image").stdout
    assert not lists.exists()
    assert not log.exists()
    assert lists.parent.exists()
    assert not (image.root / "var/lib/runner").exists()
    assert not (image.root / "var/cache").exists()
    after = times(image.root)
    for name in ("etc", "etc/greeting", "etc/passwd", "root", "root/seen", "var/lib/apt/lists"):
        assert after[name] == 1700000000, name
    assert after["etc/os-release"] == 1600000000
    assert "no runs" in image("history", "--root", image.where, code=None).stdout.lower()
    empty_afterwards(image)


def test_what_ends_with_the_command_is_named(image: Image) -> None:
    """And where what is too long to be shown is kept, with the image."""
    image.write(
        long="long:\n  cmd.run: [name: 'for a in 0 1 2 3 4 5 6 7 8 9; do echo {}; done']\n".format(
            "$a; echo " * 9
        ),
        short="/tmp/made:\n  file.managed: [contents: x]\n"
        "/tmp/gone:\n  file.managed: [contents: x]\n"
        "no more:\n  file.absent: [name: /tmp/gone]\n"
        "/srv/to-run/more:\n  file.managed: [contents: x]\n"
        "/srv/link:\n  file.symlink: [target: /tmp/made]\n",
    )
    (image.root / "srv").mkdir(exist_ok=True)
    (image.root / "srv/to-run").symlink_to("/run")
    assert f"`runner history show last --root {image.where}`)" in image("sls", "long").stdout
    built = image("sls", "long", "--image").stdout
    assert "more lines (all: -v, --diff)" in built
    assert "is not in the image" not in image("sls", "short", "--test").stderr
    told = "what was made at /srv/to-run/more, /tmp/made is not in the image"
    assert told in image("sls", "short").stderr
    assert told not in image("sls", "short", "-q").stderr


BUILT = """
{% for name in ("zoe", "amy") %}
{{ name }}:
  user.present: [shell: /bin/sh, createhome: True]
/home/{{ name }}/.profile:
  file.managed: [contents: 'umask 077', user: {{ name }}, mode: '0600']
{% endfor %}
/etc/link:
  file.symlink: [target: hostname]
/etc/hostname:
  file.replace: [pattern: image, repl: made]
/srv/data/deep:
  file.directory: [makedirs: True, mode: '2750']
vm.swappiness:
  sysctl.present: [value: 7]
br_netfilter:
  kmod.present: [persist: True]
"""


def whole(folder: Path) -> dict[str, object]:
    """What there is of an image to be the same, by path."""
    found: dict[str, object] = {}
    for path in (folder, *folder.rglob("*")):
        at = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        kept = (at.st_mode, at.st_uid, at.st_gid, at.st_mtime_ns, what)
        found[str(path.relative_to(folder))] = kept
    return found


def test_two_builds_are_equal(image: Image) -> None:
    """Byte for byte, with times and modes, and whenever they were made."""
    del image.config["offline"]
    image.environment["SOURCE_DATE_EPOCH"] = "1700000000"
    image.write(built=BUILT)
    base, made = image.root, []
    for path in (base, *base.rglob("*")):  # older than any build, however soon that begins
        os.utime(path, (1600000000, 1600000000), follow_symlinks=False)
    for name in ("first", "second"):
        image.root = image.folder / name
        shutil.copytree(base, image.root, symlinks=True)
        assert " changed" in image("sls", "built", "--image").stdout
        made.append(whole(image.root))
    assert made[0] == made[1]
    assert made[0] != whole(base)
    assert image.text("etc/hostname") == "madehost\n"


CHANCE = "cat /proc/sys/kernel/random/uuid"
OWN = f"""
{{% for path in ("/etc/ssh/ssh_host_rsa_key", "/etc/ssl/private/tls", "/etc/asked.key") %}}
{{{{ path }}}}:
  file.managed: [contents: '-----BEGIN PRIVATE KEY-----', mode: '0600', makedirs: true]
{{% endfor %}}
packages:
  cmd.run:
    - name: |
        {CHANCE} >/etc/machine-id; {CHANCE} >/var/lib/dbus/machine-id; {CHANCE} >/etc/made
        cd /var/spool/cron/crontabs
        echo '# DO NOT EDIT THIS FILE - edit the master and reinstall.' >zoe
        echo '# (- installed on Fri Nov 27 10:10:54 2026)' >>zoe; echo '# (Cron version)' >>zoe
        umask 077; cat /etc/asked.key /etc/made >/etc/ssl/private/own.pem
        cat /etc/asked.key /etc/made >/etc/ssh/ssh_host_own_key
    - creates: /etc/made
"""


def test_what_each_machine_has_of_its_own_is_not_made_by_a_build(image: Image) -> None:
    """Its ID stays away or empty; keys that no state wrote are told, and those of ssh removed where
    that is asked for. What crontab says of the time is no younger, either.
    """
    image.environment["SOURCE_DATE_EPOCH"] = "1700000000"
    image.write(own=OWN)
    for name in ("var/lib/dbus", "var/spool/cron/crontabs"):
        (image.root / name).mkdir(parents=True)
    (image.root / "etc/machine-id").write_text("uninitialized\n")
    said = image("sls", "own", "--image").stderr
    assert said.startswith(
        "warning: all machines of this image will have the same keys: /etc/ssh/ssh_host_own_key,"
        " /etc/ssl/private/own.pem\n"
    )
    assert "image_clean: [ssh]" in said
    assert image.text("etc/machine-id") == "uninitialized\n"
    assert not (image.root / "var/lib/dbus/machine-id").exists()
    assert "on Tue Nov 14 22:13:20 2023)\n" in image.text("var/spool/cron/crontabs/zoe")
    (image.root / "etc/made").unlink()
    (image.root / "etc/machine-id").write_text("0" * 32)
    image.config["image_clean"] = ["ssh"]
    assert "ssh" not in image("sls", "own", "--image").stderr.replace("/ssl/", "")
    assert image.text("etc/asked.key")
    assert list((image.root / "etc/ssh").iterdir()) == []
    assert len(image.text("etc/machine-id")) > 32  # there was one: it is the owner's
    assert not image("sls", "own", "--image", "--test").stderr


BOOT = """
net.ipv4.ip_forward:
  sysctl.present: [value: 1]
vm.swappiness:
  sysctl.present: [value: 7, persist: False]
br_netfilter:
  kmod.present: [persist: True]
loop:
  kmod.present: []
/data:
  mount.mounted: [device: /dev/vdb, fstype: ext4, mkmnt: True]
/more:
  mount.mounted: [device: /dev/vdc, fstype: ext4, mkmnt: True, opts: noauto]
/dev/vdd:
  mount.fstab_present: [fs_file: none, fs_vfstype: swap]
swapped to:
  mount.swap: [name: /dev/vdd]
no such service:
  service.enabled: []
"""
LEFT = """
Left to the first boot:
  Sysctl value net.ipv4.ip_forward = 1 is set at boot
  Kernel module br_netfilter loaded at boot
  /dev/vdb is mounted at /data at boot
  Swap /dev/vdd is activated at boot
"""


def test_a_build_ends_with_what_it_leaves_to_the_boot(image: Image) -> None:
    """Each once, foreseen as done, and by a build that finds all as it should be, too."""
    del image.config["offline"]
    image.write(boot=BOOT)
    for more in (["--test"], [], []):
        assert image("sls", "boot", "--image", *more, code=2).stdout.endswith(LEFT)
    assert "first boot" not in image("sls", "boot", code=2).stdout
    assert "first boot" not in image("sls", "web", "--image").stdout
    said = json.loads(image("sls", "boot", "--image", "--out", "json", code=2).stdout)["local"]
    assert [each["__id__"] for each in said.values() if "at_boot" in each] == [
        "net.ipv4.ip_forward",
        "br_netfilter",
        "/data",
        "/dev/vdd",
        "swapped to",
    ]


def test_an_image_is_built_once_at_a_time(image: Image) -> None:
    image.write(slow=SLOW.format(98764))
    with image.start("sls", "slow", "--image", ready=image.root / "root/began") as process:
        refused = image("sls", "web", "--image", code=None)
        assert refused.returncode
        assert "another run is under way: it builds this image" in refused.stderr
        assert not (image.root / "etc/greeting").exists()
        process.terminate()
    image("sls", "web", "--image")
    empty_afterwards(image)


def test_a_container_build_leaves_nothing_of_its_own(tmp_path: Path) -> None:
    """Without `--root`: the machine is the container itself."""
    machine = Machine(tmp_path / "work")
    machine.write(a="{tmp}/made:\n  file.managed: [contents: x]\n")
    machine("sls", "a", "--image")
    assert (machine.folder / "made").exists()
    assert not (machine.folder / "cache").exists()


@pytest.mark.parametrize(
    ("environment", "config", "why"),
    [
        ({"SOURCE_DATE_EPOCH": "today"}, {}, "error: $SOURCE_DATE_EPOCH is 'today'"),
        ({"SOURCE_DATE_EPOCH": "1" * 5000}, {}, "error: $SOURCE_DATE_EPOCH is '111"),
        ({}, {"image_clean": ["brew"]}, "image_clean: 'brew' is nothing that is known"),
    ],
)
def test_builds_that_cannot_be(
    image: Image, environment: dict[str, str], config: dict[str, object], why: str
) -> None:
    image.environment |= environment
    image.config |= config
    assert why in image("sls", "web", "--image", code=1).stderr
    assert not (image.root / "etc/greeting").exists()


SLOW = "slow:\n  cmd.run: [name: 'echo >/root/began; sleep {0} & sleep {0}']\n"


def test_a_kill_leaves_nothing(image: Image) -> None:
    image.write(slow=SLOW.format(98765))
    with image.start("sls", "slow", ready=image.root / "root/began") as process:
        wait_until(lambda: len(running("98765")) > 2, "the programs in the image to start")
        process.kill()
        wait_until(lambda: not running("98765"), "the programs in the image to end")
    empty_afterwards(image)
    assert "3 changed" in image("sls", "web").stdout, "the next run goes on"


def test_a_signal_ends_the_run_with_its_report(image: Image) -> None:
    image.write(slow=SLOW.format(9876))
    ready = image.root / "root/began"
    with image.start("sls", "slow", ready=ready, stdout=subprocess.PIPE) as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
    assert "interrupted by SIGTERM" in out
    assert process.returncode == 128 + signal.SIGTERM
    empty_afterwards(image)


def of_another_machine(image: Image) -> None:
    shell = image.root / "usr/bin/sh"
    head = bytearray(shell.read_bytes())
    head[18:20] = (183).to_bytes(2, "little")
    shell.write_bytes(head)


def looped_shell(image: Image) -> None:
    (image.root / "usr/bin/sh").unlink()
    (image.root / "usr/bin/sh").symlink_to("sh")


def linked_run(image: Image) -> None:
    (image.root / "run").rmdir()
    (image.root / "run").symlink_to(image.outside)


@pytest.mark.parametrize(
    ("make", "root", "why", "cure"),
    [
        (None, "nowhere", "does not exist", "name the directory"),
        (None, "runner.yaml", "is not a directory", "name the directory"),
        (None, "/", "is this machine itself", "leave --root away"),
        (None, "outside", "/proc in it: No such file", "mkdir"),
        (linked_run, "image", "/run in it is not a directory", "no link"),
        (
            lambda image: (image.root / "usr/bin/sh").unlink(),
            "image",
            "there is no /bin/sh in it",
            "mmdebstrap",
        ),
        (
            lambda image: (image.root / "usr/bin/sh").chmod(0o644),
            "image",
            "cannot be run",
            "noexec",
        ),
        (looped_shell, "image", "cannot be run: Too many levels", "links to no program"),
        (of_another_machine, "image", "its programs (aarch64) do not run here", "binfmt_misc"),
    ],
)
def test_what_is_no_image(image: Image, make: object, root: str, why: str, cure: str) -> None:
    if callable(make):
        make(image)
    done = image("sls", "web", "--root", os.path.join(image.folder, root), code=1)
    assert why in done.stderr
    assert cure in done.stderr
    assert list(image.outside.iterdir()) == []


@needs("setpriv")
def test_a_user_without_numbers_to_give_is_told_how(image: Image) -> None:
    argv = [*SOMEBODY, *image.argv("sls", "web")]
    done = subprocess.run(argv, capture_output=True, text=True, env=image.environment)
    assert done.returncode == 1
    assert "error: --root: " in done.stderr
    assert "hint: run it as root (sudo), or " in done.stderr
    assert not (image.root / "etc/greeting").exists()


def test_no_device_of_the_image_can_be_opened(image: Image) -> None:
    """Its files are those of a disk that this machine may not even know."""
    os.mknod(image.root / "etc/zero", 0o20666, os.makedev(1, 5))
    image.write(zero="read:\n  cmd.run: [name: ': </etc/zero']\n")
    done = image("sls", "zero", code=2)
    assert "Permission denied" in done.stdout + done.stderr


def test_the_network_is_asked_as_on_the_host(image: Image) -> None:
    """Where the image does not say which servers know names, those of the host are asked; what it
    says stays.
    """
    ask = ("call", "cmd.run", "cat /etc/resolv.conf")
    hosts = Path("/etc/resolv.conf").read_text().strip()
    file = image.root / "etc/resolv.conf"
    for own, seen in (
        ("", hosts),
        ("nameserver 127.0.0.53\n", hosts),
        ("nameserver 192.0.2.1\n", "nameserver 192.0.2.1"),
    ):
        file.write_text(own)
        assert image(*ask).stdout.strip() == seen
        assert file.read_text() == own
    file.unlink()
    file.symlink_to("/run/systemd/resolve/stub-resolv.conf")
    assert image(*ask).stdout.strip() == hosts
    empty_afterwards(image)
