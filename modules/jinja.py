# SPDX-License-Identifier: Apache-2.0
"""Data of Jinja maps and of YAML and JSON files of the tree."""

from __future__ import annotations

import json
from typing import Any

from runner.api import here


def load_map(path: str, value: str) -> Any:
    """A variable of a Jinja file of the tree.

    {{ salt['jinja.load_map']('nginx/map.jinja', 'nginx').package }}
    """
    return _answer(
        f"{{% from {json.dumps(path)} import {value} with context %}}{{{{ {value} | tojson }}}}"
    )


def import_yaml(path: str) -> Any:
    """The data of a YAML file of the tree, which Jinja renders first.

    {{ salt['jinja.import_yaml']('nginx/defaults.yaml') }}
    """
    return _answer(f"{{% import_yaml {json.dumps(path)} as found %}}{{{{ found | tojson }}}}")


def import_json(path: str) -> Any:
    """The data of a JSON file of the tree, which Jinja renders first."""
    return _answer(f"{{% import_json {json.dumps(path)} as found %}}{{{{ found | tojson }}}}")


def _answer(template: str) -> Any:
    return json.loads(here.render(template, "jinja", {}, saltenv=here.saltenv))
