# SPDX-License-Identifier: Apache-2.0
"""Clusters of RabbitMQ."""

from __future__ import annotations

from modules.messaging import rabbitmq
from runner.api import Name, Plan, Planned
from runner.api.kinds import comes_after
from states._tools import explained
from states.messaging._rabbitmq import SERVER


def joined(
    name: Name,
    host: Name,
    user: Name = "rabbit",
    ram_node: bool | None = None,
    runas: Name = "root",
) -> Planned:
    """Make sure that this node is in the cluster of another one. It loses what it has; both need
    the same /var/lib/rabbitmq/.erlang.cookie.

    name: Names the state.
    host: The machine of the other node.
    user: The part of its name before the @.
    ram_node: Keep what the node knows in memory only.
    runas: The user who runs rabbitmqctl.

        one cluster:
          rabbitmq_cluster.joined:
            - host: rabbit1
    """
    node = f"{user}@{host}"
    status = rabbitmq.cluster_status(runas)
    nodes = {*status.get("disk_nodes", ()), *status.get("ram_nodes", ())}
    if node in nodes | {*status.get("running_nodes", ())}:
        return "Already in cluster"
    yield Plan({"old": "", "new": node}, f"Node is set to join cluster {node}")
    with explained(f"Failed to join cluster {node}"):
        rabbitmq.join_cluster(host, user, ram_node, runas)
    return f"Node joined cluster {node}"


join = joined  # its older name


autorequire = comes_after(
    "A node joins after its server started.", *SERVER, ("file", "/var/lib/rabbitmq/.erlang.cookie")
)
