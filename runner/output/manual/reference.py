# SPDX-License-Identifier: Apache-2.0
"""The whole manual as Markdown files: a page for each module, and an index."""

from __future__ import annotations

from collections.abc import Callable

from runner.output import prometheus
from runner.output.formats import CHECK, DATA, FORMS, GRAPH, MACHINE_RUN, REMOVALS, RUN, Form
from runner.output.manual import codes, language
from runner.output.manual import pages as manual
from runner.output.manual.library import Library
from runner.output.manual.pages import Page
from runner.output.manual.text import as_markdown

NOTE = (
    "<!-- Made by `runner doc --reference` from signatures and docstrings: change those, not this"
    " file. -->\n"
)

OWN_NOTE = "<!-- Made by `runner doc --reference` from {}: change that, not this file. -->\n"
LANGUAGE_NOTE = OWN_NOTE.format("runner/output/manual/language")
CODES_NOTE = OWN_NOTE.format("runner/output/manual/checks.md")


def files(library: Library) -> dict[str, str]:
    """The files: path -> text."""
    kinds: dict[str, tuple[dict[str, list[str]], Callable[[Library, str], Page]]] = {
        "states": (manual.contents(library), manual.state_page),
        "modules": (manual.execution(library), manual.function_page),
    }
    texts = {"README.md": _index({kind: list(listed) for kind, (listed, _) in kinds.items()})}
    texts["arguments.md"] = (
        f"{NOTE}# Arguments of every state\n\n{as_markdown([manual.everywhere()])}"
    )
    texts["forms.md"] = f"{NOTE}# Forms of answers: `--out FORM`\n\n{_forms()}"
    texts["metrics.md"] = f"{NOTE}# Metrics of Prometheus\n\n{_metrics()}"
    texts["checks.md"] = f"{CODES_NOTE}{codes.page()}"
    texts |= {
        f"language/{name}": f"{LANGUAGE_NOTE}{text}" for name, text in language.files().items()
    }
    for kind, (listed, page) in kinds.items():
        for module, names in listed.items():
            pages = as_markdown(page(library, f"{module}.{name}") for name in names)
            texts[f"{kind}/{module}.md"] = f"{NOTE}# {module}\n\n{pages}"
    return texts


def _index(modules: dict[str, list[str]]) -> str:
    def listed(kind: str) -> str:
        return "".join(f"- [{module}]({kind}/{module}.md)\n" for module in modules[kind])

    words = "".join(f"- [{name}](language/{name}.md)\n" for name in language.pages())
    return (
        f"{NOTE}# Reference\n\nWhat `runner doc` shows. [Arguments that every state"
        " takes](arguments.md). [Forms of answers](forms.md). [Keys of the"
        " configuration](configuration.md). [Commands](commands.md)."
        " [Codes of `runner check`](checks.md)."
        " [Metrics](metrics.md).\n\n"
        f"## The language\n\n{words}\n## States\n\n{listed('states')}\n"
        f"## Execution functions, for templates and `runner call`\n\n{listed('modules')}"
    )


# commands by the kind of their answer, as a reader knows them
_COMMANDS = {
    DATA: "all commands",
    RUN: "`highstate`, `sls`, `single`, `pull`, `prune`, `apply`, `rehearse`, `plan`",
    MACHINE_RUN: "`highstate`, `sls`, `single`, `pull`, `prune`, `apply`",
    CHECK: "`check`",
    GRAPH: "`show graph`",
    REMOVALS: "`orphans`",
}


def _forms() -> str:
    rows = (f"| `{form.name}` | {form.description} | {_users(form)} |\n" for form in FORMS)
    return f"| form | what it is | for |\n|---|---|---|\n{''.join(rows)}"


def _metrics() -> str:
    rows = (
        f"| `{name}` | {text} | {', '.join(prometheus.LABELS.get(name, ()))} |\n"
        for name, text in prometheus.METRICS.items()
    )
    return f"| metric | what it is | its `outcome` |\n|---|---|---|\n{''.join(rows)}"


def _users(form: Form) -> str:
    if form.for_salt:
        return "`runner-salt-call`"
    return next(words for answer, words in _COMMANDS.items() if getattr(form, answer))
