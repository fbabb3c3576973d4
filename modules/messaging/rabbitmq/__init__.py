# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ: accounts, virtual hosts, rights, policies, plugins, upstreams and clusters of a node,
with Salt's functions. runas: the user who runs rabbitmqctl, root as a default.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from modules._texts.lines import one_line, plain_name
from modules.messaging.rabbitmq import _ctl
from modules.messaging.rabbitmq._ctl import SERVICE as SERVICE
from runner.api import CommandFailed, for_states

NEEDS_PROGRAM = "rabbitmqctl"  # without it templates find no function of this module


def _change(words: list[str], runas: str | None, stdin: str = "") -> dict[str, str]:
    return {"message": _ctl.change(words, runas, stdin)}


# ---------------------------------------------------------------- accounts


def list_users(runas: str | None = None) -> dict[str, list[str]]:
    """The accounts with their tags. Raises CommandFailed when the node does not answer.

    {{ salt['rabbitmq.list_users']() | json }}
    """
    return {row["user"]: list(row["tags"]) for row in _ctl.rows(("list_users",), runas)}


def user_exists(name: str, runas: str | None = None) -> bool:
    """Return whether there is an account. Raises CommandFailed when the node does not answer."""
    return name in list_users(runas)


def check_password(name: str, password: str, runas: str | None = None) -> bool:
    """Return whether an account has a password. Raises CommandFailed when the node does not
    answer.
    """
    words = ["authenticate_user", plain_name(name, "name")]
    done = _ctl.run(words, runas, one_line(password, "password"))
    if done.retcode and "failed to authenticate" not in done.stderr + done.stdout:
        _ctl.checked(words[0], done)
    return not done.retcode


def add_user(name: str, password: str | None = None, runas: str | None = None) -> dict[str, str]:
    """Make an account; without a password nobody can log in to it. Raises CommandFailed with what
    the node has against it.

    runner call rabbitmq.add_user app password=secret
    """
    words = ["add_user", plain_name(name, "name")]
    secret = secrets.token_urlsafe(16) if password is None else one_line(password, "password")
    answer = _change(words, runas, secret)
    return clear_password(name, runas) if password is None else answer


def delete_user(name: str, runas: str | None = None) -> dict[str, str]:
    """Remove an account. Raises CommandFailed with what the node has against it."""
    return _change(["delete_user", plain_name(name, "name")], runas)


def change_password(name: str, password: str, runas: str | None = None) -> dict[str, str]:
    """Change the password of an account. Raises CommandFailed with what the node has against it."""
    words = ["change_password", plain_name(name, "name")]
    return _change(words, runas, one_line(password, "password"))


def clear_password(name: str, runas: str | None = None) -> dict[str, str]:
    """Take the password of an account away, so that nobody can log in with one. Raises
    CommandFailed with what the node has against it.
    """
    return _change(["clear_password", plain_name(name, "name")], runas)


def set_user_tags(name: str, tags: str | Sequence[str], runas: str | None = None) -> dict[str, str]:
    """Give an account these tags and no others. Raises CommandFailed with what the node has
    against it.

    runner call rabbitmq.set_user_tags app monitoring
    """
    chosen = [tags] if isinstance(tags, str) else tags
    words = [plain_name(tag, "tags") for tag in chosen if tag]
    return _change(["set_user_tags", plain_name(name, "name"), *words], runas)


# ---------------------------------------------------------------- virtual hosts and rights


def list_vhosts(runas: str | None = None) -> list[str]:
    """The virtual hosts. Raises CommandFailed when the node does not answer.

    {{ salt['rabbitmq.list_vhosts']() | json }}
    """
    return [row["name"] for row in _ctl.rows(("list_vhosts",), runas)]


def vhost_exists(name: str, runas: str | None = None) -> bool:
    """Return whether there is a virtual host. Raises CommandFailed when the node does not
    answer.
    """
    return name in list_vhosts(runas)


def add_vhost(vhost: str, runas: str | None = None) -> dict[str, str]:
    """Make a virtual host. Raises CommandFailed with what the node has against it."""
    return _change(["add_vhost", plain_name(vhost, "vhost")], runas)


def delete_vhost(vhost: str, runas: str | None = None) -> dict[str, str]:
    """Remove a virtual host with its queues. Raises CommandFailed with what the node has against
    it.
    """
    return _change(["delete_vhost", plain_name(vhost, "vhost")], runas)


def _rights(rows: list[dict[str, str]], key: str) -> dict[str, dict[str, str]]:
    kinds = ("configure", "write", "read")
    return {row[key]: {kind: row[kind] for kind in kinds} for row in rows}


def list_permissions(vhost: str, runas: str | None = None) -> dict[str, dict[str, str]]:
    """The rights on a virtual host by account: configure, write, read. Raises CommandFailed when
    there is no such host.
    """
    words = ("list_permissions", "-p", plain_name(vhost, "vhost"))
    return _rights(_ctl.rows(words, runas), "user")


