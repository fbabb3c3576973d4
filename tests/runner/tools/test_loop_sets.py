# SPDX-License-Identifier: Apache-2.0
"""Variables that a loop sets are named where something after it reads them, and nowhere else."""

from __future__ import annotations

import jinja2
import pytest
from command import Machine

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


def test_what_an_importer_reads_is_read_behind_the_loop(machine: Machine) -> None:
    """Each is told once, however many import it."""
    web = "{% from 'map.jinja' import x %}s{{ x }}: test.nop\n"
    machine.write(a=web, b=web.replace("x }}:", "x }}b:"))
    (machine.folder / "states/map.jinja").write_text(f"{SET}{{% set l = [2] %}}{LOOP}")
    assert machine("check", "a", "b").stdout.count("does not see that it sets 'x'") == 1
