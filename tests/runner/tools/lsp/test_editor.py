# SPDX-License-Identifier: Apache-2.0
"""`runner lsp`, as an editor has it: one server for all tests, each with a tree of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("pytest_lsp", reason="the extra `dev` brings it")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

T = TypeVar("T")
RUNNER = Path(sys.executable).parent / "runner"
PATIENCE = 60.0


class Editor:
    """An editor with a running server."""

    def __init__(self, client: LanguageClient, run: Callable[[Coroutine[Any, Any, T]], T]) -> None:
        self.client, self.run = client, run
        self.versions: dict[str, int] = {}
        self.answers: dict[str, int] = {}
        client.protocol.fm.features.pop(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            client.diagnostics[params.uri] = params.diagnostics
            self.answers[params.uri] = params.version or 0

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        return self.run(self.client.protocol.send_request_async(method, params))

    def wait(self, reached: Callable[[], bool]) -> None:
        """Wait until something has come true."""

        async def waiting() -> None:
            async with asyncio.timeout(PATIENCE):
                while not reached():
                    await asyncio.sleep(0.02)

        self.run(waiting())


class Text:
    """A text that is open in the editor."""

    def __init__(self, editor: Editor, path: Path, text: str | None = None) -> None:
        self.editor, self.path, self.uri = editor, path, path.as_uri()
        self.text = path.read_bytes().decode() if text is None else text
        self.version = 1
        item = lsp.TextDocumentItem(self.uri, "sls", 1, self.text)
        editor.answers.pop(self.uri, None)
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def write(self, text: str) -> Text:
        """Type another text."""
        self.text, self.version = text, self.version + 1
        self.editor.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.version, self.uri),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return self

    def save(self) -> None:
        self.path.write_text(self.text)
        identifier = lsp.TextDocumentIdentifier(self.uri)
        self.editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(identifier))

    def close(self) -> None:
        identifier = lsp.TextDocumentIdentifier(self.uri)
        self.editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(identifier))

    @property
    def problems(self) -> list[tuple[int, int, int, str]]:
        """Line, columns (from 0) and code of the mistakes of this version."""
        self.editor.wait(lambda: self.editor.answers.get(self.uri) == self.version)
        return [
            (made.range.start.line, made.range.start.character, made.range.end.character, made.code)
            for made in self.editor.client.diagnostics[self.uri]
        ]

    def at(self, word: str, inside: int = 0) -> dict[str, Any]:
        """The parameters of a request about a word, or about the end of the text before `|`."""
        offset = self.text.index(word) + inside
        before = self.text[:offset].replace("\r\n", "\n")
        last = before.rpartition("\n")[2]
        place = lsp.Position(before.count("\n"), len(last.encode("utf-16-le")) // 2)
        return {"text_document": lsp.TextDocumentIdentifier(self.uri), "position": place}

    def completed(self, text: str) -> dict[str, str]:
        """Return what is offered at the mark `|` of a text: labels with what they would insert."""
        before = text.partition("|")[0]
        self.write(text.replace("|", "", 1))
        last = before.rpartition("\n")[2]
        place = lsp.Position(before.count("\n"), len(last.encode("utf-16-le")) // 2)
        identifier = lsp.TextDocumentIdentifier(self.uri)
        params = lsp.CompletionParams(identifier, place)
        items = self.editor.ask("textDocument/completion", params).items
        return {item.label: item.text_edit.new_text for item in items}

    def targets(self, method: str, word: str, inside: int = 1) -> list[str]:
        """The places that a request about a word answers with: `FILE:LINE` (from 1)."""
        at = self.at(word, inside)
        if method == "references":
            params: Any = lsp.ReferenceParams(context=lsp.ReferenceContext(True), **at)
        else:
            params = lsp.DefinitionParams(**at)
        spots = self.editor.ask(f"textDocument/{method}", params) or []
        return sorted(f"{Path(spot.uri).name}:{spot.range.start.line + 1}" for spot in spots)

    def hover(self, word: str, inside: int = 1) -> str:
        answer = self.editor.ask("textDocument/hover", lsp.HoverParams(**self.at(word, inside)))
        return answer.contents.value if answer else ""

    def rename(self, word: str, new: str, inside: int = 1) -> dict[str, str]:
        """The files of a rename with their new texts."""
        params = lsp.RenameParams(new_name=new, **self.at(word, inside))
        edit = self.editor.ask("textDocument/rename", params)
        made = {}
        for change in edit.document_changes:
            path = Path(change.text_document.uri.removeprefix("file://"))
            own = path == self.path
            made[path.name] = edited(self.text if own else path.read_text(), change.edits)
        return made


def edited(text: str, edits: list[lsp.TextEdit]) -> str:
    """A text with edits in it."""

    def offset(place: lsp.Position) -> int:
        lines = text.split("\n")
        line = lines[place.line].encode("utf-16-le")[: 2 * place.character].decode("utf-16-le")
        return sum(len(row) + 1 for row in lines[: place.line]) + len(line)

    for edit in sorted(edits, key=lambda edit: -offset(edit.range.start)):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    with asyncio.Runner() as runner:
        config = ClientServerConfig([str(RUNNER), "lsp"], server_env=environment)
        client: Any = runner.run(config.start())
        capabilities = client_capabilities("visual-studio-code")
        params = lsp.InitializeParams(capabilities, workspace_folders=[])
        made = runner.run(client.initialize_session(params))
        assert made.capabilities.position_encoding == lsp.PositionEncodingKind.Utf16
        yield Editor(client, runner.run)
        runner.run(client.shutdown_session())
        assert not client.error
        runner.run(client.stop())


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Writes files below `states`, and a configuration beside it."""
    (tmp_path / "states").mkdir()
    (tmp_path / "pillar").mkdir()
    config = {"file_roots": {"base": ["states"]}, "pillar_roots": {"base": ["pillar"]}}
    (tmp_path / "runner.yaml").write_text(json.dumps({**config, "id": "m1", "cachedir": "cache"}))

    def write(files: dict[str, str], folder: str = "states") -> Path:
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return tmp_path / folder

    return write


