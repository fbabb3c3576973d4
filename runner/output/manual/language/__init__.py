# SPDX-License-Identifier: Apache-2.0
"""The reference of the language: a page for each word of it, as Markdown.

The files beside this one are the pages; truth tables, the list of filters and the pages of `_in`
forms and of other names are put in or made here. A page is for reading and for the program: the
tests run its examples (tests/support/guides.py says how) and its truth table.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

from runner.language import filters
from runner.model import other_tools
from runner.model.requisite_kinds import ALIASES, KINDS, RequisiteKind
from runner.model.text_tables import text_beside
from runner.output.manual.language import truth_tables

ELSEWHERE = {"jinja": "templates", "yaml": "sls"}  # what people look for, and where it is
TABLE = "<!-- truth table -->\n"
FILTERS = "<!-- filters -->\n"
# in the order of the reference; the requisites follow
GENERAL = tuple(
    """
    sls top environments include extend exclude names order defaults vars chain pillar grains
    renderers templates functions filters slots guards requisites
    """.split()
)


def pages() -> tuple[str, ...]:
    """The words that have a page of their own."""
    return (*GENERAL, *KINDS, "use")


def names() -> tuple[str, ...]:
    """All words that there is a page of."""
    return (*pages(), *_short_pages())


def page(name: str) -> str:
    """The page of one of `names()`."""
    short = _short_pages()
    if name in short:
        return short[name]
    try:
        text = text_beside(__name__, f"{name}.md")
    except FileNotFoundError:
        if name not in KINDS:
            raise
        # one that was just added
        return f"# {name}\n\nRelates the state to others: {KINDS[name].meaning}.\n"
    if name in truth_tables.TABLES:
        text = text.replace(TABLE, f"{truth_tables.as_markdown(name)}\n")
    return text.replace(FILTERS, "\n".join(_filters()) + "\n") if name == "filters" else text


def files() -> dict[str, str]:
    """The pages as files: a short page stands at the end of the page that it leads to."""
    texts = {name: page(name) for name in pages()}
    for name, text in _short_pages().items():
        if name not in ELSEWHERE:
            texts[_leads_to(name)] += f"\n#{text}"
    return {f"{name}.md": text for name, text in texts.items()}


# ---------------------------------------------------------------- what is made here


def _leads_to(name: str) -> str:
    return ALIASES.get(name, name).removesuffix("_in")


def _short_pages() -> Mapping[str, str]:
    """The pages of `_in` forms, of Puppet's names, and of what stands elsewhere."""
    texts = {kind.in_key: _in_form(kind) for kind in KINDS.values()}
    texts["use_in"] = (
        "# use_in\n\nThe states that are listed [use](use.md) the arguments of this one.\n"
    )
    handlers = other_tools.argument_word("handlers")
    of_ansible = {"notify": f" A handler of Ansible's is {handlers.text}." if handlers else ""}
    for alias, key in ALIASES.items():
        texts[alias] = (
            f"# {alias}\n\nAnother name of `{key}`, which is Puppet's: see"
            f" [{_leads_to(alias)}]({_leads_to(alias)}.md).{of_ansible.get(alias, '')}\n"
        )
    for name, other in ELSEWHERE.items():
        texts[name] = f"# {name}\n\nSee [{other}]({other}.md): `runner doc {other}`.\n"
    return texts


def _in_form(kind: RequisiteKind) -> str:
    head = f"# {kind.in_key}\n\n"
    if kind.in_form == "ignored":
        return f"{head}Ignored, as in Salt: write `{kind}` in the state that has the requisite.\n"
    return (
        f"{head}The states that are listed get [{kind}]({kind}.md) on this one. Both of these say"
        " the same:\n\n"
        "```sls\n"
        f"a:\n  test.nop:\n    - {kind.in_key}: [test: b]\nb:\n  test.nop: []\n"
        "```\n\n"
        "```sls\n"
        f"a:\n  test.nop: []\nb:\n  test.nop:\n    - {kind}: [test: a]\n"
        "```\n"
    )


def _filters() -> Iterator[str]:
    """The lists of Salt's filters, which runner has, and of Jinja's."""
    from jinja2.filters import FILTERS as JINJAS_FILTERS
    from jinja2.tests import TESTS as JINJAS_TESTS

    by_filter = filters.Filters({}, lambda _, function: function)
    yield "Those of Salt:\n\n| filter | what it gives |\n|---|---|"
    for name in sorted(filters.WHERE):
        about = (inspect.getdoc(by_filter[name]) or "").split("\n\n")[0]
        first = " ".join(about.split()).split(". ")[0].rstrip(".").replace("|", "\\|")
        yield f"| `{name}` | {first} |"
    own = (name for name in sorted(JINJAS_FILTERS) if name not in filters.WHERE)
    yield f"\nThose of Jinja itself: {_listed(own)}."
    tests = sorted(name for name in {*JINJAS_TESTS, *filters.TESTS} if name.isidentifier())
    yield f"\nTests (`{{% if value is TEST %}}`): {_listed(tests)}."


def _listed(names: Iterator[str] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
