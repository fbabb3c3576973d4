# SPDX-License-Identifier: Apache-2.0
"""Execution functions that people type every week: keys, processes, fstab, backups, git, ..."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, needs_a_name, own_name
from needing import may_mount, needs, needs_root, require
from starting import background, wait_until

from modules import cmd, file, git, mount, network, ps, shadow, ssh, status, sysfs
from modules.service import user_units
from runner.api import ChangeNotAllowed, RunnerError, StateFailed, changes_allowed, running

ME = own_name()
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIMkV4nX2nZ0yN0Xw6m1b8N2v3mJkq5o4s7c9d1e2f3g4"
OTHER = "AAAAC3NzaC1lZDI1NTE5AAAAIE+s/hvh1AjslQWzWYgmlagr3H1igmT2NC4WLuvrz2pR"
DIGITS = "900ce6d019e5d4120d4d5597f467e368404930edc3a1d7a44d8bf5c3b0c9b0a6"
FINGERPRINT = bytes.fromhex(DIGITS).hex(":")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[HarnessHere]:
    current = HarnessHere(tmp_path)
    with running(current):
        yield current


@pytest.fixture
def change() -> Iterator[None]:
    """Changes are allowed, as for `runner call` without --test."""
    with changes_allowed():
        yield


# ---------------------------------------------------------------- ssh


@needs_a_name
def test_keys_that_let_in(tmp_path: Path, change: None) -> None:
    config = str(tmp_path / "keys")
    assert ssh.auth_keys(ME, config) == {}
    assert ssh.set_auth_key(ME, OTHER, "ed25519", "me", config=config) == "new"
    assert ssh.set_auth_key(ME, OTHER, "ssh-ed25519", "me", config=config) == "no change"
    assert ssh.check_key(ME, OTHER, "ed25519", "me", [], config) == "exists"
    assert ssh.check_key(ME, OTHER, "ed25519", "him", [], config) == "update"
    assert ssh.check_key(ME, KEY, "ed25519", "me", [], config) == "add"
    options = ["no-pty", 'command="echo a, b"']
    assert ssh.set_auth_key(ME, OTHER, "ed25519", "him", options, config) == "replace"
    described = {
        "enc": "ssh-ed25519",
        "comment": "him",
        "options": options,
        "fingerprint": FINGERPRINT,
    }
    assert ssh.auth_keys(ME, config) == {OTHER: described}
    assert ssh.auth_keys([ME, "nobody-here"], config) == {ME: {OTHER: described}}
    (tmp_path / "new.pub").write_text(f"# two\nssh-ed25519 {KEY} new\n")
    source = str(tmp_path / "new.pub")
    assert ssh.check_key_file(ME, source, config) == {KEY: "add"}
    assert ssh.set_auth_key_from_file(ME, source, config) == "new"
    assert ssh.set_auth_key_from_file(ME, "salt://new.pub", config) == "no change"
    assert ssh.rm_auth_key_from_file(ME, source, config) == "Key removed"
    assert ssh.rm_auth_key(ME, f"ssh-ed25519 {KEY} new", config) == "Key not present"
    assert ssh.rm_auth_key("nobody-here", OTHER, config) == "Key not present"
    assert ssh.rm_auth_key(ME, OTHER, config) == "Key removed"
    assert (tmp_path / "keys").read_text() == ""


@needs_a_name
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody-here", KEY), "Is the home directory available"),
        ((ME, "no key"), "Invalid public ssh key"),
        ((ME, KEY, "rot13"), "Incorrect encryption key type"),
        ((ME, KEY, "ed25519", "a\nssh-rsa AAAA"), "expected one line"),
        ((ME, KEY, "ed25519", "", ["a\nssh-rsa AAAA"]), "expected one line"),
        ((ME, KEY, "ed25519", "a\0b"), "control character"),
    ],
)
def test_a_key_that_is_none_is_refused(
    tmp_path: Path, change: None, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(StateFailed, match=message):
        set_key: Callable[..., str] = ssh.set_auth_key
        set_key(*arguments, config=str(tmp_path / "keys"))
    assert not (tmp_path / "keys").exists()


@needs_a_name
def test_a_look_changes_no_key(tmp_path: Path) -> None:
    with pytest.raises(ChangeNotAllowed):
        ssh.set_auth_key(ME, KEY, "ed25519", config=str(tmp_path / "keys"))


@needs_a_name
@needs("ssh-keygen")
def test_hosts_that_are_known(tmp_path: Path, change: None) -> None:
    known: dict[str, Any] = {"config": str(tmp_path / "known")}
    given: dict[str, Any] = {"key": OTHER, "enc": "ed25519", **known}
    entry = {"hostname": "h1", "enc": "ssh-ed25519", "key": OTHER, "fingerprint": FINGERPRINT}
    added = ssh.set_known_host(ME, "h1", hash_known_hosts=False, **given)
    assert added == {"status": "updated", "old": None, "new": [entry]}
    assert ssh.set_known_host(ME, "h1", **given) == {"status": "exists", "keys": [OTHER]}
    assert ssh.get_known_host_entries(ME, "h1", known["config"]) == [entry]
    assert ssh.get_known_host_entries(ME, "h2", known["config"]) is None
    assert ssh.check_known_host(ME, "h1", OTHER, **known) == "exists"
    assert ssh.check_known_host(ME, "h1", fingerprint=FINGERPRINT.upper(), **known) == "exists"
    assert ssh.check_known_host(ME, "h1", KEY, **known) == "update"
    assert ssh.check_known_host(ME, "h2", KEY, **known) == "add"
    with open(known["config"], "a") as lines:
        lines.write(f"# kept\n*.example.com ssh-ed25519 {KEY}\n")
    hashed = ssh.hash_known_hosts(ME, known["config"])
    assert hashed["status"] == "updated"
    text = Path(known["config"]).read_text()
    assert "h1 " not in text and f"# kept\n*.example.com ssh-ed25519 {KEY}\n" in text
    assert ssh.check_known_host(ME, "h1", OTHER, **known) == "exists"
    assert ssh.rm_known_host(ME, "h1", **known)["status"] == "removed"
    assert ssh.check_known_host(ME, "h1", OTHER, **known) == "add"


@needs_a_name
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ssh.set_known_host(ME), "hostname argument required"),
        (lambda: ssh.set_known_host(ME, "h", "aa", "key"), "not both"),
        (lambda: ssh.set_known_host(ME, "h", key="x"), '"enc"'),
        (lambda: ssh.check_known_host(None, "h", config="known"), "give the user"),
        (lambda: ssh.rm_known_host("nobody-here", "h"), "nobody-here does not exist"),
        (lambda: ssh.rm_known_host(ME, "h", "/no/such"), "/no/such does not exist"),
        (lambda: ssh.recv_known_host_entries("-h"), "begins with a hyphen"),
    ],
)
def test_a_host_that_cannot_be_known(change: None, call: Callable[[], Any], message: str) -> None:
    with pytest.raises(StateFailed, match=message):
        call()


@needs_a_name
@needs("ssh-keygen")
def test_keys_of_users_and_of_the_machine(tmp_path: Path, here: HarnessHere) -> None:
    for name, phrase in (("open", ""), ("closed", "secret")):
        words = ["-q", "-t", "ed25519", "-N", phrase, "-C", "", "-f", str(tmp_path / name)]
        subprocess.run(["ssh-keygen", *words], check=True)
    assert ssh.key_is_encrypted(str(tmp_path / "open")) is False
    assert ssh.key_is_encrypted(str(tmp_path / "closed")) is True
    with pytest.raises(StateFailed, match="not a private key"):
        ssh.key_is_encrypted(str(tmp_path / "open.pub"))
    public = (tmp_path / "open.pub").read_text().strip()
    assert ssh.user_keys(ME, str(tmp_path / "open.pub"), False) == {ME: {"open.pub": public}}
    assert ssh.user_keys("nobody-here") == {} and not here.secrets
    ssh.user_keys(ME, False, str(tmp_path / "open"))
    assert here.secrets == [(tmp_path / "open").read_text().strip()]
    for name in ("ssh_host_rsa_key", "ssh_host_rsa_key.pub", "ssh_host_rsa_key-cert.pub", "moduli"):
        (tmp_path / name).write_text(f"{name}\n")
    assert set(ssh.host_keys(str(tmp_path))) == {"rsa", "rsa.pub", "rsa-cert.pub"}
    assert ssh.host_keys(str(tmp_path), private=False, certs=False) == {
        "rsa.pub": "ssh_host_rsa_key.pub"
    }


@needs_root()
def test_a_user_sees_nothing_of_the_environment_of_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2")
    done = cmd.probe(user_units.UnitOwner("daemon", 1, 1, "/").argv("env"))
    assert "\nHOME=/" in done.stdout and "hunter2" not in done.stdout


# ---------------------------------------------------------------- processes


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with a name of its own."""
    program = shutil.copy(shutil.which("sleep") or "", tmp_path / f"nap{os.getpid()}")
    with background([program, "1000"]) as process:
        yield process


