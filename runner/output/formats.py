# SPDX-License-Identifier: Apache-2.0
"""The forms of answers, `--out FORM`: the one table of them.

Options, help, completion, messages, the manual and the commands themselves read it; a new form is
one entry here.
"""

from __future__ import annotations

from runner.model import plain_values
from runner.model.records import Record
from runner.output import annotations as output_annotations
from runner.output import json_, junit, pretty, puppetdb, salt_forms, salt_reports, yaml_
from runner.output import orphans as printed
from runner.support.drawing import dot_mermaid, page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from runner.model.errors import Diagnostic
    from runner.model.events import Event
    from runner.model.result import Report, RunFacts

    Renderer = Callable[[Any, int | None], str]  # (an answer, the indent of JSON) -> text


class Form(Record):
    """A form of answers. Its functions make texts; None for an answer that it has no words for.

    data: what any command found. listener, report: a run, as it goes or at its end. document: a run
    of this machine, one that ended before its first state, too. errors: what
    kept a command from its answer, on stdout instead of stderr. check: mistakes. graph: a picture
    of the dependency graph, under a title. removals: states that remove what none declares any
    more. past: it is for one run of the history. for_salt: `runner-salt-call` alone has it.
    aliases: what else that command calls it.
    """

    name: str
    description: str
    data: Renderer | None = None
    listener: Callable[..., Callable[[Event], None]] | None = None
    report: Callable[[Report], str] | None = None
    document: Callable[[Report, RunFacts], str] | None = None
    errors: Callable[[Sequence[Diagnostic], int | None], str] | None = None
    check: Callable[[Sequence[Diagnostic]], str] | None = None
    graph: Callable[[Any, str], str] | None = None
    removals: Callable[[Any], str] | None = None
    past: bool = False
    for_salt: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def machine_run(self) -> bool:
        """Return whether it has words for a run of this machine."""
        return bool(self.report or self.document)


def _json(data: Any, indent: int | None) -> str:
    return json_.text(data, indent) + "\n"


def _yaml(data: Any, indent: int | None) -> str:
    return yaml_.text(data) + "\n"


def _dot(picture: Any, title: str) -> str:
    return dot_mermaid.dot(picture) + "\n"


def _nested(data: Any, indent: int | None) -> str:
    return salt_reports.nested(plain_values.plain(data))


def highstate(state_output: str, verbose: bool) -> Renderer:
    """Runs as salt-call prints them. state_output, verbose: Salt's `--state-output` and
    `--state-verbose`.
    """

    def render(data: Any, indent: int | None) -> str:
        return salt_reports.highstate(plain_values.plain(data), state_output, verbose)

    return render


def _of_salt(name: str) -> Renderer:
    def render(data: Any, indent: int | None) -> str:
        text: str = getattr(salt_forms, name)(plain_values.plain(data))
        return text

    return render


# ---------------------------------------------------------------- the table

# what salt-call calls its forms for people
_OF_PEOPLE = ("key", "table", "progress", "overstatestage", "no_return")

# the modules of the forms are imported when one of their functions is called
FORMS = (
    Form(
        "pretty",
        "for people",
        data=_yaml,
        listener=lambda *arguments, **settings: pretty.Pretty(*arguments, **settings),
        graph=_dot,
        aliases=(*_OF_PEOPLE, "profile"),
    ),
    Form(
        "json",
        "Salt's JSON",
        data=_json,
        errors=lambda problems, indent: _json(json_.errors(problems), indent),
    ),
    Form(
        "yaml",
        "the same as YAML",
        data=_yaml,
        errors=lambda problems, indent: _yaml(json_.errors(problems), indent),
    ),
    Form(
        "junit",
        "JUnit's XML, for CI",
        report=lambda report: junit.text(report) + "\n",
        errors=lambda problems, indent: junit.errors(problems) + "\n",
    ),
    Form(
        "puppetdb",
        "PuppetDB's report, version 8",
        document=lambda report, facts: json_.text(puppetdb.command(report, facts)) + "\n",
    ),
    Form(
        "sarif",
        "SARIF, for code scanning",
        check=lambda problems: _json(output_annotations.sarif(problems), None),
    ),
    Form(
        "github",
        "annotations of GitHub's CI",
        check=lambda problems: output_annotations.github(problems) + "\n",
    ),
    Form("dot", "for Graphviz", graph=_dot),
    Form(
        "mermaid", "for Markdown", graph=lambda picture, title: dot_mermaid.mermaid(picture) + "\n"
    ),
    Form("svg", "a picture", graph=lambda picture, title: page.svg(picture) + "\n"),
    Form(
        "html",
        "a page to read",
        graph=lambda picture, title: page.html(picture, title) + "\n",
        past=True,
    ),
    Form("sls", "an SLS file that removes it", removals=lambda orphans: printed.sls(orphans)),
    Form(
        "nested",
        "a line for each key, as salt-call prints it",
        data=_nested,
        errors=lambda problems, indent: salt_reports.errors(problems),
        for_salt=True,
    ),
    Form(
        "highstate",
        "a run as salt-call prints it",
        data=highstate("full", True),
        errors=lambda problems, indent: salt_reports.errors(problems),
        for_salt=True,
    ),
    Form("txt", "a line for each line of an answer", data=_of_salt("txt"), for_salt=True),
    Form("raw", "as Python writes it", data=_of_salt("raw"), for_salt=True),
    Form("pprint", "as Python's pprint writes it", data=_of_salt("pprint"), for_salt=True),
    Form(
        "newline_values_only",
        "the values alone, each on a line",
        data=_of_salt("newline_values_only"),
        for_salt=True,
    ),
    Form("quiet", "nothing", data=_of_salt("quiet"), for_salt=True),
)
# of salt-call that is asked for none: runs as runner shows them, answers as Salt prints them
SALTS_OWN = FORMS[0]._replace(data=_nested)
DATA, RUN, CHECK, GRAPH, SALT = "data", "report", "check", "graph", "for_salt"
MACHINE_RUN = "machine_run"
REMOVALS, PAST = "removals", "past"


def forms_of(answer: str) -> tuple[Form, ...]:
    """The forms of an answer of a kind: DATA, RUN, MACHINE_RUN, CHECK, GRAPH, REMOVALS, PAST; SALT:
    of salt-call.
    """
    return tuple(
        form
        for form in FORMS
        if (answer == SALT or not form.for_salt) and (form.data or getattr(form, answer))
    )


def named(name: str, answer: str) -> Form | None:
    """The form of that name, or for salt-call of that alias."""
    for form in forms_of(answer):
        if name == form.name or (answer == SALT and name in form.aliases):
            return form
    return None
