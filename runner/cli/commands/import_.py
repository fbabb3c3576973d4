# SPDX-License-Identifier: Apache-2.0
"""The command `import`: what another tool has, in the form that is read here."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument
from runner.cli.running.answers import print_text
from runner.language.pillar.external.hiera import version3
from runner.model.errors import RunnerError, UsageError
from runner.model.places import Place, Source, Untyped
from runner.output import yaml_
from runner.sources.formulas import declared
from runner.support.yaml import load as yaml_load
from runner.support.yaml import rendered_text

KINDS = ("hiera3",)
_DEEP = """\
# The keys of hiera_hash were merged as :merge_behavior: says: write `KEY: {merge: deep}` for each
# below lookup_options in a file of data, or `merge: {KEY: deep}` below ext_pillar: hiera.
"""


def import_(
    *,
    kind: Annotated[
        str, argument(metavar="KIND", help="Of what: hiera3, for now.", complete=(KINDS,))
    ],
    file: Annotated[str, argument(metavar="FILE", help="The file of the other tool.")],
) -> int:
    """Print what another tool has in the form that is read here.

    hiera3: a hiera.yaml of version 3 as one of version 5. Both are read (docs/hiera.md).

    Example: runner import hiera3 hiera.yaml > hiera5.yaml
    """
    if kind not in KINDS:
        raise UsageError(f"runner import {kind}: there is no such kind", hint="one of hiera3")
    text = declared.text_of(file)
    config = yaml_load.load(text, rendered_text.Rendered(text, file))
    if not isinstance(config, dict) or not version3.is_one(config):
        raise RunnerError(
            f"{file} is no hiera.yaml of version 3", Source(file), "its keys begin with a colon"
        )
    made = version3.as_version_5(config, Place(Untyped(file), 1, 1))
    deep = _DEEP if config.get(":merge_behavior", "native") != "native" else ""
    head = "# From version 3 by `runner import hiera3`.\n"
    print_text(f"{head}{deep}{yaml_.text(made)}\n")
    return 0