def list_user_permissions(name: str, runas: str | None = None) -> dict[str, dict[str, str]]:
    """The rights of an account by virtual host: configure, write, read. Raises CommandFailed when
    there is no such account.
    """
    return _rights(_ctl.rows(("list_user_permissions", plain_name(name, "name")), runas), "vhost")


def set_permissions(
    vhost: str,
    user: str,
    conf: str = ".*",
    write: str = ".*",
    read: str = ".*",
    runas: str | None = None,
) -> dict[str, str]:
    """Give an account rights on what regular expressions match. Raises CommandFailed with what the
    node has against it.

    runner call rabbitmq.set_permissions / app
    """
    expressions = [one_line(text, "permissions") for text in (conf, write, read)]
    words = ["set_permissions", "-p", plain_name(vhost, "vhost"), "--", plain_name(user, "user")]
    return _change([*words, *expressions], runas)


# ---------------------------------------------------------------- policies


def list_policies(vhost: str = "/", runas: str | None = None) -> dict[str, dict[str, Any]]:
    """The policies of a virtual host: {vhost: {name: {pattern, definition, priority, apply_to}}}.
    Raises CommandFailed when there is no such host.
    """
    policies: dict[str, dict[str, Any]] = {}
    for row in _ctl.rows(("list_policies", "-p", plain_name(vhost, "vhost")), runas):
        policies.setdefault(row["vhost"], {})[row["name"]] = {
            "pattern": row["pattern"],
            "definition": row["definition"],
            "priority": row["priority"],
            "apply_to": row["apply-to"],
        }
    return policies


def policy_exists(vhost: str, name: str, runas: str | None = None) -> bool:
    """Return whether a virtual host has a policy. Raises CommandFailed when there is no such
    host.
    """
    return name in list_policies(vhost, runas).get(vhost, {})


def set_policy(
    vhost: str,
    name: str,
    pattern: str,
    definition: str | Mapping[str, Any],
    priority: int | None = None,
    runas: str | None = None,
    apply_to: str | None = None,
) -> dict[str, str]:
    """Give a virtual host a policy. Raises CommandFailed with what the node has against it.

    definition: JSON, or a mapping. apply_to: queues, exchanges or all.

    runner call rabbitmq.set_policy / limit '^app' '{"max-length": 100}'
    """
    text = definition if isinstance(definition, str) else json.dumps(dict(definition))
    words = ["set_policy", "-p", plain_name(vhost, "vhost")]
    words += ["--priority", str(int(priority))] if priority else []
    words += ["--apply-to", plain_name(apply_to, "apply_to")] if apply_to else []
    words += ["--", plain_name(name, "name"), one_line(pattern, "pattern")]
    return _change([*words, one_line(text, "definition")], runas)


def delete_policy(vhost: str, name: str, runas: str | None = None) -> dict[str, str]:
    """Remove a policy of a virtual host. Raises CommandFailed with what the node has against it."""
    words = ["clear_policy", "-p", plain_name(vhost, "vhost"), plain_name(name, "name")]
    return _change(words, runas)


# ---------------------------------------------------------------- plugins


def list_available_plugins(runas: str | None = None) -> list[str]:
    """The plugins that there are. Raises CommandFailed when rabbitmq-plugins does not work."""
    return list(_ctl.plugins((), runas))


def list_enabled_plugins(runas: str | None = None) -> list[str]:
    """The plugins that were enabled. Raises CommandFailed when rabbitmq-plugins does not work.

    {{ salt['rabbitmq.list_enabled_plugins']() | json }}
    """
    return list(_ctl.plugins(("-e",), runas))


def plugin_is_enabled(name: str, runas: str | None = None) -> bool:
    """Return whether a plugin was enabled. Raises CommandFailed when rabbitmq-plugins does not
    work.
    """
    return name in list_enabled_plugins(runas)


def enable_plugin(name: str, runas: str | None = None) -> dict[str, str]:
    """Enable a plugin, and what it needs. Raises CommandFailed with what rabbitmq-plugins has
    against it.
    """
    return {"Enabled": _ctl.change_plugin("enable", plain_name(name, "name"), runas)}


def disable_plugin(name: str, runas: str | None = None) -> dict[str, str]:
    """Disable a plugin, and what needs it. Raises CommandFailed with what rabbitmq-plugins has
    against it.
    """
    return {"Disabled": _ctl.change_plugin("disable", plain_name(name, "name"), runas)}


# ---------------------------------------------------------------- upstreams of the federation


def list_upstreams(runas: str | None = None) -> dict[str, str]:
    """The upstreams of the federation, with their settings as JSON. Raises CommandFailed when the
    node does not answer.
    """
    rows = _ctl.rows(("list_parameters", "-p", "/"), runas)
    return {row["name"]: row["value"] for row in rows if row["component"] == "federation-upstream"}


