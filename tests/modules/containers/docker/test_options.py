# SPDX-License-Identifier: Apache-2.0
"""Every option of containers: what people write, what the engine gets, and how it is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine import Engine, start_engine
from harness import HarnessHere

from modules.containers.docker import find_container, find_image
from modules.containers.docker.options import ENGINE, NAMES, OPTIONS, declare
from runner.api import StateFailed, running

# of each option: a value, what goes to the engine, and another value
SAMPLES: dict[str, tuple[Any, Any, Any]] = {
    "command": ("sleep '1 2'", ["sleep", "1 2"], ["sleep", 3]),
    "entrypoint": (["a", "b"], ["a", "b"], "a c"),
    "environment": ([{"A": 1}, "B=x=y"], ["A=1", "B=x=y"], "A=1,B=x"),
    "labels": (["a", "b=c", {"d": 1}], {"a": "", "b": "c", "d": "1"}, {"a": "x"}),
    "user": (1000, "1000", "www"),
    "working_dir": ("/srv", "/srv", "/tmp"),
    "stop_signal": ("SIGINT", "SIGINT", "HUP"),
    "healthcheck": (
        [{"test": "curl x"}, {"interval": "1m30s"}, {"retries": 3}],
        {"Test": ["CMD-SHELL", "curl x"], "Interval": 90 * 10**9, "Retries": 3},
        {"test": ["curl", "y"], "start_period": "2s"},
    ),
    "hostname": ("a", "a", "b"),
    "domainname": ("a", "a", "b"),
    "ports": ("80,53/udp", {"80/tcp": {}, "53/udp": {}}, ["90-91"]),
    "stdin_open": ("yes", True, False),
    "tty": (True, True, False),
    "stop_timeout": ("5", 5, 6),
    "volumes": ("/a,/b", {"/a": {}, "/b": {}}, ["/c"]),
    "mac_address": ("02:00:00:00:00:01", "02:00:00:00:00:01", "02:00:00:00:00:02"),
    "network_disabled": (True, True, False),
    "auto_remove": (True, True, False),
    "binds": (["/a:/b:ro", "v:/c"], ["/a:/b:ro", "v:/c"], ["/a:/b", "v:/c"]),
    "blkio_weight": (100, 100, 200),
    "blkio_weight_device": ("/dev/sda:100", [{"Path": "/dev/sda", "Weight": 100}], "/dev/sda:5"),
    "cap_add": ("CAP_SYS_ADMIN,mknod", ["SYS_ADMIN", "MKNOD"], ["MKNOD"]),
    "cap_drop": (["ALL"], ["ALL"], ["MKNOD"]),
    "cgroup_parent": ("a.slice", "a.slice", "b.slice"),
    "cgroupns": ("host", "host", "private"),
    "cpu_period": (1000, 1000, 2000),
    "cpu_quota": (1000, 1000, 2000),
    "cpu_rt_period": (1000, 1000, 2000),
    "cpu_rt_runtime": (1000, 1000, 2000),
    "cpu_shares": ("512", 512, 2),
    "cpuset_cpus": ("0,1", "0,1", "0"),
    "cpuset_mems": (0, "0", "1"),
    "device_cgroup_rules": (["c 1:3 r"], ["c 1:3 r"], ["c 1:3 rw"]),
    "device_read_bps": ("/dev/sda:1mb", [{"Path": "/dev/sda", "Rate": 1 << 20}], "/dev/sda:2mb"),
    "device_read_iops": ([{"/dev/sda": 9}], [{"Path": "/dev/sda", "Rate": 9}], "/dev/sda:2"),
    "device_requests": ([{"Count": -1}], [{"Count": -1}], [{"Count": 1}]),
    "device_write_bps": ("/dev/sda:1", [{"Path": "/dev/sda", "Rate": 1}], "/dev/sdb:1"),
    "device_write_iops": ("/dev/sda:1", [{"Path": "/dev/sda", "Rate": 1}], "/dev/sda:2"),
    "devices": (
        "/dev/a,/dev/b:/dev/c:r",
        [
            {"PathOnHost": "/dev/a", "PathInContainer": "/dev/a", "CgroupPermissions": "rwm"},
            {"PathOnHost": "/dev/b", "PathInContainer": "/dev/c", "CgroupPermissions": "r"},
        ],
        "/dev/a,/dev/b:/dev/c:rw",
    ),
    "dns": ("8.8.8.8,9.9.9.9", ["8.8.8.8", "9.9.9.9"], "9.9.9.9,8.8.8.8"),
    "dns_opt": ("ndots:9", ["ndots:9"], "ndots:1"),
    "dns_search": (["a", "b"], ["a", "b"], "a"),
    "extra_hosts": ("a:10.0.0.1,b:::1", ["a:10.0.0.1", "b:::1"], [{"a": "10.0.0.2"}]),
    "group_add": ([10, "www"], ["10", "www"], "www"),
    "init": (True, True, False),
    "ipc_mode": ("host", "host", "private"),
    "isolation": ("hyperv", "hyperv", "process"),
    "links": ([{"db": "d"}], ["db:d"], "db:e"),
    "log_config": ({"Type": "syslog"}, {"Type": "syslog"}, {"Type": "none"}),
    "log_driver": ("syslog", {"Type": "syslog"}, "none"),
    "log_opt": ("a=b", {"Config": {"a": "b"}}, {"a": "c"}),
    "mem_limit": ("512m", 512 << 20, "1.5GB"),
    "mem_reservation": (1024, 1024, "2k"),
    "mem_swappiness": (60, 60, 10),
    "memswap_limit": (-1, -1, "1g"),
    "nano_cpus": (500000000, 500000000, 1),
    "network_mode": ("host", "host", "none"),
    "oom_kill_disable": (True, True, False),
    "oom_score_adj": (10, 10, -10),
    "pid_mode": ("host", "host", "private"),
    "pids_limit": (100, 100, -1),
    "port_bindings": (
        ["8000-8001:80-81", "127.0.0.1::53/udp", "[::1]:443:443", 90],
        {
            "80/tcp": [{"HostIp": "", "HostPort": "8000"}],
            "81/tcp": [{"HostIp": "", "HostPort": "8001"}],
            "53/udp": [{"HostIp": "127.0.0.1", "HostPort": ""}],
            "443/tcp": [{"HostIp": "::1", "HostPort": "443"}],
            "90/tcp": [{"HostIp": "", "HostPort": ""}],
        },
        "8080:80",
    ),
    "privileged": (True, True, False),
    "publish_all_ports": (True, True, False),
    "read_only": (True, True, False),
    "restart_policy": (
        "on-failure:5",
        {"Name": "on-failure", "MaximumRetryCount": 5},
        "on-failure:6",
    ),
    "runtime": ("crun", "crun", "runc"),
    "security_opt": ("apparmor:unconfined", ["apparmor=unconfined"], ["seccomp=unconfined"]),
    "shm_size": ("1m", 1 << 20, "2m"),
    "storage_opt": ("size=1g", {"size": "1g"}, {"size": "2g"}),
    "sysctls": ({"a.b": 1}, {"a.b": "1"}, "a.b=2"),
    "tmpfs": ([{"/run": "size=1m"}], {"/run": "size=1m"}, {"/run": "size=2m"}),
    "ulimits": (
        "nofile=1:2,nproc=3",
        [{"Name": "nofile", "Soft": 1, "Hard": 2}, {"Name": "nproc", "Soft": 3, "Hard": 3}],
        ["nofile=9"],
    ),
    "userns_mode": ("host", "host", "x"),
    "uts_mode": ("host", "host", "x"),
    "volume_driver": ("a", "a", "b"),
    "volumes_from": (["other:ro"], ["other:ro"], "another"),
}


def sent(engine: Engine, option: str, value: Any) -> Any:
    """Return what goes to the engine for an option, which then has a container named web."""
    body = declare({option: value}).body("box:1")
    engine.things["containers"].pop("web", None)
    section, field = OPTIONS[option].place
    asked = body[field] if section == "Config" else body[section][field]
    engine.create({"name": "web"}, body)
    return asked


@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_an_option(option: str, tmp_path: Path) -> None:
    if option == "detach":
        assert declare({"detach": True}).body("box:1") == {"Image": "box:1", "HostConfig": {}}
        return
    value, wanted, other = SAMPLES[option]
    engine = start_engine(tmp_path / "engine.json")
    section, field = OPTIONS[option].place
    with running(HarnessHere()):
        assert sent(engine, option, value) == wanted
        container, image = find_container("web"), find_image("box:1")
        assert container and image
        assert declare({option: value}).differences(container, image) == {}
        changed = declare({option: other}).differences(container, image)
        assert list(changed) == [section] and field in changed[section], changed
        undeclared = declare({}).differences(container, image)
        assert (undeclared == {}) is (OPTIONS[option].otherwise is ENGINE), undeclared
        for alias in OPTIONS[option].aliases:
            assert declare({alias: value}).values == declare({option: value}).values


def test_every_option_has_a_sample() -> None:
    assert SAMPLES.keys() | {"detach"} == OPTIONS.keys()
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"port_bindings": "a:80"}, "port_bindings: 'a' is non-numeric"),
        ({"port_bindings": "1-2:80"}, "the two ranges of ports are not equally long"),
        ({"port_bindings": "300.1.1.1:80:80"}, "'300.1.1.1' is not a valid IP address"),
        ({"ports": "9-8"}, "Start of port range (9) cannot be greater than end"),
        ({"ports": "80/icmp"}, "the protocol is tcp, udp or sctp"),
        ({"mem_limit": "much"}, "mem_limit: expected a size such as 512m, not 'much'"),
        ({"environment": "A"}, "environment: 'A' is not a key=value pair"),
        ({"binds": "/a"}, "binds: '/a' is not HOST:CONTAINER"),
        ({"volumes": "a"}, "'a' is not an absolute path"),
        ({"restart_policy": "sometimes"}, "'sometimes' is none of no, always"),
        ({"healthcheck": {"tets": "x"}}, "a healthcheck has no 'tets'"),
        ({"healthcheck": {"interval": "soon"}}, "expected a time such as 30s"),
        ({"tty": "perhaps"}, "expected true or false"),
        ({"cpu_shares": "x"}, "expected a whole number"),
        ({"user": ["a"]}, "expected a text"),
        ({"hostname": "a", "network_mode": "host"}, "Cannot be used when network_mode=host"),
        ({"publish": 80, "publish_all": True}, "Cannot be used when publish_all_ports=True"),
        ({"env": "A=1", "environment": "A=1"}, "'env' is an alias for 'environment'"),
        ({"dns_search": ["a\nnameserver 10.0.0.1"]}, "expected one line"),
        ({"nothing": 1}, "nothing: there is no such option"),
    ],
)
def test_a_mistake(given: dict[str, Any], problem: str) -> None:
    with running(HarnessHere()), pytest.raises(StateFailed) as failure:
        declare(given)
    assert problem in failure.value.message


def test_all_mistakes_at_once_and_what_is_left_as_it_is() -> None:
    with running(HarnessHere()):
        with pytest.raises(StateFailed) as failure:
            declare({"dns": "x", "shm_size": "y"})
        assert failure.value.message.count(";") == 1
        assert declare({"dns": "x"}, addresses=False).values == {"dns": ["x"]}
        assert declare({"labels": {"a": 1}}, "labels").values == {"labels": {"a": 1}}
        assert declare({"restart": False}).values["restart_policy"]["Name"] == "no"


def test_what_an_engine_adds_is_no_difference() -> None:
    """Answers of Podman 4.3."""
    there = {
        "Env": ["PATH=/bin", "TERM=xterm", "container=podman", "HOSTNAME=a", "A=1"],
        "Binds": ["/a/:/b:ro,rprivate,nodev,rbind", f"{'0' * 64}:/data:rw,rprivate,nosuid"],
        "CapDrop": ["AUDIT_WRITE", "MKNOD", "NET_RAW"],
        "Ulimits": [
            {"Name": "RLIMIT_NOFILE", "Hard": 2, "Soft": 1},
            {"Name": "X", "Hard": 1, "Soft": 1},
        ],
        "LogConfig": {"Type": "json-file", "Config": None},
        "StopSignal": "2",
        "WorkingDir": "/",
        "NetworkMode": "slirp4netns",
        "PortBindings": {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "34779"}], "1/tcp": None},
        "Links": ["/db:/web/d"],
        "Tmpfs": {"/run": "size=1m,rw,rprivate,nosuid,nodev,tmpcopyup", "/tmp": "rw"},
        "Healthcheck": {"Test": ["CMD-SHELL", "x"], "Interval": 3, "Timeout": 30},
        "RestartPolicy": {"Name": "", "MaximumRetryCount": 0},
    }
    wanted = {
        "environment": "A=1",
        "binds": "/a:/b:ro",
        "cap_drop": "MKNOD",
        "log_opt": "a=b",
        "ulimits": "nofile=1:2",
        "log_driver": "k8s-file",
        "stop_signal": "SIGINT",
        "working_dir": "/",
        "network_mode": "bridge",
        "port_bindings": "80",
        "links": "db:d",
        "tmpfs": {"/run": "size=1m"},
        "healthcheck": {"test": "x"},
        "restart_policy": "no",
    }
    with running(HarnessHere()):
        declared = declare(wanted).values
    for name, value in declared.items():
        if name != "ports":
            assert OPTIONS[name].same(value, there[OPTIONS[name].place[1]]), name