def test_a_process_is_described_and_ended(sleeper: subprocess.Popen[str], change: None) -> None:
    name, pid = f"nap{os.getpid()}", sleeper.pid
    assert pid in ps.get_pid_list()
    facts = ps.proc_info(pid)
    assert (facts["name"], facts["ppid"], facts["username"]) == (name, os.getpid(), ME)
    assert facts["cmdline"][1:] == ["1000"] and facts["uids"] == [os.getuid()] * 3
    assert abs(facts["create_time"] - time.time()) < 60 and "environ" not in facts
    assert ps.proc_info(pid, ["environ"])["environ"]["PATH"] == os.environ["PATH"]
    wait_until(lambda: {"pid": pid, "name": name} in ps.status("sleeping"), "it sleeps")
    text, lines, count = ps.psaux(name)
    assert (text, len(lines), count) == (name, 1, "1 occurrence(s).")
    assert status.pid(name) == str(pid) and status.procs()[str(pid)]["user"] == ME
    assert ps.pkill(name, user="nobody-of-this-name") is None
    assert ps.pkill(name, signal="CONT") == {"killed": [pid]}
    assert ps.kill_pid(pid, 9) is True
    assert sleeper.wait() == -9
    assert ps.kill_pid(pid) is False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ps.pkill(" "), "every process"),
        (lambda: ps.kill_pid(-1), "not the number of one process"),
        (lambda: ps.kill_pid(0, 0), "not the number of one process"),
        (lambda: ps.kill_pid(os.getpid(), "NONSENSE"), "there is no signal"),
        (lambda: ps.proc_info(1 << 22), "not found"),
        (lambda: ps.proc_info(os.getpid(), ["nonsense"]), "there is no 'nonsense'"),
        (lambda: ps.status("busy"), "there is no state 'busy'"),
        (lambda: ps.disk_usage("/no/such"), "No such file"),
        (lambda: ps.disk_usage("/a\0b"), "null"),
        (lambda: ps.disk_io_counters("no-such"), "no-such"),
        (lambda: ps.network_io_counters("no-such"), "no-such"),
        (lambda: network.traceroute("-h"), "begins with a hyphen"),
        (lambda: status.master(), "there is no master"),
        (lambda: status.ping_master("salt"), "there is no master"),
    ],
)
def test_what_is_no_process_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: None,
    call: Callable[[], Any],
    message: str,
) -> None:
    record(tmp_path, monkeypatch, "traceroute", "")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a process was signalled"))
    with pytest.raises((StateFailed, RunnerError), match=message):
        call()


