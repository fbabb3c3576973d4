"""States and functions of Salt that runner lacks, and what to write instead."""

from __future__ import annotations

_GUARDED = "call {} with cmd.run, with a guard such as `unless`"
INSTEAD = {
    "firewall": _GUARDED.format("the firewall's own program"),
    "linux_acl": "they are called acl here, as with Salt (acl.present, acl.absent)",
    **dict.fromkeys(
        ("docker_container", "docker_image", "lxc", "lxd"), _GUARDED.format("the container engine")
    ),
    **dict.fromkeys(
        ("salt", "cloud", "saltmod"),
        "this orchestrates several machines: runner brings one to its state",
    ),
    **dict.fromkeys(
        ("chocolatey", "macpackage", "reg", "zypper", "win_servermanager", "macdefaults"),
        "it is for another system than the Linux machines that runner is for",
    ),
}

OTHERS = {  # what other tools call state modules
    **dict.fromkeys(["apt", "yum", "dnf", "package", "packages", "rpm"], "pkg"),
    **dict.fromkeys(["systemd", "systemctl", "services"], "service"),
    **dict.fromkeys(["command", "shell", "exec", "script"], "cmd"),
    **dict.fromkeys(["copy", "template", "files", "directory"], "file"),
    **{
        "users": "user",
        "groups": "group",
        "mounts": "mount",
        "repo": "pkgrepo",
        "authorized_key": "ssh_auth",
    },
}

_ONE = "a run starts no other one: `include:` in the SLS brings the states of another into this run"
RUNS = {
    f"state.{name}": _ONE
    for name in ("apply", "sls", "sls_id", "highstate", "high", "low", "top", "test")
}
RUNS |= {"state.single": "a run starts no other one: declare the state in the SLS"}
RUNS |= dict.fromkeys(
    ("state.template", "state.template_str"),
    "a run starts no other one: save it as an SLS and `include:` it",
)

_SERVICE = "runner does not manage it: " + _GUARDED
CALLS = {  # the modules of execution functions that are not here
    "supervisord": _SERVICE.format("supervisorctl"),
    "rabbitmq": _SERVICE.format("rabbitmqctl"),
    "redis": _SERVICE.format("redis-cli"),
    "nginx": _SERVICE.format("nginx") + "; service.reload reloads it",
    **dict.fromkeys(
        ("docker", "dockercompose", "dockermod", "lxc", "lxd"),
        _SERVICE.format("the container engine"),
    ),
    **dict.fromkeys(("virt", "vagrant"), _SERVICE.format("virsh")),
    **dict.fromkeys(("npm", "gem", "bower", "composer"), _GUARDED.format("the program")),
    "x509": "runner makes and reads no certificates: " + _GUARDED.format("openssl"),
    "sdb": (
        "runner has no such stores: values belong in the pillar, secrets in its encrypted (gpg)"
        " values; what this machine is to keep goes to salt['data.update']"
    ),
    "vault": (
        "runner does not query vaults: secrets belong in the pillar's encrypted (gpg) values, or an"
        " external pillar"
    ),
    "event": "there is no event bus; the state event.send is there",
    "schedule": "`runner schedule` has the system run runner",
}


def calls(function: str) -> str | None:
    """Say what to write instead of an execution function; None where nothing is known of it."""
    module = function.partition(".")[0]
    return RUNS.get(function) or CALLS.get(module)


def hint(module: str) -> str | None:
    """Say what to write instead of a state of this module; None where nothing is known of it."""
    instead = INSTEAD.get(module)
    if instead is None and module.startswith(("win_", "mac_")):
        instead = INSTEAD["reg"]
    return (
        f"runner has no {module} states: {instead}; or bring your own in _states/ of the tree"
        if instead
        else None
    )
