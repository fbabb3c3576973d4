# SPDX-License-Identifier: Apache-2.0
"""hiera.yaml of version 3 as one of version 5: for each backend a level with all paths, since Hiera
3 goes through all of them with the first backend before it asks the next.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.hiera.reading import problem, refuse_unknown, typed
from runner.model.places import JoinedList, Place, item_place, value_place

BACKENDS = {  # of Hiera 3: what version 5 calls it, how files end that do not say it
    "yaml": ({"data_hash": "yaml_data"}, "yaml"),
    "json": ({"data_hash": "json_data"}, "json"),
    "eyaml": ({"lookup_key": "eyaml_lookup_key"}, "eyaml"),
}
DATADIR = "hieradata"
_KEYS = (":pkcs7_private_key", ":pkcs7_public_key")
_TOP = ("backends", "hierarchy", "merge_behavior", "deep_merge_options", "logger", *BACKENDS)


def is_one(config: Mapping[str, Any]) -> bool:
    """Return whether a hiera.yaml is of version 3, whose keys begin with a colon."""
    return any(str(key).startswith(":") for key in config)


def as_version_5(config: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The same as version 5. Raises RunnerError."""
    refuse_unknown(config, tuple(f":{key}" for key in _TOP), place)
    levels = JoinedList(place)
    for name, at in _texts(config, "backends", ["yaml"], place):
        if name not in BACKENDS:
            raise problem(
                f"runner's hiera has no backend {name}", at, f"there are {', '.join(BACKENDS)}"
            )
        (kind, ending), key = BACKENDS[name], f":{name}"
        where = value_place(config, key, place)
        options = typed(config.get(key) or {}, Mapping, key, where)
        known = (":datadir", ":extension", *(_KEYS if name == "eyaml" else ()))
        refuse_unknown(options, known, where)
        paths = JoinedList(where)
        for text, level_place in _texts(config, "hierarchy", ["common"], place):
            paths.append(f"{text}.{options.get(':extension', ending)}")
            paths.places.append(level_place)
        keys = {each[1:]: options[each] for each in _KEYS if each in options}
        said = options.get(":datadir") or DATADIR
        datadir = typed(said, str, ":datadir", value_place(options, ":datadir", where))
        level = {"name": name, "datadir": datadir, **kind}
        levels.append({**level, **({"options": keys} if keys else {}), "paths": paths})
        levels.places.append(at)
    return {"version": 5, "hierarchy": levels}


def _texts(
    config: Mapping[str, Any], name: str, default: list[str], place: Place
) -> list[tuple[str, Place]]:
    """The texts of a list, or one, with their places."""
    key = f":{name}"
    where = value_place(config, key, place)
    value = config.get(key) or default
    if isinstance(value, str):
        return [(value, where)]
    listed = typed(value, list, key, where)
    return [
        (
            typed(each, str, key, item_place(listed, number, where)),
            item_place(listed, number, where),
        )
        for number, each in enumerate(listed)
    ]


def refuse_missing(config: Mapping[str, Any], folder: str, place: Place) -> None:
    """Raise RunnerError where the data lie elsewhere than on the server of Puppet that the file is
    of: what is not there would be no data. folder: of hiera.yaml.
    """
    said = dict.fromkeys(level["datadir"] for level in config["hierarchy"])
    if not any("%{" in one or os.path.isdir(os.path.join(folder, one)) for one in said):
        hint = "write in :datadir where the data lie here; a relative path begins beside the file"
        raise problem(f"there is no folder {', '.join(said)} with data", place, hint)