# ---------------------------------------------------------------- diagnostics


def test_diagnostics_follow_what_is_typed(editor: Editor, tree: Any) -> None:
    top = {"top.sls": "base: {'*': [a]}"}
    states = tree({"a.sls": "a:\n  test.nop: []\n", "b.sls": "b:\n  test.nop: []\n", **top})
    text = Text(editor, states / "a.sls")
    assert text.problems == []
    line = '{{% set a = 1 %}}\r\n"𐐀": {{{}.nop: []}}\r\n'
    for word in ("tset", "tes", "tset"):  # a check of an outdated text ends
        text.write(line.format(word))
    assert text.problems == [(1, 7, 15, "unknown-state")]  # in UTF-16, the letter counts twice
    loop = "{{% for n in 'xy' %}}\n{{{{ n }}}}:\n  {}.nop: []\n{{% endfor %}}\n"
    assert text.write(loop.format("tset")).problems == [(2, 2, 10, "unknown-state")]
    assert text.write(loop.format("test")).problems == []
    text.write("a:\n  test.nop:\n    - require: [{test: b}]\n")
    assert [code for *_, code in text.problems] == ["unmet-requisite"]
    other = Text(editor, states / "b.sls")  # each sees what the other one does not save
    other.write("include: [a]\nb:\n  test.nop: []\n")
    assert codes(other) == ["unreached"]
    other.close()
    assert text.write("include: [b]\n" + text.text).problems == []
    text.close()
    assert not editor.client.diagnostics[text.uri]


def test_what_is_broken_missing_or_elsewhere_is_no_harm(
    editor: Editor, tree: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    states = tree({"a.sls": "\ufeffa:\r\n  tset.nop: []\r\n"})
    text = Text(editor, states / "a.sls")
    assert text.problems == [(1, 2, 10, "unknown-state")]
    for broken in ("a: [", "{% if", "{{", "\t\x00", "a:\n\t- b", "a: &x [*x]", "- " * 5000):
        assert text.write(broken).problems
    new = Text(editor, states / "new.sls", "n:\n  tset.nop: []\n")  # not on the disk
    assert [code for *_, code in new.problems] == ["unknown-state"]
    new.close()
    Text(editor, tmp_path_factory.mktemp("else") / "x.sls", "a: [").close()
    large = "".join(f"a{n}:\n  test.nop: []\n" for n in range(1000))
    assert text.write(large).problems == []
    text.path.unlink()
    gone = lsp.FileEvent(text.uri, lsp.FileChangeType.Deleted)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([gone]))
    config = Text(editor, states.parent / "runner.yaml")
    config.write("file_roots: [")
    config.save()
    assert config.problems
    text.close()
    config.close()