def test_pkill_spares_runner_and_what_called_it(
    monkeypatch: pytest.MonkeyPatch, change: None
) -> None:
    signalled: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signalled.append(pid))
    ps.pkill(ps.proc_info(os.getpid(), ["name"])["name"])
    assert not {os.getpid(), os.getppid()} & set(signalled)


def test_the_machine_is_counted() -> None:
    counted = status.all_status()
    assert set(counted["cpustats"]["cpu"]) >= {"user", "idle", "iowait"}
    assert counted["netdev"]["lo"]["iface"] == "lo" and counted["vmstats"]["nr_free_pages"] > 0
    assert all(disk["device"] == name for name, disk in counted["diskstats"].items())
    assert counted["netstats"]["TcpExt"]["DelayedACKs"] >= 0 and isinstance(counted["w"], list)
    memory, swap = ps.virtual_memory(), ps.swap_memory()
    assert memory["total"] == ps.total_physical_memory() > memory["available"] > 0
    assert swap["total"] == swap["used"] + swap["free"]
    usage = ps.disk_usage("/")
    assert 0 <= usage["percent"] <= 100 and usage["total"] > usage["used"] >= 0
    assert len(ps.cpu_times(True)) == ps.num_cpus() >= status.nproc()
    busy = ps.cpu_percent(0.05)
    assert isinstance(busy, float) and 0 <= busy <= 100
    assert isinstance(ps.cpu_percent(0, True), list)
    assert ps.boot_time("%Y") == time.strftime("%Y", time.localtime(int(ps.boot_time())))
    assert (
        ps.network_io_counters("lo")["bytes_recv"] >= 0 <= ps.disk_io_counters().get("busy_time", 0)
    )
    top = ps.top(2, 0)
    assert len(top) == 2 and set(top[0]) >= {"cmd", "user", "pid", "cpu", "mem"}


def test_a_status_of_its_own(here: HarnessHere) -> None:
    here.opts = {"status.cpustats.custom": ["ctxt", "none"], "status.w.custom": ["x"], "id": "m"}
    assert set(status.custom()) == {"ctxt"}


