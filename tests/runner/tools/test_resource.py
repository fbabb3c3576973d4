# SPDX-License-Identifier: Apache-2.0
"""`runner resource`: what is there now as SLS; applying it plans nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere, look
from needing import needs

from runner.api import Done, Resource, running
from runner.engine.loader.registry import Registry
from runner.language.arguments.bind import bind, schema_of
from runner.model.errors import UsageError
from runner.tools.queries import layout
from runner.tools.queries.inventory import by_id, text
from runner.tools.queries.resources import Described

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


@needs("dpkg-query")
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
        (["file", "motd"], "motd is not an absolute path"),
        (["fiel", "/x"], "fiel is not a state module\n  hint: these do: alias, alternatives, "),
        (["cmd"], "cmd cannot list what exists"),
        (["user", ""], "runner resource user: a name is empty"),
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
#DISABLED#@hourly off by hand
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
    by_hand = [found.pop(1), found.pop(1)]
    assert [each.name for each in by_hand] == ["by hand", "off by hand"]
    assert by_hand[0].arguments == {"user": "root", "adopt": True, "minute": "5", "hour": "4"}
    assert by_hand[1].arguments["commented"] is True
    assert [each.name for each in found] == [
        "MAILTO",
        "/usr/local/bin/backup --all",
        "@daily run",
        "off",
    ]
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
    assert plans([*by_hand, *found]) == []
    assert told("cron", "backup") == found[1:2]


def test_a_caller_without_an_account_has_no_crontab(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container."""
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert told("cron") == []


def test_lines_of_fstab_and_mounts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules import file, mount

    lines = (
        "/dev/sdx1 / ext4 defaults,noatime,odd=1 0 1\n"
        "UUID=1-2 /srv/not\\040mounted xfs noauto 1 2\n"
        "/swapfile none swap\n"
    )
    active = {
        "/": mount.Mounted("/dev/sdx1", "ext4", ("rw", "noatime")),
        str(tmp_path): mount.Mounted("tmpfs", "tmpfs", ("rw", "rw", "size=4k")),
    }
    monkeypatch.setattr(file, "text_to_edit", lambda path: lines)
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
        sysctl, "_running", lambda name: {"vm.x": "1", "vm.y": "3", "net.z": "4 5"}.get(name, "")
    )
    monkeypatch.setattr(sysctl, "default_config", lambda: str(tmp_path / "a.conf"))
    found = {each.name: each for each in told("sysctl") if each.name in ("vm.x", "vm.y")}
    assert found["vm.x"].arguments == {"value": 1}
    assert found["vm.y"].arguments == {"value": 3, "config": str(tmp_path / "b.conf")}
    assert found["vm.y"].note == f"{tmp_path}/a.conf says 2"
    assert plans(list(found.values())) == []


def test_modules_of_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules import kmod
    from states._resources import kmod as resources

    (tmp_path / "modules").write_text("# by hand\nbr_netfilter\nabsent\n")
    loaded, kept = ["br_netfilter", "dm_mod", "ext4"], ["dm-mod"]
    monkeypatch.setattr(kmod, "OLD", str(tmp_path / "modules"))
    monkeypatch.setattr(resources.glob, "glob", lambda pattern: [])
    monkeypatch.setattr(
        kmod, "mod_list", lambda only_persist=False: kept if only_persist else loaded
    )
    listed = told("kmod")
    assert [(item.name, item.shipped) for item in listed] == [
        ("dm-mod", False),
        ("br_netfilter", False),
        ("ext4", True),
    ]
    assert listed[0].arguments == {"persist": True}
    assert listed[1].arguments == {}
    assert plans(listed) == []


def test_what_apache_has_enabled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules.web import apache

    for path in ("mods-enabled/ssl.load", "mods-enabled/mime.load", "sites-enabled/shop.conf"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).symlink_to("anywhere")
    monkeypatch.setattr(apache, "ROOT", str(tmp_path))
    listed = [item for kind in ("module", "site", "conf") for item in told(f"apache_{kind}")]
    assert [(item.function, item.name, item.shipped) for item in listed] == [
        ("apache_module.enabled", "mime", True),
        ("apache_module.enabled", "ssl", False),
        ("apache_site.enabled", "shop", False),
    ]
    assert plans(listed) == []