def test_unsaved_text_starts_nothing(editor: Editor, tree: Any, tmp_path: Path) -> None:
    marks = [tmp_path / name for name in ("saved", "typed", "program", "module")]
    saved, typed, program, module = map(str, marks)
    run = "{{{{ salt['cmd.run']('touch {}') }}}}\na:\n  tset.nop: []\n"
    states = tree(
        {
            "a.sls": run.format(saved),
            "p.sls": "#!py\ndef run():\n    return {}\n",
            "_modules/mine.py": "def answer(path):\n    open(path, 'w')\n    return 1\n",
        }
    )
    text = Text(editor, states / "a.sls")
    assert codes(text) == ["template-command", "unknown-state"]
    assert marks[0].exists()  # as runner check does
    assert codes(text.write(run.format(typed))) == ["template-command", "unknown-state", "unsaved"]
    text.write(f"{{{{ salt['mine.answer']('{module}') }}}}: {{test.nop: []}}\n")
    assert "unsaved" in codes(text)
    text.write(run.format(saved).replace("tset", "test"))  # nothing that is new
    assert codes(text) == ["template-command"]
    other = Text(editor, states / "p.sls")
    other.write(f"#!py\ndef run():\n    open('{program}', 'w')\n    return {{}}\n")
    assert codes(other) == ["unsaved"]
    assert not any(mark.exists() for mark in marks[1:])
    text.write(run.format(typed)).save()
    editor.wait(marks[1].exists)
    text.close()
    other.close()


def test_an_outdated_check_ends_with_what_it_started(
    editor: Editor, tree: Any, tmp_path: Path
) -> None:
    number = tmp_path / "number"
    command = f'sh -c "echo $$ > {number}; exec sleep 99"'
    text = Text(editor, tree({"a.sls": f"{{% do salt['cmd.run']('{command}') %}}\n"}) / "a.sls")
    editor.wait(lambda: number.exists() and bool(number.read_text().strip()))
    line = Path("/proc", number.read_text().strip(), "cmdline")
    assert line.read_bytes()
    assert text.write("a:\n  test.nop: []\n").problems == []
    editor.wait(lambda: not line.exists() or not line.read_bytes())  # of one that has ended
    text.close()


def codes(text: Text) -> list[str]:
    return sorted(code for *_, code in text.problems)


# ---------------------------------------------------------------- what is offered and shown


TREE = {
    "web/init.sls": """\
{% from 'web/map.jinja' import port with context %}
include:
  - .files

{% macro site(name) %}
{{ name }}:
  test.nop: []
{% endmacro %}

nginx:
  pkg.installed: []
  service.running:
    - enable: True
    - watch:
      - file: /etc/nginx.conf
      - sls: web.files
{{ site('made') }}
p{{ port }}{{ pillar.get('web:port') }}{{ salt['pillar.get']('web:port') }}: {test.nop: []}
uses made:
  test.nop:
    - require:
      - test: made
""",
    "web/files.sls": """\
/etc/nginx.conf:
  file.managed:
    - source: salt://web/nginx.conf
    - require_in:
      - service: nginx
""",
    "web/map.jinja": "{% set port = 80 %}\n",
    "web/nginx.conf": "",
    "_states/mine.py": "def done(name, wanted=1):\n    '''Do it.'''\n    raise SystemExit\n",
}


@pytest.fixture
def web(editor: Editor, tree: Any) -> Iterator[Text]:
    """A tree with a pillar, of which one file is open and checked."""
    tree({"top.sls": "base: {'*': [data]}", "data.sls": "web: {port: 80, s: hidden}"}, "pillar")
    text = Text(editor, tree(TREE) / "web/init.sls")
    assert text.problems == []
    yield text
    text.close()


