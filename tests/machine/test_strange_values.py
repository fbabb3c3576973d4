# SPDX-License-Identifier: Apache-2.0
"""Odd but plausible values of states about accounts, crontabs, mounts and services: the dry run
says what the real run does, a second run changes nothing, and undo takes all of it back.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from debian import Debian

State = tuple[str, dict[str, Any]]


def tree(states: dict[str, State]) -> str:
    return yaml.safe_dump(
        {
            id_: {function: [{key: value} for key, value in arguments.items()]}
            for id_, (function, arguments) in states.items()
        },
        sort_keys=False,
    )


def tried(debian: Debian, states: dict[str, State]) -> dict[str, Any]:
    """Return what a real run says of states: the same as the dry run before it."""
    debian.tree(strange=tree(states))
    dry = debian.results("sls", "strange", "--test", code=None)
    real = debian.results("sls", "strange", code=None)
    for id_, result in real.items():
        assert dry[id_]["changes"] == result["changes"], id_
        assert (dry[id_]["result"] is False) is (result["result"] is False), id_
    return real


def assert_converged(debian: Debian) -> None:
    for id_, result in debian.results("sls", "strange", code=None).items():
        assert not result["changes"], (id_, result["changes"])


def refused(debian: Debian, states: dict[str, State], reasons: dict[str, str]) -> None:
    """States fail alike in a dry run and in the real one."""
    real = tried(debian, states)
    assert {id_: result["comment"] for id_, result in real.items()} == reasons
    dry = debian.results("sls", "strange", "--test", code=2)
    assert {id_: result["comment"] for id_, result in dry.items()} == reasons


def user(name: str, **arguments: Any) -> State:
    return "user.present", {"name": name, **arguments}


def test_fields_of_a_user_that_useradd_and_usermod_refuse(debian: Debian) -> None:
    debian.run("useradd -m known")
    refused(
        debian,
        {
            "shell": user("new", shell="bash"),
            "colon": user("new", shell="/bin/sh:x"),
            "home": user("new", home="srv/new"),
            "other shell": user("known", shell="bash"),
            "other home": user("known", home="srv", createhome=False),
            "range": user("new", subuids=["5-1"]),
        },
        {
            "shell": "Failed to create new user new: useradd: invalid shell 'bash'",
            "colon": "Failed to create new user new: useradd: invalid shell '/bin/sh:x'",
            "home": "Failed to create new user new: useradd: invalid home directory 'srv/new'",
            "other shell": "User known could not be changed: usermod: invalid shell 'bash'",
            "other home": "User known could not be changed: usermod: homedir must be an absolute"
            " path",
            "range": "subuids: '5-1' is not a range such as 100000-165535",
        },
    )


def test_names_that_are_paths(debian: Debian) -> None:
    names = ("a/b", "..")
    real = tried(debian, {name: user(name) for name in names})
    real |= tried(debian, {name: ("group.present", {"name": name}) for name in names})
    assert all("cannot be the name of a new" in real[name]["comment"] for name in names)
    assert not debian.read("ls -d /home/a; getent passwd ..; true")


def test_a_comma_ends_a_part_of_the_gecos_field(debian: Debian) -> None:
    debian.run("useradd -m -c A,B,C,D,E comma")
    why = "Unsupported char ',' in 1,2: it ends a part of the GECOS field"
    parts = ("fullname", "roomnumber", "workphone", "homephone")
    states = {part: user("zoe", **{part: "1,2"}) for part in parts}
    states["known"] = user("comma", fullname="1,2")
    refused(debian, states, dict.fromkeys(states, why))
    tried(debian, {"other": user("comma", other="a,b")})
    assert_converged(debian)
    assert debian.read("getent passwd comma | cut -d: -f5") == "A,B,C,D,a,b"


def test_a_home_that_is_no_folder(debian: Debian) -> None:
    debian.run("useradd moves")
    tried(debian, {"new": user("null", home="/dev/null"), "old": user("moves", home="/dev/null")})
    assert_converged(debian)


def test_a_user_without_a_line_in_shadow(debian: Debian) -> None:
    debian.run("echo plain:x:6900:100::/srv:/bin/sh >> /etc/passwd")
    debian.run("echo aged:x:6901:100::/srv:/bin/sh >> /etc/passwd")
    hashed = "$6$salt$" + "x" * 86
    tried(debian, {"plain": user("plain", password=hashed), "aged": user("aged", maxdays=9)})
    assert_converged(debian)
    assert debian.read("grep -c '^plain:.6.salt.x\\|^aged:x::' /etc/shadow") == "2"


def test_members_of_a_group_who_are_gone_or_named_twice(debian: Debian) -> None:
    debian.run("useradd here; useradd there")
    debian.run("echo odd:x:6800:here,ghost,here >> /etc/group")
    group = {"name": "odd"}
    real = tried(debian, {"one more": ("group.present", group | {"addusers": ["there"]})})
    assert real["one more"]["result"], real
    assert_converged(debian)
    tried(debian, {"none": ("group.present", group | {"members": []})})
    assert debian.read("getent group odd") == "odd:x:6800:"


def test_undo_removes_the_folders_above_a_new_home(debian: Debian) -> None:
    tried(debian, {"deep": user("deep", home="/srv/one/two/deep")})
    debian.runner("undo")
    assert not debian.read("ls -d /srv/one; getent passwd deep; true")


def test_new_homes_lie_where_useradd_makes_them_and_undo_removes_them(debian: Debian) -> None:
    debian.run("cp /etc/default/useradd /root/useradd; mkdir /srv/homes /srv/skeleton")
    debian.run("touch /srv/skeleton/.rc; echo HOME=/srv/homes >>/etc/default/useradd")
    debian.run("echo SKEL=/srv/skeleton >>/etc/default/useradd")
    tried(debian, {"based": user("based", createhome=True)})
    assert debian.read("ls -A /srv/homes/based") == ".rc"
    debian.runner("undo")
    assert not debian.read("ls /srv/homes; getent passwd based; true")
    debian.run("mv /root/useradd /etc/default/useradd")


def test_nobody_is_a_further_member_of_the_primary_group(debian: Debian) -> None:
    debian.run("groupadd shared; groupadd own; groupadd more")
    given = {"gid": "shared", "groups": ["shared", "more"]}
    users = {"first": user("first", **given), "own": user("own", groups=["own"])}
    users |= {"plain": user("plain", groups=["users"], usergroup=False)}
    tried(debian, users)
    assert_converged(debian)
    assert debian.read("id -Gn first; id -Gn own; id -Gn plain") == "shared more\nown\nusers"
    members = debian.read("getent group shared own more users | cut -d: -f1,4").split()
    assert members == ["shared:", "own:", "more:first", "users:"]


def test_spaces_around_the_command_of_a_cron_entry(debian: Debian) -> None:
    debian.run("useradd croner")
    entry = {"name": "  echo a  b ", "user": "croner"}
    real = tried(debian, {"entry": ("cron.present", entry)})
    assert real["entry"]["changes"] == {"croner": "echo a  b"}
    assert_converged(debian)
    tried(debian, {"entry": ("cron.absent", entry)})
    assert "echo" not in debian.read("crontab -l -u croner")


def test_what_a_crontab_reads_otherwise_than_it_was_written(debian: Debian) -> None:
    debian.run("useradd reader")
    entries: dict[str, dict[str, Any]] = {
        "a": {"identifier": " id "},
        "b": {"comment": "# with a hash \n\n  and space "},
        "c": {"comment": ""},
        "@a": {"minute": "05"},
        "A=b": {"special": "@daily"},
    }
    states: dict[str, State] = {
        name: ("cron.present", {"name": name, "user": "reader", **more})
        for name, more in entries.items()
    }
    for name, value in {"1A": 'x y"z', "SPACE": " a b ", "E": "a=b", "T": True}.items():
        states[name] = ("cron.env_present", {"name": name, "value": value, "user": "reader"})
    real = tried(debian, states)
    assert all(result["result"] for result in real.values()), real
    assert_converged(debian)
    refused(
        debian,
        {
            "sign": ("cron.env_present", {"name": "A=B", "value": 1, "user": "reader"}),
            "mark": (
                "cron.present",
                {"name": "d", "comment": "a SALT_CRON_IDENTIFIER:b", "user": "reader"},
            ),
        },
        {
            "sign": "'A=B' is not the name of a variable of a crontab",
            "mark": "Cron d for user reader failed to commit with error \nthe comment of the"
            " crontab's entry has SALT_CRON_IDENTIFIER: in it",
        },
    )


OPTIONS = tuple(
    """
    mode=0755 mode=1777 mode=01777,uid=root uid=daemon,gid=daemon size=25% size=1000000 size=10k
    nr_inodes=10k strictatime size=50%
    """.split()
)


def test_options_of_a_tmpfs_that_the_kernel_spells_otherwise(debian: Debian) -> None:
    mount = {"device": "tmpfs", "fstype": "tmpfs", "mkmnt": True, "persist": False}
    states: dict[str, State] = {
        options: ("mount.mounted", {"name": f"/mnt/{number}", "opts": options, **mount})
        for number, options in enumerate(OPTIONS)
    }
    tried(debian, states)
    assert_converged(debian)
    debian.run("mount -o remount,size=1m /mnt/9")
    again = debian.results("sls", "strange")
    assert [id_ for id_, result in again.items() if result["changes"]] == ["size=50%"]
    assert_converged(debian)


def test_a_mount_that_is_in_use(debian: Debian) -> None:
    debian.run("for d in /mnt/cwd /mnt/outer; do mkdir $d; mount -t tmpfs x $d; done")
    debian.run("mkdir /mnt/outer/inner; mount -t tmpfs x /mnt/outer/inner")
    pid = debian.start("sleep", "1000", cwd="/mnt/cwd")
    paths = ("/mnt/cwd", "/mnt/outer", "/mnt/outer/inner")
    real = tried(debian, {path: ("mount.unmounted", {"name": path}) for path in paths})
    assert [real[path]["result"] for path in paths] == [False, False, True]
    dry = debian.results("single", "mount.unmounted", "/mnt/cwd", "--test", code=2)
    assert f"target is busy.\\nprocess {pid} (" in str(dry)
    debian.run(f"kill {pid}; umount /mnt/outer")
    debian.until("umount /mnt/cwd")


def test_a_space_in_the_options_of_an_fstab_line(debian: Debian) -> None:
    entry = {"fs_file": "/mnt/spaced", "fs_vfstype": "tmpfs", "mount": False}
    entry |= {"name": "tmpfs", "fs_mntops": "comment=a b"}
    tried(debian, {"line": ("mount.fstab_present", entry)})
    assert_converged(debian)
    assert debian.read("findmnt --fstab -no OPTIONS /mnt/spaced") == "comment=a b"


def test_names_that_are_patterns_or_paths_are_no_services(debian: Debian) -> None:
    names = {"pattern": "cro*", "path": "../../../tmp/x"}
    for function in ("dead", "running", "masked", "disabled"):
        states = {id_: (f"service.{function}", {"name": name}) for id_, name in names.items()}
        reasons = {id_: f"{name!r} is not the name of a unit" for id_, name in names.items()}
        refused(debian, states, reasons)
    assert debian.read("systemctl is-active cron") == "active"


def test_a_template_is_no_service(debian: Debian) -> None:
    reasons = {"it": "getty@.service is a template: name an instance of it, getty@NAME"}
    for function in ("running", "dead", "enabled", "disabled"):
        refused(debian, {"it": (f"service.{function}", {"name": "getty@"})}, reasons)


@pytest.mark.parametrize("argument", ["unmask", "unmask_runtime"])
def test_what_is_masked_says_what_unmasks_it(debian: Debian, argument: str) -> None:
    kind = "--runtime" * (argument == "unmask_runtime")
    debian.run(f"systemctl stop cron; systemctl mask {kind} cron")
    states: dict[str, State] = {
        function: (f"service.{function}", {"name": "cron"}) for function in ("running", "enabled")
    }
    for results in (tried(debian, states), debian.results("sls", "strange", "--test", code=2)):
        cure = f"\n`- {argument}: True` of service.running unmasks it"
        assert results["running"]["comment"].endswith(f"Unit cron.service is masked.{cure}")
        assert results["enabled"]["result"] or results["enabled"]["comment"].endswith(cure)
    tried(debian, {"cured": ("service.running", {"name": "cron", argument: True})})
    assert debian.read("systemctl is-active cron") == "active"


def test_undo_of_the_service_of_a_user_who_is_gone(debian: Debian) -> None:
    unit = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=default.target\n"
    service = {"name": "nap", "user": "leaver", "contents": unit, "running": True}
    states: dict[str, State] = {
        "user": user("leaver", linger=True),
        "unit": ("systemd.unit", service),
        "file": ("file.managed", {"name": "/etc/nap.conf", "contents": "new"}),
    }
    debian.tree(strange=tree(states))
    debian.results("sls", "strange")
    debian.run("loginctl disable-linger leaver; loginctl terminate-user leaver; true")
    debian.until("userdel -r leaver")
    done = debian.runner("undo", "--out", "json", code=None)
    steps = json.loads(done.stdout)["local"]["steps"]
    assert {step["what"].partition(":")[0]: step["refused"] for step in steps}[
        "/etc/nap.conf"
    ] is None
    assert not debian.read("ls /etc/nap.conf; true")


def test_undo_of_a_mask_that_has_no_unit_behind_it(debian: Debian) -> None:
    mask = "/etc/systemd/system/nothing.service"
    debian.run(f"ln -s /dev/null {mask}; systemctl daemon-reload")
    nothing = {"name": "nothing", "unmask": True}
    debian.tree(
        strange=tree({"run": ("service.running", nothing)}),
        enabled=tree({"run": ("service.running", nothing | {"enable": True})}),
    )
    for name in ("enabled", "strange"):
        dry = debian.results("sls", name, "--test", code=2)["run"]
        real = debian.results("sls", name, code=2)["run"]
        assert (dry["changes"], dry["comment"]) == (real["changes"], real["comment"])
        debian.run(f"ln -sf /dev/null {mask}; systemctl daemon-reload")
    tried(debian, {"unmask": ("service.unmasked", {"name": "nothing"})})
    assert not debian.path(mask).is_symlink()
    debian.runner("undo")
    assert str(debian.path(mask).readlink()) == "/dev/null"
