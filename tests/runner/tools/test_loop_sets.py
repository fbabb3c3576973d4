# SPDX-License-Identifier: Apache-2.0
"""Variables that a loop sets are named where something after it reads them, and nowhere else."""

from __future__ import annotations

import jinja2
import pytest

from runner.language.render.jinja.tags import SaltTags
from runner.tools.check import loop_sets

SET = "{% set x = 1 %}"
LOOP = "{% for i in l %}{% set x = i %}{{ x }}{% endfor %}"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{SET}{LOOP}{{{{ x }}}}", 1),
        (f"{SET}{{% if a %}}{LOOP}{{% endif %}}{{{{ x }}}}", 1),
        (f"{SET}{{% if a %}}{LOOP}{{% else %}}{{{{ x }}}}{{% endif %}}", 0),
        (
            f"{SET}{{% if a %}}{{{{ x }}}}{{% elif b %}}{LOOP}{{% else %}}{{{{ x }}}}{{% endif %}}",
            0,
        ),
        (f"{SET}{{% if a %}}{LOOP}{{% elif b %}}{{{{ x }}}}{{% endif %}}", 0),
        (f"{{% if a %}}{SET}{{% else %}}{LOOP}{{% endif %}}{{{{ x }}}}", 0),
        (f"{SET}{LOOP}{SET}{{{{ x }}}}", 0),
        (f"{{% load_yaml as y %}}{{}}{{% endload %}}{SET}{LOOP}{{{{ x }}}}", 1),
        (f"{{% import_json 'f' as y with context %}}{LOOP}", 0),
        (f"{{% profile as 'p' %}}{LOOP}{{% endprofile %}}", 0),
    ],
)
def test_what_a_loop_sets_is_named_where_it_is_read_behind(text: str, count: int) -> None:
    template = jinja2.Environment(extensions=[SaltTags]).parse(text)
    assert len(list(loop_sets._lost(template, "a.sls"))) == count