def test_completion(web: Text) -> None:
    text = web.text
    offered = web.completed
    assert {"web", "web.files"} <= offered("include:\n  - we|").keys()
    assert offered("x:\n  file.mana|")["file.managed"] == "file.managed:"
    assert "mine." in offered("x:\n  mi|")
    assert "mine.done" in offered("x:\n  mine.|")
    assert {"source", "require", "onlyif"} <= offered("x:\n  file.managed:\n    - |").keys()
    assert "wanted" in offered("x:\n  mine.done:\n    - |")
    assert "True" in offered("x:\n  file.managed:\n    - makedirs: |")
    assert "source" in offered("x:\n  file:\n  - managed\n  - so|")
    assert {"file.keyvalue", "file.replace"} == offered("x:\n  lineinf|").keys()
    assert "user" in offered("x:\n  file.managed:\n    - owner|")
    assert "user" not in offered("x:\n  timezone.system:\n    - owner|")
    requisite = "x:\n  test.nop:\n    - require:\n      - "
    assert "service: nginx" in offered(text + requisite + "|")
    assert "made" in offered(requisite + "test: |")  # by a macro, as it was rendered
    assert "nginx" not in offered(text + requisite + "test: |")
    assert "/etc/nginx.conf" in offered("x:\n  test.nop:\n    - require: [{file: /et|")
    assert "web.files" in offered(requisite + "sls: we|")
    source = "x:\n  file.managed:\n    - source: salt://web/ng|"
    assert offered(source).keys() == {"web/nginx.conf"}
    assert offered("{{ pillar.get('|").keys() == {"web"}
    assert offered("{{ salt['pillar.get']('web:|").keys() == {"port", "s"}
    assert offered("{{ pillar['web']['p|").keys() == {"port"}
    assert "os_family" in offered("{% if grains.os_f|")
    assert "pillar.get" in offered("{{ salt['pillar.g|")
    assert offered("{% from 'web/m|").keys() == {"web/map.jinja"}
    assert "include" in offered("inc|")
    assert offered("{# |") == {}


def test_columns_behind_letters_that_count_twice(web: Text, editor: Editor) -> None:
    """The protocol counts UTF-16 units: a letter outside the basic plane is two."""
    for text, typed in (
        ("𐐀:\n  test.nop:\n    - require: [{'file': '/etc/𐐀'}, {file: /et", "/et"),
        ("𐐀𐐀:\n  test.nop:\n    - require:\n      - file: 𐐀", "𐐀"),
        ("x:\n  test.nop:\n    - name: {{ '𐐀𐐀' ~ salt['pillar.g", "pillar.g"),
    ):
        web.write(text + "\n")
        last = text.rpartition("\n")[2]
        end = len(last.encode("utf-16-le")) // 2
        params = lsp.CompletionParams(
            lsp.TextDocumentIdentifier(web.uri), lsp.Position(text.count("\n"), end)
        )
        items = editor.ask("textDocument/completion", params).items
        assert items or typed == "𐐀", text
        for place in (item.text_edit.range for item in items):
            begin = end - len(typed.encode("utf-16-le")) // 2
            assert (place.start.character, place.end.character) == (begin, end), text


def test_a_top_file_leads_to_what_it_names(editor: Editor, tree: Any) -> None:
    files = {"a.sls": "a: test.nop\n", "b/init.sls": "b: test.nop\n", "b/c.sls": "c: test.nop\n"}
    states = tree(files)
    top = "base:\n  'a*':\n    - a\n    - match: glob\n    - b.*\n  b: [a, 'b.c']\n"
    text = Text(editor, states / "top.sls", top)
    assert text.targets("definition", "    - a\n", 6) == ["a.sls:1"]
    assert text.targets("definition", "b.*") == ["c.sls:1"]
    assert text.targets("definition", "[a, ") == ["a.sls:1"]
    assert text.targets("definition", "'b.c'", 2) == ["c.sls:1"]
    for word in ("'a*'", "base", "match", "glob", "b: ["):
        assert text.targets("definition", word) == [], word
    text.close()
    pillar = tree({"top.sls": "base: {'*': [data]}", "data.sls": "k: 1"}, "pillar") / "top.sls"
    text = Text(editor, pillar)
    assert text.targets("definition", "data") == ["data.sls:1"]
    text.close()