# ---------------------------------------------------------------- the network


def record(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, output: str) -> None:
    """Put a recorded program first on PATH."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / f"{name}.txt").write_text(output)
    (tools / name).write_text(f'#!/bin/sh\ncat "{tools}/{name}.txt"\n')
    (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


TRACEROUTE = """traceroute to example.com (192.0.2.7), 30 hops max, 60 byte packets
 1  gateway (10.0.0.1)  0.123 ms  0.456 ms  0.789 ms
 2  * * *
 3  a.example.net (192.0.2.1)  3.5 ms * b.example.net (192.0.2.2)  4.25 ms
 4  192.0.2.7 (192.0.2.7)  9.0 ms !X  9.1 ms  9.2 ms
"""


def test_the_way_to_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, monkeypatch, "traceroute", TRACEROUTE)
    first, silent, divided, last = network.traceroute("example.com")
    assert first == {
        "count": 1,
        "hostname": "gateway",
        "ip": "10.0.0.1",
        "ms1": 0.123,
        "ms2": 0.456,
        "ms3": 0.789,
    }
    assert (silent["hostname"], silent["ip"], silent["ms1"]) == ("*", "*", None)
    assert (divided["ip"], divided["ms1"], divided["ms2"], divided["ms3"]) == (
        "192.0.2.1",
        3.5,
        None,
        4.25,
    )
    assert (last["hostname"], last["ms3"]) == ("192.0.2.7", 9.2)


def test_a_machine_is_woken_up(change: None) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(5)
        assert network.wol("02-fc:00.000005", "127.0.0.1", listener.getsockname()[1]) is True
        assert listener.recv(200) == b"\xff" * 6 + b"\x02\xfc\0\0\0\5" * 16
    for arguments, message in (
        (("02:fc",), "is not a hardware address"),
        (("02fc00000005\n",), "is not a hardware address"),
        (("02fc00000005", "no such host"), "port 9"),
        (("02fc00000005", "127.0.0.1", 1 << 20), "port"),
    ):
        with pytest.raises(StateFailed, match=message):
            network.wol(*arguments)


def test_sockets_are_listed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            ends = {"local_port": client.getsockname()[1], "remote_port": port}
            listed = [
                item for item in network.netstat() if item["local-address"].endswith(f":{port}")
            ]
            connections = network.active_tcp().values()
    listening = [item for item in listed if item["state"] == "LISTEN"]
    assert [item["remote-address"] for item in listening] == ["0.0.0.0:*"]
    assert listening[0]["program"].startswith(f"{os.getpid()}/")
    assert listening[0]["user"] == str(os.getuid())
    assert ends in [
        {"local_port": item["local_port"], "remote_port": item["remote_port"]}
        for item in connections
        if item["local_addr"] == "127.0.0.1"
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda: network.traceroute("example.com"),
        lambda: ps.psaux("x"),
        lambda: ps.ss("x"),
        lambda: ps.netstat("x"),
        lambda: ps.lsof("x"),
        lambda: status.w(),
        lambda: file.lsattr("/"),
        lambda: file.patch("/a", "/b"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StateFailed, match="is missing: it comes with"):
        call()


# ---------------------------------------------------------------- fstab, shadow, sysfs, commands


def test_lines_of_fstab(tmp_path: Path, change: None) -> None:
    config = tmp_path / "fstab"
    config.write_text("# kept\n/dev/vda / ext4 defaults 0 1\n")
    where: dict[str, Any] = {"config": str(config)}
    a = ("/m/a", "/dev/x", "ext4")
    assert mount.set_fstab(*a, test=True, **where) == "new"
    assert mount.set_fstab(*a, **where) == "new"
    assert mount.set_fstab(*a, **where) == "present"
    assert mount.set_fstab(*a, "ro", not_change=True, **where) == "present"
    assert mount.set_fstab(*a, "ro", test=True, **where) == "change"
    assert mount.set_fstab("/m/b", "/dev/x", "ext4", ["ro", "noatime"], 1, 2, **where) == "change"
    assert mount.set_fstab("/m/c", "tmpfs", "tmpfs", **where) == "new"
    assert mount.set_fstab("/m/d", "tmpfs", "tmpfs", **where) == "new"
    assert mount.set_fstab("/m/e", "tmpfs", "tmpfs", match_on=["device", "name"], **where) == "new"
    assert mount.rm_fstab("/m/d", "other", str(config)) is True
    assert mount.rm_fstab("/m/e", "tmpfs", str(config)) is True
    shown = mount.fstab(str(config))
    assert list(shown) == ["/", "/m/b", "/m/c", "/m/d"]
    assert shown["/m/b"]["opts"] == ["ro", "noatime"] and shown["/m/b"]["pass"] == "2"
    assert config.read_text().startswith("# kept\n")
    with pytest.raises(StateFailed, match="match_on"):
        mount.set_fstab(*a, match_on="bad", **where)
    with pytest.raises(StateFailed, match="one line"):
        mount.set_fstab("/m/f", "/dev/y", "ext4", "ro 0 0\n/dev/z / ext4", **where)


def test_where_a_path_is_mounted(change: None) -> None:
    assert mount.get_mount_from_path("/proc/self/status") == "/proc"
    assert mount.get_device_from_path("/proc/self") == "proc"
    assert mount.active()["/proc"]["alt_device"] == "proc"
    assert mount.active(extended=True)["/proc"]["superopts"]
    assert mount.is_fuse_exec("no-such-program") is False
    assert mount.salt_swapoff("/no/such") is None
    with pytest.raises(StateFailed, match="does not have anything mounted"):
        mount.salt_umount("/no/such")
    with pytest.raises(StateFailed, match="mkmnt"):
        mount.salt_mount("/no/such", "/dev/no-such")


@pytest.mark.parametrize("day", ["", "-h", "soon", "1\n2", "2026-1-1", "٣"])
def test_a_day_that_is_none_is_refused(change: None, day: str) -> None:
    functions: list[Callable[..., bool]] = [shadow.set_date, shadow.set_expire, shadow.set_maxdays]
    for function in functions:
        with pytest.raises(StateFailed, match="expected a number of days"):
            function("root", day)


def test_attributes_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: None
) -> None:
    monkeypatch.setattr(sysfs, "ROOT", str(tmp_path / "sys"))
    device = tmp_path / "sys/class/net/eth0"
    device.mkdir(parents=True)
    (device / "mtu").write_text("1500\n")
    (device / "uevent").write_text("INTERFACE=eth0\nIFINDEX=2\n")
    (device / "carrier").write_text("")
    (device / "carrier").chmod(0o444)
    (tmp_path / "passwd").write_text("secret")
    (device / "out").symlink_to(tmp_path / "passwd")
    assert sysfs.read("class/net/eth0/mtu") == sysfs.attr("class/net/eth0/mtu") == 1500
    assert sysfs.read(["mtu", "none"], "class/net/eth0") == {"mtu": 1500, "none": False}
    assert sysfs.read("class/net/eth0/uevent") == {"INTERFACE": "eth0", "IFINDEX": 2}
    assert sysfs.target("class/net/eth0", full=False) == "eth0" and sysfs.attr("none") is False
    assert sysfs.write("class/net/eth0/mtu", 9000) is True
    assert (device / "mtu").read_text().strip() == "9000"
    interfaces = sysfs.interfaces("class/net")
    assert interfaces["rw"] and interfaces["r"] == ["eth0/carrier"]
    for key in ("../passwd", "class/net/eth0/out", "a\0b"):
        with pytest.raises(StateFailed, match="not a key below"):
            sysfs.read(key)
    with pytest.raises(StateFailed, match="there is no"):
        sysfs.write("class/net/eth1/mtu", 1)
    with pytest.raises(StateFailed, match="expected one line"):
        sysfs.write("class/net/eth0/mtu", "1\n2")
    with pytest.raises(StateFailed, match="no folder"):
        sysfs.interfaces("class/net/eth0/mtu")


def test_commands_in_the_background_and_elsewhere(tmp_path: Path) -> None:
    done = tmp_path / "done"
    assert cmd.run_bg(f"echo x > {done}", python_shell=True)["pid"] > 0
    wait_until(done.exists, "the command")
    assert cmd.run_bg("exit 3", python_shell=True).keys() == {"pid"}
    assert all(shell.startswith("/") for shell in cmd.shells())
    with pytest.raises(StateFailed, match="is no folder"):
        cmd.run_chroot("/no/such", "true")
    if may_mount():
        assert cmd.run_chroot("/", "echo $0; pwd")["stdout"].splitlines()[1] == "/"
        assert cmd.run_chroot(str(tmp_path), "true")["retcode"] == 127  # nothing is mounted there


# ---------------------------------------------------------------- files


def test_backups_are_listed_restored_and_deleted(tmp_path: Path, change: None) -> None:
    path = str(tmp_path / "conf")
    for text in (b"one", b"two", b"three"):
        file.write(path, text, mode="0640", backup="minion")
    listed = file.list_backups(path)
    assert [entry["Size"] for entry in listed.values()] == [3, 3] and list(listed) == [0, 1]
    assert Path(listed[0]["Location"]).read_bytes() == b"two"
    assert file.list_backups_dir(str(tmp_path)) == {"conf": listed}
    assert list(file.list_backup(path, 1)) == [0]
    os.chmod(path, 0o600)
    restored = file.restore_backup(path, "1")
    assert restored["result"] is True and restored["comment"].endswith(f"to {path}")
    assert Path(path).read_bytes() == b"one" and os.stat(path).st_mode & 0o777 == 0o640
    assert Path(file.list_backups(path)[0]["Location"]).read_bytes() == b"three"
    assert file.remove_backup(path, 0)["result"] is True
    assert file.list_backups(path) == listed
    for number in ("2", "-1", "x", "٣"):
        with pytest.raises(StateFailed, match="does not exist for"):
            file.delete_backup(path, number)
    with pytest.raises(StateFailed, match="limit"):
        file.list_backups(path, "many")
    assert file.list_backups("/no/such") == file.list_backups_dir("/no/such") == {}


PATCH = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n l1\n-l2\n+L2\n"


@needs("patch")
def test_a_file_is_patched(tmp_path: Path, change: None) -> None:
    path, patch = tmp_path / "f", tmp_path / "p"
    path.write_text("l1\nl2\n")
    patch.write_text(PATCH)
    assert file.patch(str(path), str(patch), dry_run=True)["stdout"].startswith("checking file")
    assert path.read_text() == "l1\nl2\n"
    assert file.patch(str(path), str(patch))["retcode"] == 0
    assert path.read_text() == "l1\nL2\n"
    assert file.patch(str(path), str(patch))["retcode"] == 1
    assert file.patch(str(path), str(patch), "--reverse")["retcode"] == 0
    patch.write_text(PATCH.replace("--- a", "--- a/f").replace("+++ b", "+++ b/f"))
    assert file.patch(str(tmp_path), str(patch), "-p1")["retcode"] == 0
    assert path.read_text() == "l1\nL2\n"


def test_parts_attributes_and_devices_of_files(tmp_path: Path, change: None) -> None:
    path = str(tmp_path / "f")
    Path(path).write_text("abcdef")
    assert file.seek_read(path, 2, 1) == b"bc"
    assert file.seek_write(path, "XY", 5) == 2 and file.seek_write(path, b"-", 8) == 1
    assert Path(path).read_bytes() == b"abcdeXY\0-"
    assert file.get_devmm("/dev/null") == (1, 3) and file.get_devmm(path) == (0, 0)
    made = file.mknod_fifo(f"{path}ifo")
    assert made["changes"] == {"new": f"Fifo pipe {path}ifo created."} and file.is_fifo(
        f"{path}ifo"
    )
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: file.seek_write(path, "x", -1), "offset"),
        (lambda: file.mknod_fifo(path), "already exists"),
        (lambda: file.chattr(path, operator="set", attributes="i"), "Need an operator"),
        (lambda: file.chattr(path, operator="add", attributes="?"), "no attribute"),
        (lambda: file.chattr(operator="add", attributes="i"), "needs files"),
        (lambda: file.chattr(path, operator="add", attributes="A", flags="x"), "flags"),
        (lambda: file.lsattr("/no/such"), "does not exist"),
        (lambda: file.lsattr("relative"), "must be absolute"),
    ]
    for call, message in refused:
        with pytest.raises(StateFailed, match=message):
            call()
    if file.get_attributes(path) is not None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/g").write_text("")
        assert file.chattr(f"{tmp_path}/d", operator="add", attributes="A", flags="R") is True
        assert "A" in file.lsattr(f"{tmp_path}/d")[f"{tmp_path}/d/g"]
        assert file.chattr(f"{tmp_path}/d/g", operator="remove", attributes="A") is True
        assert "A" not in file.lsattr(f"{tmp_path}/d")[f"{tmp_path}/d/g"]


def test_what_a_trees_own_states_call(tmp_path: Path, change: None, here: HarnessHere) -> None:
    path = tmp_path / "f"
    path.write_text("")
    path.chmod(0o644)
    here.dry = True
    answer, facts = file.check_perms(str(path), None, ME, None, "600")
    assert (answer["result"], answer["changes"]) == (None, {"mode": "0600"})
    assert path.stat().st_mode & 0o777 == 0o644
    here.dry = False
    begun = {"name": "n", "changes": {"diff": "New"}, "comment": "c", "result": True}
    answer, facts = file.check_perms(str(path), begun, ME, None, 600)
    assert answer == begun | {"changes": {"diff": "New", "mode": "0600"}}
    assert facts["lmode"] == "0644" and facts["cmode"] == "0600" and facts["luser"] == ME
    assert path.stat().st_mode & 0o777 == 0o600
    assert file.check_perms(str(path), {}, ME, None, "0600")[0]["changes"] == {}
    digits = file.get_hash(str(path))
    sums = tmp_path / "sums"
    sums.write_text(f"{digits}  f\n{'0' * 64}  g\n")
    hashed = {"hsum": digits, "hash_type": "sha256"}
    assert file.extract_hash(str(sums), file_name=str(path)) == hashed
    assert file.get_source_sum(str(path), str(path), str(sums)) == hashed
    assert file.get_source_sum(str(path), str(path), f"sha256={digits}") == hashed
    assert file.source_list([f"{path}x", {str(path): "h"}], "", "base") == (str(path), "h")
    assert file.source_list("salt://any", "h", "base") == ("salt://any", "h")
    with pytest.raises(StateFailed, match="none of the specified sources"):
        file.source_list([f"{path}x"], "", "base")
    with pytest.raises(StateFailed, match="not a hash"):
        file.get_source_sum(source_hash="nonsense")
    text = file.apply_template_on_contents(
        "{{ a }}{{ b }}", "jinja", {"b": 2}, {"a": 1, "b": 0}, ""
    )
    assert text == "12"


# ---------------------------------------------------------------- git


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with a commit on main, tagged v1, and one more on dev."""
    require("git")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[user]\nname = n\nemail = e@example.com\n")
    script = (
        "git init -qb main r && cd r && echo 1 >a && git add a && git commit -qm one && git tag v1"
        " && git checkout -qb dev && echo 2 >>a && git commit -qam two && git checkout -q main"
        " && git remote add o https://me:secret@example.com/x.git"
    )
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    return str(tmp_path / "r")