ZONE = {
    "services": ["ssh"],
    "ports": ["8080/tcp"],
    "rich rules": ['rule family="ipv4" source address="10.0.0.0/24" accept'],
    "forward-ports": ["port=80:proto=tcp:toport=8080:toaddr="],
    "masquerade": ["yes"],
}


def test_zones_of_firewalld(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules.firewalls import firewalld
    from states.firewalls import _resources as resources

    for path in ("zones/public.xml", "zones/public.xml.old", "services/mine.xml"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.setattr(resources, "FOLDER", str(tmp_path))
    monkeypatch.setattr(firewalld, "list_zones", lambda: ["block", "public"])
    monkeypatch.setattr(firewalld, "default_zone", lambda: "public")
    monkeypatch.setattr(firewalld, "zone", lambda name: ZONE if name == "public" else {})
    monkeypatch.setattr(firewalld, "find_zone", lambda name, permanent=True: firewalld.zone(name))
    monkeypatch.setattr(firewalld, "get_services", lambda: ["mine", "ssh"])
    about = {"ports": ["9100/tcp"], "protocols": []}
    monkeypatch.setattr(firewalld, "service", lambda name: about)
    listed = told("firewalld")
    assert [(item.name, item.shipped) for item in listed] == [
        ("mine", False),
        ("block", True),
        ("public", False),
    ]
    assert listed[-1].arguments["port_fwd"] == ["80:8080:tcp:"]
    assert len(listed[-1].files) == 2
    assert plans(listed) == []


def test_packages_of_languages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modules.languages import gem, npm, pip
    from states.languages import _resources as resources

    for path in (
        "python3.11/dist-packages/Flask_Login-0.6.dist-info/REQUESTED",
        "node/@a/b/x",
        "python3.11/dist-packages/gone-1.dist-info/REQUESTED",
        "node/npm/x",
        "node/left-pad/x",
        "gems/3.1/specifications/rack-test-2.1.0.gemspec",
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    asked = f"{tmp_path}/python3*/*-packages/*.dist-info/REQUESTED"
    monkeypatch.setattr(resources, "REQUESTED", asked)
    monkeypatch.setattr(resources, "FOLDER", str(tmp_path / "node"))
    monkeypatch.setattr(resources, "SPECIFICATIONS", f"{tmp_path}/gems/*/specifications/*.gemspec")
    monkeypatch.setattr(pip, "list_", lambda: {"Flask-Login": "0.6"})
    monkeypatch.setattr(npm, "list_", lambda depth: {"left-pad": {}, "@a/b": {}, "npm": {}})
    monkeypatch.setattr(gem, "list_", lambda: {"rack-test": ["2.1.0"]})
    assert [item.name for item in told("pip")] == ["flask-login"]
    assert [item.name for item in told("npm")] == ["@a/b", "left-pad"]
    assert [item.name for item in told("gem")] == ["rack-test"]


def test_no_remark_ends_its_comment() -> None:
    hostile = Resource("", "", note="a\nkey:\n  cmd.run: []\rx\u2028y\x00\x1b[0m \ud800")
    lines = text([hostile]).splitlines()
    assert all(line.startswith("# ") for line in lines)
    assert "\x00" not in text([hostile])
    assert "\x1b" not in text([hostile])


def test_a_layout_has_a_file_for_each_source(tmp_path: Path) -> None:
    names = ["/srv/a b", "/srv/a_b/c", "/srv/a_b", "/srv/a?b", "/srv/\u00e4/x"]
    items = [
        Resource("file.managed", name, {"mode": "0644"}, source=name.encode()) for name in names
    ]
    files = layout.files([Described("files", tuple(items)), Described("own/../role", (items[0],))])
    layout.write(str(tmp_path / "tree"), files)
    for name, item in by_id(layout.with_sources(items, {})).items():
        source = next(part["source"] for part in item["file.managed"] if "source" in part)
        assert source.startswith("salt://files")
        path = tmp_path / "tree/states" / source.removeprefix("salt://")
        assert path.read_bytes() == name.encode()
    assert (tmp_path / "tree/states/own____role.sls").exists()
    assert (tmp_path / "tree").stat().st_mode & 0o777 == 0o700
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UsageError, match="others can write"):
        layout.write(str(tmp_path / "open"), files)