def test_hover_and_places(web: Text, editor: Editor) -> None:
    assert "## pkg.installed" in web.hover("pkg.installed")
    assert "enable" in web.hover("enable: True")
    assert "| failed | fails without running |" in web.hover("watch:")
    assert "files.sls`, line 1" in web.hover("/etc/nginx.conf")
    assert web.hover("web:port") == "`web:port` of the pillar"
    assert "pillar.get" in web.hover("pillar.get']")
    assert web.targets("definition", "/etc/nginx.conf") == ["files.sls:1"]
    assert web.targets("definition", ".files") == ["files.sls:1"]
    assert web.targets("definition", "web.files") == ["files.sls:1"]
    assert web.targets("definition", "web/map.jinja") == ["map.jinja:1"]
    assert web.targets("definition", "site('made')") == ["init.sls:5"]
    assert web.targets("definition", "test: made", 7) == ["init.sls:7"]  # where it was rendered
    assert web.targets("references", "nginx:") == ["files.sls:5", "init.sls:10"]
    assert web.targets("references", "/etc/nginx.conf") == ["files.sls:1", "init.sls:15"]
    assert web.targets("references", ".files") == ["init.sls:16", "init.sls:3"]
    web.write(web.text.replace("nginx:\n  pkg", "nginx:\n  mine.done: []\n  pkg"))
    assert web.targets("definition", "mine.done") == ["mine.py:1"]
    assert "Do it." in web.hover("mine.done")
    params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(web.uri))
    symbols = editor.ask("textDocument/documentSymbol", params)
    assert [symbol.name for symbol in symbols][:3] == ["include .files", "{{ name }}", "nginx"]
    states = [below.name for below in symbols[2].children]
    assert states == ["mine.done", "pkg.installed", "service.running"]


# ---------------------------------------------------------------- what is changed


def test_a_rename_reaches_all_files_and_changes_no_state(editor: Editor, tree: Any) -> None:
    files = {
        "a.sls": "include: [b]\n/etc/x:\n  file.managed:\n    - mode: '0644'\n"
        "short: test.nop\nold:\n  test:\n    - nop\n",
        "b.sls": "b:\n  test.nop:\n    - require: [{file: '/etc/x'}]\n    - require_in:\n"
        '      - test: "old"\nextend:\n  /etc/x:\n    file: [{user: root}]\n'
        "chain:\n  - 'test: short -> file: /etc/x'\n{% if false %}\nc:\n  test.nop:\n"
        "    - watch:\n      - /etc/x\n{% endif %}\n",
    }
    states = tree(files)
    text = Text(editor, states / "a.sls")
    assert text.problems == []
    before = chunks(states)
    made = text.rename("/etc/x", "new: it's")
    begin = "include: [b]\n'new: it''s':\n  file.managed:\n    - name: /etc/x\n    - mode: '0644'\n"
    assert made["a.sls"].startswith(begin)
    assert made["b.sls"].count("new: it") == 4
    assert "/etc/x" not in made["b.sls"]
    for word, new in (("/etc/x", "new"), ("short:", "brief"), ("old:", "/etc/y")):
        for name, changed in text.rename(word, new).items():
            (states / name).write_text(changed)
        text.write((states / "a.sls").read_text()).save()
        assert text.problems == []
    assert chunks(states) == before
    text.close()


def chunks(states: Path) -> list[tuple[Any, ...]]:
    """Return what the states do, whatever their IDs are."""
    words = ["show", "low-sls", "a", "--config", str(states.parent / "runner.yaml")]
    shown = subprocess.run([RUNNER, *words, "--out", "json"], capture_output=True, check=True)
    listed = json.loads(shown.stdout)["local"]
    return [(chunk["state"], chunk["fun"], chunk["name"], chunk["__sls__"]) for chunk in listed]


REFUSED = [
    ("a:\n  test.nop: []\nb:\n  test.nop: []\n", "a:", "b", "is taken"),
    ("a:\n  test.nop: []\n{{ 'b' }}:\n  test.nop: []\n", "a:", "b", "is taken"),
    ("a:\n  test.nop: []\n", "a:", "include", "cannot be an ID"),
    ("a:\n  test.nop: []\n", "a:", "x\ny", "one line"),
    ("a:\n  test.nop: []\n", "test.nop", "x", "only IDs"),
    ("{{ 'a' }}:\n  test.nop: []\n", "{{ 'a' }}", "x", "made by the template"),
    (
        "a:\n  test.nop: [name: b]\nb:\n  test.nop:\n    - require: [{test: {{ 'a' }}}]\n",
        "a:",
        "x",
        "would be a mistake",
    ),
    (
        "a:\n  test.nop: []\nb:\n  test.nop: [name: a]\nc:\n  test.nop: [require: [test: a]]\n",
        "a:",
        "x",
        "depend on",
    ),
]


