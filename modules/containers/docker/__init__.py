# SPDX-License-Identifier: Apache-2.0
"""Containers, images, networks and volumes of Docker and Podman: what the docker_* states look at
and change, and Salt's functions.
"""

from __future__ import annotations

from typing import Any

from modules.containers.docker import _containers, _images, _networks, options
from modules.containers.docker._containers import (
    check_at_end,
    exists,
    info,
    inspect_container,
    kill,
    last_words,
    list_containers,
    logs,
    pause,
    pid,
    port,
    ps,
    restart,
    signal,
    start,
    state,
    state_of,
    stop,
    unpause,
    version,
)
from modules.containers.docker._containers import look as find_container
from modules.containers.docker._engine import (
    PACKAGES,
    SERVICES,
    engine,
    lacking_driver,
    lacking_runtime,
)
from modules.containers.docker._images import (
    archive,
    build,
    full_name,
    history,
    images,
    inspect_image,
    list_tags,
    load,
    pull,
    refuse_to_build,
    registry_problem,
    resolve_image_id,
    resolve_tag,
    rmi,
    tag,
)
from modules.containers.docker._images import look as find_image
from modules.containers.docker._making import (
    LOG_OPTIONS,
    Networks,
    create,
    make,
    put_in_place,
    read_networks,
    rename,
    retcode,
    rm,
    run,
    run_all,
    run_container,
    run_made,
    run_stderr,
    run_stdout,
)
from modules.containers.docker._networks import (
    connect_container_to_network,
    connected,
    create_network,
    create_volume,
    disconnect_container_from_network,
    inspect_network,
    inspect_volume,
    networks,
    remove_network,
    remove_volume,
    reported_name,
    volumes,
)
from modules.containers.docker._networks import look as find_network
from modules.containers.docker._networks import look_volume as find_volume
from runner.api import CommandFailed


def inspect(name: str) -> dict[str, Any]:
    """Return what the engine knows of a container, an image, a volume or a network of this name.
    Raises CommandFailed where there is none.

    {{ salt['docker.inspect']('web') | json }}
    """
    for look in (_containers.look, _images.look, _networks.look_volume, _networks.look):
        found = look(name)
        if found is not None:
            return found
    raise CommandFailed(f"Error 404: No such image/container/volume/network: {name}")