def test_a_repository_is_looked_at(repository: str) -> None:
    assert git.diff(repository, "v1", "dev").endswith("@@ -1 +1,2 @@\n 1\n+2")
    assert git.diff(repository, "v1", "dev", "--name-only", paths="b") == ""
    assert "+2" not in git.diff(repository) and git.diff(repository, cached=True) == ""
    first = git.revision(repository, "v1")
    assert git.merge_base(repository, ["v1", "dev"]) == first
    assert git.merge_base(repository, ["v1", "dev"], all=True) == [first]
    assert git.merge_base(repository, ["v1", "dev"], is_ancestor=True) is True
    assert git.merge_base(repository, ["dev", "v1"], is_ancestor=True) is False
    assert "+2" in git.merge_tree(repository, "v1", "dev")
    assert git.symbolic_ref(repository, "HEAD") == "refs/heads/main"
    assert set(git.salt_remote_refs(repository, heads=True)) == {
        "refs/heads/main",
        "refs/heads/dev",
    }
    assert set(git.salt_remote_refs(repository, filter="v1")) == {"refs/tags/v1"}
    hidden = "https://<redacted>@example.com/x.git"
    assert git.remotes(repository)["o"] == {"fetch": hidden, "push": hidden}
    assert "secret" in git.remote_get(repository, "o", redact_auth=False)["fetch"]
    assert git.config_get_regex("user.*", "@", repository) == {"user.email": ["e@example.com"]}
    assert git.stash(repository, "list") == ""
    for call, message in (
        (lambda: git.diff(repository, "--output=/tmp/x"), "begins with a hyphen"),
        (lambda: git.diff(repository, "no-such"), "failed"),
        (lambda: git.diff(repository, no_index=True), "give two paths"),
        (lambda: git.merge_base(repository, ["v1", "-h"]), "begins with a hyphen"),
        (lambda: git.merge_base(repository, ["v1", "none"]), "Not a valid object"),
        (lambda: git.merge_base(repository, [], octopus=True, independent=True), "Only one of"),
        (lambda: git.symbolic_ref(repository, "no-such"), "not a symbolic ref"),
        (lambda: git.list_worktrees("/"), "not a git repository"),
        (lambda: git.config_get_regexp("user", "(", repository), "value_regex"),
    ):
        with pytest.raises(StateFailed, match=message):
            call()