def test_renames_that_are_refused(editor: Editor, tree: Any) -> None:
    opened = Text(editor, tree({"a.sls": ""}) / "a.sls")
    for text, word, new, why in REFUSED:
        opened.write(text)
        with pytest.raises(JsonRpcException, match=why) as refused:
            opened.rename(word, new, 0)
        assert "Traceback" not in str(refused.value)
    opened.close()


def test_code_actions_apply_hints(editor: Editor, tree: Any) -> None:
    files = {"files.sls": "", "b.sls": "b:\n  test.nop: []\n", "top.sls": "base: {'*': [c]}"}
    states = tree(files)
    text = Text(editor, states / "c.sls", "")
    text.write(
        "/tmp/x:\n  file.manged:\n    - source: salt://fils.sls\n/tmp/y:\n  file.managed:\n"
        "    - sorce: salt://fils.sls\n    - mode: 0644 # all\n    - makedirs: yess\n"
        "  test.nop:\n    - require: [{test: b}]\n"
    )
    assert text.problems
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    identifier = lsp.TextDocumentIdentifier(text.uri)
    params = lsp.CodeActionParams(identifier, whole, lsp.CodeActionContext([]))
    actions = editor.ask("textDocument/codeAction", params)
    assert sorted(action.title for action in actions) == [
        "Ignore yaml-octal here",
        "Include b",
        "Replace file.manged by file.managed",
        "Replace salt://fils.sls by salt://files.sls",
        "Replace sorce by source",
        "Write makedirs: false",
        "Write makedirs: true",
        "Write mode: '0644'",
    ]
    edits = [
        edit
        for action in actions
        if action.is_preferred
        for edit in action.edit.document_changes[0].edits
    ]
    assert edited(text.text, edits) == (
        "include:\n  - b\n\n/tmp/x:\n  file.managed:\n    - source: salt://files.sls\n/tmp/y:\n"
        "  file.managed:\n    - source: salt://fils.sls\n    - mode: '0644' # all\n"
        "    - makedirs: yess\n  test.nop:\n    - require: [{test: b}]\n"
    )
    text.close()


NEAREST = [
    ("a:\n  test.nop:\n    - requre: [{test: web server}]\n", "Replace requre by require"),
    ("a:\n  tset.nop: []\n", "Replace tset.nop by test.nop"),
    ("a:\n  test:\n    - nopp\n", "Replace nopp by nop"),
    ("a:\n  file.managed:\n    - name: /a\n    - sorce: x\n", "Replace sorce by source"),
    ("include: [wbe]\n", "Replace wbe by web"),
    ("include: [.wbe]\n", "Replace .wbe by web"),
    # of an SLS that is included, and of one that is not
    ("include: [web]\na:\n  test.nop:\n    - require: [{test: ngnix}]\n", "Replace ngnix by nginx"),
    ("a:\n  test.nop:\n    - require: [{test: ngnix}]\n", "Replace ngnix by nginx"),
]


@pytest.mark.parametrize("top", ["base: {'*': [web, lone]}", "base: {'*': [web]}"])
def test_the_nearest_name_is_offered_whether_a_top_file_reaches_it_or_not(
    editor: Editor, tree: Any, top: str
) -> None:
    states = tree({"top.sls": top, "web.sls": "nginx: test.nop\n", "lone.sls": "a: test.nop\n"})
    opened = Text(editor, states / "lone.sls")
    assert len(opened.problems) == top.count("[web]")
    for text, wanted in NEAREST:
        assert opened.write(text).problems
        assert wanted in titles(opened), text
    opened.close()


def titles(opened: Text) -> list[str]:
    """The code actions of a text."""
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    identifier = lsp.TextDocumentIdentifier(opened.uri)
    params = lsp.CodeActionParams(identifier, whole, lsp.CodeActionContext([]))
    return [action.title for action in opened.editor.ask("textDocument/codeAction", params)]