@for_states
def upstream(name: str, runas: str | None = None) -> dict[str, Any] | None:
    """The settings of an upstream; None when there is none of a name. Raises CommandFailed when the
    node does not answer.
    """
    text = list_upstreams(runas).get(name)
    return None if text is None else dict(json.loads(text))


def upstream_exists(name: str, runas: str | None = None) -> bool:
    """Return whether there is an upstream. Raises CommandFailed when the node does not answer."""
    return name in list_upstreams(runas)


_UPSTREAM = tuple(
    """
    prefetch_count reconnect_delay ack_mode trust_user_id exchange max_hops expires message_ttl
    ha_policy queue
    """.split()
)


@for_states
def upstream_settings(uri: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an upstream as the node keeps them. Raises CommandFailed for unknown ones."""
    unknown = sorted(options.keys() - set(_UPSTREAM))
    if unknown:
        raise CommandFailed(f"an upstream has no {unknown[0]}; there are {', '.join(_UPSTREAM)}")
    given = {key: options.get(key) for key in _UPSTREAM}
    chosen = {key.replace("_", "-"): value for key, value in given.items() if value is not None}
    return {"uri": uri, **chosen}


def set_upstream(name: str, uri: str, runas: str | None = None, **options: Any) -> bool:
    """Give the federation an upstream. Raises CommandFailed with what the node has against it.

    options: prefetch_count, reconnect_delay, ack_mode, trust_user_id, exchange, max_hops, expires,
    message_ttl, ha_policy, queue.

    runner call rabbitmq.set_upstream far amqp://far.example.com max_hops=2
    """
    value = upstream_settings(one_line(uri, "uri"), options)
    parameter = {"component": "federation-upstream", "vhost": "/", "name": name, "value": value}
    # by the input: the address may have a login, which all users could read in a command line
    _ctl.change(["import_definitions"], runas, json.dumps({"parameters": [parameter]}))
    return True


def delete_upstream(name: str, runas: str | None = None) -> bool:
    """Remove an upstream. Raises CommandFailed with what the node has against it."""
    _ctl.change(["clear_parameter", "federation-upstream", plain_name(name, "name")], runas)
    return True


# ---------------------------------------------------------------- the node and its cluster


def status(runas: str | None = None) -> str:
    """Return what a node says of itself. Raises CommandFailed when it does not answer."""
    return _ctl.output(["status"], runas)


def cluster_status(runas: str | None = None) -> dict[str, Any]:
    """The cluster of a node. Raises CommandFailed when it does not answer.

    {{ salt['rabbitmq.cluster_status']().running_nodes | json }}
    """
    return dict(_ctl.rows(("cluster_status",), runas))


def join_cluster(
    host: str, user: str = "rabbit", ram_node: bool | None = None, runas: str | None = None
) -> dict[str, str]:
    """Make a node part of the cluster of another one. Raises CommandFailed with what the node has
    against it, which then runs again as before.

    host: the other node's machine. user: the part of its name before the @. ram_node: keep what a
    node knows in memory only.

    runner call rabbitmq.join_cluster rabbit1
    """
    node = f"{plain_name(user, 'user')}@{one_line(host, 'host')}"
    stop_app(runas)
    try:
        return _change(["join_cluster", *(["--ram"] if ram_node else []), node], runas)
    finally:
        start_app(runas)


def stop_app(runas: str | None = None) -> str:
    """Stop RabbitMQ, not the node that it runs in. Raises CommandFailed with what the node has
    against it.
    """
    return _ctl.change(["stop_app"], runas)


def start_app(runas: str | None = None) -> str:
    """Start RabbitMQ in its node. Raises CommandFailed with what the node has against it."""
    return _ctl.change(["start_app"], runas)


def reset(runas: str | None = None) -> str:
    """Bring a stopped node back to the beginning: it loses all that it has, and leaves its cluster.
    Raises CommandFailed with what the node has against it.
    """
    return _ctl.change(["reset"], runas)


def force_reset(runas: str | None = None) -> str:
    """Reset a node whatever its cluster says. Raises CommandFailed with what the node has against
    it.
    """
    return _ctl.change(["force_reset"], runas)


def list_queues(runas: str | None = None, *args: str) -> dict[str, list[str]]:
    """The queues of the virtual host /, with some of their facts (messages, if none are named).
    Raises CommandFailed when the node does not answer.
    """
    return list_queues_vhost("/", runas, *args)


def list_queues_vhost(vhost: str, runas: str | None = None, *args: str) -> dict[str, list[str]]:
    """The queues of a virtual host, with some of their facts (messages, if none are named). Raises
    CommandFailed when there is no such host.
    """
    facts = [plain_name(fact, "args") for fact in args if fact != "name"] or ["messages"]
    rows = _ctl.rows(("list_queues", "-p", plain_name(vhost, "vhost"), "name", *facts), runas)
    return {row["name"]: [str(row.get(fact, "")) for fact in facts] for row in rows}