def test_a_repository_is_changed(repository: str, tmp_path: Path, change: None) -> None:
    assert git.branch(repository, "new") is True and "new" in git.list_branches(repository)
    assert git.branch(repository, "new", "-D") is True
    assert git.tag(repository, "v2", message="two words") == "" and "v2" in git.list_tags(
        repository
    )
    assert git.worktree_add(repository, f"{tmp_path}/w", ref="v1", detach=True)
    assert git.worktree_add(repository, f"{tmp_path}/named", ref="v1")
    trees = git.list_worktrees(repository)
    head = git.revision(repository, "v1")
    assert trees[f"{tmp_path}/w"] == {
        "stale": False,
        "HEAD": head,
        "detached": True,
        "branch": None,
        "tags": ["v1", "v2"],
    }
    assert trees[f"{tmp_path}/named"]["branch"] == "named"
    assert git.worktree_rm(f"{tmp_path}/w") is True
    assert list(git.list_worktrees(repository, stale=True)) == [f"{tmp_path}/w"]
    assert "w:" in git.worktree_prune(repository, dry_run=True)
    assert git.list_worktrees(repository, stale=True) != {}
    git.worktree_prune(repository)
    assert git.list_worktrees(repository, stale=True) == {}
    assert git.archive(repository, f"{tmp_path}/o.tar", "v1") is True
    assert git.archive(repository, f"{tmp_path}/o.zip", prefix="p/", format="zip") is True
    listed = subprocess.run(["tar", "tf", tmp_path / "o.tar"], capture_output=True, text=True)
    assert listed.stdout.split() == ["r/", "r/a"]
    Path(repository, "a").write_text("changed")
    assert "Saved working directory" in git.stash(repository)
    assert "stash@{0}" in git.stash(repository, "list")
    git.stash(repository, "pop")
    git.discard_local_changes(repository)
    assert git.status(repository) == {}
    assert git.rm(repository, "a") == "rm 'a'"
    git.reset(repository, "--hard")
    assert "Fast-forward" in git.merge(repository, "dev")
    assert git.rebase(repository, "dev").startswith("Current branch main is up to date")
    git.symbolic_ref(repository, "refs/alias", "refs/heads/dev")
    assert git.symbolic_ref(repository, "refs/alias") == "refs/heads/dev"
    git.fetch(repository, repository, refspecs="refs/heads/dev:refs/heads/copy")
    assert "copy" in git.list_branches(repository)
    for call, message in (
        (lambda: git.worktree_rm(repository), "is not a git worktree"),
        (lambda: git.worktree_rm("/no/such"), "does not exist"),
        (lambda: git.worktree_add(repository, "/x", branch="b", detach=True), "Only one of"),
        (lambda: git.branch(repository, "-D"), "begins with a hyphen"),
        (lambda: git.tag(repository, "--list"), "not a valid tag name"),
    ):
        with pytest.raises(StateFailed, match=message):
            call()