def test_what_is_typed_is_checked_first(editor: Editor, tree: Any) -> None:
    """Its own mistakes are shown before the tree is compiled, and none that the tree dispels."""
    states = tree(
        {
            "top.sls": "base: {'*': [a, b]}",
            "a.sls": "a:\n  test.nop:\n    - require: [{test: b}]\n",
            "b.sls": "b: test.nop\n",
            "slow.sls": "{{ salt['slow.wait']() }}\n",
        }
    )
    wait = "import os, time\n\ndef wait():\n    while os.path.exists({}): time.sleep(0.01)\n"
    held = states / "held"
    (states / "_modules").mkdir()
    (states / "_modules/slow.py").write_text(wait.format(repr(str(held))))
    text = Text(editor, states / "a.sls")
    assert text.problems == []
    held.touch()  # from now on, a check of the whole tree does not end
    text.write("a:\n  test.nop:\n    - require: [{test: b}, {test: c}, {tset: b}]\n    - nam: x\n")
    found = [code for *_, code in text.problems]
    assert found == ["unmet-requisite", "unmet-requisite", "unknown-argument"]
    held.unlink()
    text.close()


FORMATTED = [
    (
        "a:   \r\n  test.nop: []\t\r\n\r\n\r\n\r\n\r\nb: {test.nop: [{name: {{x|d(1)}}}]}",
        "a:\r\n  test.nop: []\r\n\r\n\r\nb: {test.nop: [{name: {{ x|d(1) }}}]}\r\n",
    ),
    (
        "a:\n  test.nop:\n    - name: |\n        x  \n\n\n\n        y\n    - b: c  \n",
        "a:\n  test.nop:\n    - name: |\n        x  \n\n\n\n        y\n    - b: c\n",
    ),
    (
        "{% set x %}\nfoo  \n\n\n\n{% endset %}\na: {test.nop: []} \n",
        "{% set x %}\nfoo  \n\n\n\n{% endset %}\na: {test.nop: []}\n",
    ),
    ("a: [  \n", None),
    ("{% if %}  \na: 1  \n", None),
    ("#!py  \ndef run():  \n  return {}\n", None),
    ("a:\n  test.nop: []\n", None),
]


def test_formatting_changes_no_meaning(editor: Editor, tree: Any) -> None:
    opened = Text(editor, tree({"a.sls": ""}) / "a.sls")
    options = lsp.FormattingOptions(2, True)
    params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(opened.uri), options)
    for text, wanted in FORMATTED:
        opened.write(text)
        edits = editor.ask("textDocument/formatting", params)
        assert (edits[0].new_text if edits else None) == wanted
    opened.close()


# ---------------------------------------------------------------- several trees, no server


def test_several_trees_and_a_cancelled_request(editor: Editor, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        folder = tmp_path / name / "states"
        folder.mkdir(parents=True)
        (folder.parent / "runner.yaml").write_text(
            "file_roots: {base: [states]}\nid: m\ncachedir: cache\n"
        )
        (folder / f"{name}.sls").write_text(f"{name}:\n  test.nop: []\n")
        texts.append(Text(editor, folder / "x.sls", ""))
    assert [text.problems for text in texts] == [[], []]
    offered = texts[0].completed("include:\n  - |")
    assert "one" in offered
    assert "two" not in offered
    params = lsp.RenameParams(new_name="new", **texts[0].write("a:\n  test.nop: []\n").at("a:"))

    async def cancelled() -> None:
        asked = editor.client.protocol.send_request("textDocument/rename", params, msg_id="old")
        editor.client.cancel_request(lsp.CancelParams("old"))
        await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE)

    with pytest.raises(JsonRpcException, match="cancel"):
        editor.run(cancelled())
    assert texts[0].problems == []
    for text in texts:
        text.close()


def test_without_the_package_the_command_says_how_to_get_it() -> None:
    lacking = "import sys; sys.modules['pygls'] = None; from runner.cli import main; main(['lsp'])"
    done = subprocess.run([sys.executable, "-c", lacking], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"pip --python {sys.executable} install 'pygls" in done.stderr
    assert "Traceback" not in done.stderr
