"""`runner resource`: what is there now as SLS; applying it plans nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere, look

from runner.api import Done, Resource, running
from runner.arguments.bind import bind, schema_of
from runner.loader.registry import Registry
from runner.queries.inventory import by_id, text

CONTENTS = {
    "lines": b"hello\nworld\n",
    "no newline": b"x",
    "two newlines": b"x\n\n",
    "empty": b"",
    "newline": b"\n",
    "leading": b"  x\n",
    "trailing": b"x  \ny \n",
    "tabs": b"\tx\n",
    "dos": b"x\r\ny\r\n",
    "template": b"{{ x }} {% y %}\n",
    "number": b"123",
    "flag": b"true\n",
    "document": b"# x: -\n---\n...\n",
    "umlaut": "\u00e4\n\u20ac\n".encode(),
    "line separator": "a\u2028b\u0085c\n".encode(),
    "bom": b"\xef\xbb\xbfx\n",
    "binary": bytes(range(256)),
    "large": b"x" * 70000,
    "slot": b"__slot__:salt:cmd.run(true)",
}


def applied(machine: Machine, sls: str) -> dict[str, object]:
    """The changes that applying an SLS plans, by ID."""
    (machine.folder / "states/what.sls").write_text(sls)
    found = machine.results("sls", "what", "--test")
    return {
        name: each["comment"]
        for name, each in found.items()
        if each["changes"] or each["result"] is not True
    }


def test_paths(machine: Machine) -> None:
    tree = machine.folder / "d"
    tree.mkdir()
    tree.chmod(0o2750)
    for name, data in CONTENTS.items():
        (tree / name).write_bytes(data)
    (tree / "lines").chmod(0o4751)
    (tree / "link").symlink_to("no where")
    os.mkfifo(tree / "pipe", 0o620)
    names = [
        str(tree),
        *(str(path) for path in sorted(tree.iterdir())),
        "/dev/null",
        str(tree / "missing"),
    ]
    sls = machine("resource", "file", *names).stdout
    assert applied(machine, sls) == {}
    for part in (
        "- target: no where",
        "- mode: '2750'",
        "- mode: '4751'",
        "- ntype: p",
        "- major: 1",
        "file.absent",
    ):
        assert part in sls
    assert "    - contents: |\n        hello\n        world\n" in sls
    assert "70000 bytes: the contents are not shown" in sls
    assert "{tmp}" not in sls
    assert sls.startswith("#!yaml\n"), "what looks like a template is none"
    (tree / "lines").write_text("other\n")
    assert list(applied(machine, sls)) == [str(tree / "lines")]


@pytest.mark.parametrize("state", ["user", "group", "service", "mount", "host"])
def test_all_there_is(machine: Machine, state: str) -> None:
    sls = machine("resource", state, code=None).stdout
    if state in ("user", "group"):
        assert "\nroot:\n" in f"\n{sls}"
    assert applied(machine, sls) == {}


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="no dpkg here")
def test_packages(machine: Machine) -> None:
    sls = machine("resource", "pkg", "dpkg", "no-such-package").stdout
    assert "dpkg:\n  pkg.installed:\n    - version: " in sls
    assert "no-such-package:\n  pkg.purged: []\n" in sls
    assert applied(machine, sls) == {}


def test_a_parameter_of_the_kernel(machine: Machine) -> None:
    sls = machine("resource", "sysctl", "kernel.ostype").stdout
    assert sls == "kernel.ostype:\n  sysctl.present:\n    - value: Linux\n    - persist: false\n"
    assert applied(machine, sls) == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["file"], "paths are not listed"),
        (["file", "motd"], "motd is not an absolute path"),
        (
            ["fiel", "/x"],
            (
                "fiel is not a state module\n  hint: these do: cron, file, group, host, mount, pkg,"
                " service,"
            ),
        ),
        (["cmd"], "cmd cannot list what exists"),
        (["host", "no.such.host"], "there is no host no.such.host"),
    ],
)
def test_mistakes(machine: Machine, words: list[str], message: str) -> None:
    assert message in machine("resource", *words, code=1).stderr


def test_states_of_the_tree_have_the_hook_too(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from runner.api import Resource\ndef made(name: str, size: int = 1) -> str:\n    'A"
        " box.'\n    return 'made'\ndef resources(name):\n    return [Resource('box.made', each,"
        " {'size': 3}) for each in ([name] if name else 'ab')]\n"
    )
    assert machine("resource", "box").stdout == "".join(
        f"{x}:\n  box.made:\n    - size: 3\n" for x in "ab"
    )
    data = machine("resource", "box", "c", "--out", "json").stdout
    assert "".join(data.split()) == '{"local":{"c":{"box.made":[{"size":3}]}}}'
    assert "resources" not in machine("doc").stdout.replace("sync_resources", "")


def test_what_states_say_of_themselves() -> None:
    odd = [
        Resource("user.present", "include"),
        Resource("cron.present", "run", {"user": "a"}, "careful"),
        Resource("cron.present", "run", {"user": "b"}),
        Resource("user.present", "x", {"fullname": "__slot__:salt:cmd.run(reboot)", "uid": 1}),
        Resource("", "", note="nothing else"),
    ]
    assert list(by_id(odd)) == ["user.present include", "run", "cron.present run of b", "x"]
    sls = text(odd)
    assert "# careful\nrun:\n" in sls
    assert "cron.present run of b:\n  cron.present:\n    - name: run\n    - user: b\n" in sls
    assert "reboot" not in sls, "nobody's full name is called"
    assert sls.endswith("# nothing else\n")


# ------------------------------------------------------- in this process, on files of the test


def plans(found: list[Resource]) -> list[str]:
    """The states that would change something."""
    registry = Registry({})
    changed = []
    for each in found:
        function = registry.state(each.function).function
        place = {"places": {}, "default_place": None}
        bound = bind(function, {"name": each.name, **each.arguments}, **place)
        answer = look(function, **bound.arguments)
        if not isinstance(answer, Done) or answer.changes:
            changed.append(each.name)
        assert set(each.arguments) <= set(schema_of(function).parameters)
    return changed


def told(state: str, name: str | None = None) -> list[Resource]:
    hook = Registry({}).resources(state)
    assert hook
    with running(HarnessHere()):
        return list(hook(name))


CRONTAB = """5 4 * * * by hand
# Lines below here are managed by Salt, do not edit
MAILTO=me@example.com
# nightly SALT_CRON_IDENTIFIER:backup
0 3 * * 1 /usr/local/bin/backup --all
# SALT_CRON_IDENTIFIER:@daily run
@daily @daily run
#DISABLED#*/5 * * * * off
"""


def test_crontabs(monkeypatch: pytest.MonkeyPatch) -> None:
    from modules import cron
    from states._resources import cron as told_of_cron

    monkeypatch.setattr(cron, "read", lambda user: tuple(CRONTAB.splitlines()))
    monkeypatch.setattr(told_of_cron, "_users", lambda: ["root"])
    found = told("cron")
    assert [each.name for each in found] == [
        "MAILTO",
        "/usr/local/bin/backup --all",
        "@daily run",
        "off",
    ]
    assert found[0].note == "crontab of root has entries that are not managed: 5 4 * * * by hand"
    wanted = {
        "user": "root",
        "identifier": "backup",
        "minute": "0",
        "hour": "3",
        "dayweek": "1",
        "comment": "nightly",
    }
    assert found[1].arguments == wanted
    assert found[2].arguments == {"user": "root", "special": "@daily"}
    assert found[3].arguments == {
        "user": "root",
        "identifier": False,
        "minute": "*/5",
        "commented": True,
    }
    assert plans(found) == []
    assert told("cron", "backup") == found[1:2]


def test_lines_of_fstab_and_mounts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules import mount

    lines = [
        mount.Entry("/dev/sdx1", "/", "ext4", "defaults,noatime,odd=1", "0", "1"),
        mount.Entry("UUID=1-2", "/srv/not mounted", "xfs", "noauto", "1", "2"),
        mount.Entry("/swapfile", "none", "swap"),
    ]
    active = {
        "/": mount.Mounted("/dev/sdx1", "ext4", ("rw", "noatime")),
        str(tmp_path): mount.Mounted("tmpfs", "tmpfs", ("rw", "rw", "size=4k")),
    }
    monkeypatch.setattr(mount, "entries", lambda config="/etc/fstab": lines)
    monkeypatch.setattr(mount, "active_mounts", lambda: active)
    monkeypatch.setattr(mount, "swaps", lambda: ["/swapfile", "/other"])
    found = told("mount")
    functions = sorted(each.function for each in found)
    assert functions == [
        "mount.fstab_present",
        "mount.mounted",
        "mount.mounted",
        "mount.swap",
        "mount.swap",
    ]
    root = next(each for each in found if each.name == "/")
    assert root.arguments["hidden_opts"] == ["odd"]
    assert root.arguments["pass_num"] == 1
    assert found[-1].arguments == {"persist": False}
    assert plans(found) == []
    assert [each.function for each in told("mount", "/nowhere")] == ["mount.unmounted"]


def test_kept_parameters_of_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules import sysctl

    (tmp_path / "a.conf").write_text("vm.x = 1\nvm.y=2\nnet/z = 4 5\n")
    (tmp_path / "b.conf").write_text("vm.y=3\n")
    monkeypatch.setattr(sysctl, "exists", lambda name: True)
    monkeypatch.setattr(sysctl, "FOLDER", str(tmp_path))
    monkeypatch.setattr(
        sysctl, "get", lambda name: {"vm.x": "1", "vm.y": "3", "net.z": "4 5"}.get(name, "")
    )
    monkeypatch.setattr(sysctl, "default_config", lambda: str(tmp_path / "a.conf"))
    found = {each.name: each for each in told("sysctl") if each.name in ("vm.x", "vm.y")}
    assert found["vm.x"].arguments == {"value": 1}
    assert found["vm.y"].arguments == {"value": 3, "config": str(tmp_path / "b.conf")}
    assert found["vm.y"].note == f"{tmp_path}/a.conf says 2"
    assert plans(list(found.values())) == []