# ---------------------------------------------------------------- as people type them


def test_the_command_line_calls_them(machine: Machine) -> None:
    refused = machine("call", "--test", "ps.kill_pid", str(os.getpid()), "0", code=1)
    assert "ps.kill_pid changes the machine: a dry run does not call it" in refused.stderr
    failed = machine("call", "status.master", code=1)
    assert "there is no master" in failed.stderr
    backups = machine("call", "file.list_backups", str(machine.folder / "f"), "--out", "json")
    assert '"local": {}' in backups.stdout


@pytest.mark.parametrize(
    "words", [("run", "touch FILE"), ("retcode", "touch FILE"), ("exec_code", "sh", "touch FILE")]
)
def test_a_command_is_a_change_of_its_own(machine: Machine, words: tuple[str, ...]) -> None:
    file = machine.folder / "made"
    line = [words[0], *(word.replace("FILE", str(file)) for word in words[1:])]
    call = ("call", f"cmd.{line[0]}", *line[1:])
    refused = machine(*call, "--test", code=1)
    assert f"cmd.{line[0]} changes the machine: a dry run does not call it" in refused.stderr
    assert not file.exists()
    machine(*call, "--detailed-exitcodes", code=2)
    assert file.exists()
    machine("call", "cmd.which", "sh", "--test")


def test_mounts_of_users_with_line_ends_in_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users mount by FUSE; the kernel writes spaces and line feeds otherwise, and no others."""
    line = "40 1 0:3{}/ /home/u/a\u2028\r\x0b\x0cb rw,nosuid - fuse.x x rw\n"
    text = (line.format(" ") + line.format("4 ").replace("/home/u/a", "/b")).encode()
    monkeypatch.setattr(file, "read_bytes", lambda path: text)
    assert [*mount.active()] == ["/home/u/a\u2028\r\x0b\x0cb", "/b\u2028\r\x0b\x0cb"]
