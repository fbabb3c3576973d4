# SPDX-License-Identifier: Apache-2.0
"""The protocol: requests and notifications of an editor, and the answers."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import FeatureRequestError, JsonRpcContentModified, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from runner import __version__
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.tools.lsp import actions, completion, formatting, hover, navigation, renaming
from runner.tools.lsp.checks import PAUSE, Checks
from runner.tools.lsp.documents import OpenDocument, path_of, uri_of
from runner.tools.lsp.navigation import Spot
from runner.tools.lsp.outline import Span
from runner.tools.lsp.project import Project, Texts
from runner.tools.lsp.workers import WorkerPool

CONFIG = "runner.yaml"
REQUEST_FAILED = -32803
SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
KINDS = {
    "state": lsp.CompletionItemKind.Function,
    "function": lsp.CompletionItemKind.Function,
    "argument": lsp.CompletionItemKind.Field,
    "id": lsp.CompletionItemKind.Reference,
    "sls": lsp.CompletionItemKind.Module,
    "file": lsp.CompletionItemKind.File,
    "key": lsp.CompletionItemKind.Property,
    "keyword": lsp.CompletionItemKind.Keyword,
    "value": lsp.CompletionItemKind.Value,
}
TOGETHER = 0.05  # seconds in which several files may be opened at once
WATCHED = "**/*.{sls,yaml,yml,jinja,jinja2,j2,py,json,map,lock}"


class Protocol(LanguageServerProtocol):  # type: ignore[misc]
    """The protocol as pygls has it, with positions in UTF-16, which every editor knows, and errors
    without anything of the program in them.
    """

    @lsp_method(lsp.INITIALIZE)  # type: ignore[untyped-decorator]
    def lsp_initialize(self, params: lsp.InitializeParams) -> Any:
        if params.capabilities.general:
            params.capabilities.general.position_encodings = [lsp.PositionEncodingKind.Utf16]
        answer: lsp.InitializeResult = yield from super().lsp_initialize(params)
        return answer

    def _send_response(
        self, msg_id: Any, result: Any = None, error: lsp.ResponseError | None = None
    ) -> None:
        if error is not None:
            error = lsp.ResponseError(error.code, error.message.partition("\n")[0])
        super()._send_response(msg_id, result, error)


class Server(LanguageServer):  # type: ignore[misc]
    """One editor with its trees."""

    def __init__(
        self, workers: WorkerPool, config: str | None, overrides: Mapping[str, Any], lenient: bool
    ) -> None:
        super().__init__(
            "runner",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=Protocol,
        )
        self.texts = Texts()
        self.checks = Checks(workers, lenient, self.publish)
        self._config, self._overrides = config, overrides
        self._projects: dict[str, Project] = {}
        self._shown: dict[Project, dict[str, list[lsp.Diagnostic]]] = {}  # by path
        self._elsewhere: set[str] = set()  # files of no tree
        self._logged: dict[Project, tuple[str, ...]] = {}

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what is no answer to a request."""
        if source is not FeatureRequestError:
            self.log(f"{type(error).__name__}: {error}".partition("\n")[0])

    def log(self, message: str) -> None:
        """Write a line into the editor's log."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, message))

    # -------------------------------------------------- trees

    def project_of(self, path: str) -> Project | None:
        """The tree of a file: that of the nearest configuration above it, of another one that has
        it in its roots, or of the editor's folder.
        """
        for folder in self._folders(path):
            if folder not in self._projects:
                self._projects[folder] = Project(folder, self._config, self._overrides, self.texts)
            if self._projects[folder].holds(path):
                return self._projects[folder]
        return next((known for known in self._projects.values() if known.holds(path)), None)

    def _folders(self, path: str) -> list[str]:
        """The folders in which `runner check` could mean the tree of a file."""
        opened = [path_of(uri) for uri in self.workspace.folders]
        own = [folder for folder in opened if folder and path.startswith(f"{folder}/")]
        home = max(own, key=len, default=None)
        if self._config or "file_roots" in self._overrides:
            return [home or os.path.dirname(path)]
        folder, folders = os.path.dirname(path), []
        while folder != "/":
            if os.path.isfile(os.path.join(folder, CONFIG)):
                folders.append(folder)
            folder = os.path.dirname(folder)
        folders += [home] if home else []
        return folders or [os.path.dirname(path)]

    def changed(self, path: str, pause: float = 0) -> None:
        """Check the tree of a file anew."""
        project = self.project_of(path)
        if project is None:
            if path not in self._elsewhere:
                self._elsewhere.add(path)
                self.log(f"{path} is in no root of a configuration: its mistakes are not shown")
            return
        if os.path.basename(path) == CONFIG and pause < PAUSE:
            project.load()
        self.checks.begin(project, pause, path)

    def is_edited(self, project: Project) -> bool:
        """Return whether a file of a tree is open."""
        return any(project.holds(path) for path in self.texts.open)

    def close_project(self, project: Project) -> None:
        """Take back what was said of a tree that nobody edits any more."""
        self.checks.end(project)
        for path in self._shown.pop(project, {}):
            self._show(path)

    # -------------------------------------------------- diagnostics

    def publish(self, project: Project) -> None:
        """Show the mistakes of a tree, and take back those that are gone."""
        by_path: dict[str, list[lsp.Diagnostic]] = {}
        without_place: list[str] = []
        for problem in project.mistakes:
            if problem.source is None:
                without_place.append(problem.message)
                continue
            path = self.texts.opened_as(problem.source.file)
            document = self.texts.get(path)
            if document:
                by_path.setdefault(path, []).append(self._diagnostic(document, problem))
        own = [path for path in self.texts.open if project.holds(path)]
        former = self._shown.get(project, {})
        self._shown[project] = by_path
        for path in dict.fromkeys((*former, *by_path, *own)):
            self._show(path)
        if self._logged.get(project, ()) != tuple(without_place):
            self._logged[project] = tuple(without_place)
            for message in without_place:
                self.log(f"{project.folder}: {message}")

    def _show(self, path: str) -> None:
        """Send the mistakes of a file, of all trees that have it."""
        problems: list[lsp.Diagnostic] = []
        for shown in self._shown.values():
            problems += (made for made in shown.get(path, ()) if made not in problems)
        document = self.texts.open.get(path)
        version = document.version if document else None
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(self.uri(path), problems, version)
        )

    def _diagnostic(self, document: OpenDocument, problem: Diagnostic) -> lsp.Diagnostic:
        source = problem.source
        assert source is not None, "only of problems with a place"
        hint = f"\nhint: {problem.hint}" if problem.hint else ""
        callers = [
            lsp.DiagnosticRelatedInformation(
                lsp.Location(self.uri(via.file), self._word(holder, via.line, via.column)),
                "called from here",
            )
            for via in source.via
            if (holder := self.texts.get(self.texts.opened_as(via.file)))
        ]
        return lsp.Diagnostic(
            range=self._word(document, source.line, source.column),
            message=problem.message + hint,
            severity=SEVERITIES.get(problem.severity, lsp.DiagnosticSeverity.Error),
            code=problem.code,
            source="runner",
            related_information=callers or None,
        )

    def _word(self, document: OpenDocument, line: int, column: int) -> lsp.Range:
        """The word at a place; the whole line where the column is not known."""
        text = document.line(line - 1)
        start = document.offset_of(line, column or 1 + len(text) - len(text.lstrip()))
        rest = text[start - document.offset_of(line, 1) :] if line else ""
        word = rest.rstrip() if not column else rest.partition(" ")[0].rstrip(":,]}")
        return document.range(start, start + len(word))

    # -------------------------------------------------- words of the protocol

    def uri(self, path: str) -> str:
        """The URI of a file as the editor names it."""
        path = self.texts.opened_as(path)
        return self.texts.uris.get(path) or uri_of(path)

    def location(self, spot: Spot) -> lsp.Location:
        """A place for the editor."""
        document = self.texts.get(spot.path) or OpenDocument(spot.path, "")
        return lsp.Location(self.uri(spot.path), document.range(spot.span.start, spot.span.end))

    def edit(self, edits: Iterable[renaming.TextEdit]) -> lsp.WorkspaceEdit:
        """Edits of several files for the editor."""
        by_path: dict[str, list[lsp.TextEdit]] = {}
        for edit in edits:
            document = self.texts.get(edit.path)
            if document:
                place = document.range(edit.span.start, edit.span.end)
                by_path.setdefault(edit.path, []).append(lsp.TextEdit(place, edit.text))
        workspace = self.client_capabilities.workspace
        known = workspace and workspace.workspace_edit
        if not (known and known.document_changes):
            return lsp.WorkspaceEdit({self.uri(path): made for path, made in by_path.items()})
        return lsp.WorkspaceEdit(
            document_changes=[
                lsp.TextDocumentEdit(
                    lsp.OptionalVersionedTextDocumentIdentifier(
                        self.uri(path), document.version if document else None
                    ),
                    list(made),
                )
                for path, made in by_path.items()
                for document in [self.texts.open.get(path)]
            ]
        )


Asked = tuple[Project, OpenDocument, int]  # a tree, a text of it, and a character of that
Answer = Callable[[Server, Asked, Any], Awaitable[Any]]


def serve(config: str | None, overrides: Mapping[str, Any], lenient: bool) -> int:
    """Speak with an editor on stdin and stdout until it is gone."""
    workers = WorkerPool()  # before there is any thread
    for name in ("pygls", "asyncio"):  # what an editor should know is sent to it
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    server = Server(workers, config, overrides, lenient)
    for method, listener in NOTIFICATIONS.items():
        server.feature(method)(_listening(server, listener))
    for method, (answer, options) in ANSWERS.items():
        server.feature(method, options)(_answering(server, answer))
    editor_in, editor_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no part of the protocol
    try:
        server.start_io(editor_in, editor_out)
    finally:
        workers.close()
    return 0


def _listening(server: Server, listener: Callable[[Server, Any], None]) -> Callable[[Any], None]:
    """A handler of notifications: the server goes on, whatever happens in it."""

    def handler(params: Any) -> None:
        try:
            listener(server, params)
        except Exception as error:
            server.log(f"{listener.__name__}: {type(error).__name__}: {error}")

    return handler


def _answering(server: Server, answer: Answer) -> Callable[[Any], Awaitable[Any]]:
    """A handler of requests about a text: without an answer for texts that are of no tree, and with
    an error when the text has changed meanwhile.
    """

    async def handler(params: Any) -> Any:
        await asyncio.sleep(0)  # so that it can be cancelled
        path = path_of(params.text_document.uri)
        document = server.texts.open.get(path) if path else None
        try:
            project = server.project_of(document.path) if document else None
            if document is None or project is None or project.problem:
                return None
            position = getattr(params, "position", None) or lsp.Position(0, 0)
            made = await answer(server, (project, document, document.offset(position)), params)
        except RunnerError as error:
            if answer in (_rename, _prepare_rename):  # the only ones that a person waits for
                raise JsonRpcException(error.message, REQUEST_FAILED) from None
            return None
        except (asyncio.CancelledError, JsonRpcException):
            raise
        except Exception as error:
            server.log(f"no answer to {answer.__name__}: {type(error).__name__}: {error}")
            return None
        if server.texts.open.get(document.path) is not document:
            raise JsonRpcContentModified("the text has changed")
        return made

    return handler


# ---------------------------------------------------------------- what the editor says


def _opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    _take(server, item.uri, item.text, item.version, TOGETHER)


def _changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    uri, version = params.text_document.uri, params.text_document.version
    text = server.workspace.get_text_document(uri).source
    _take(server, uri, text, version, PAUSE)


def _take(server: Server, uri: str, text: str, version: int, pause: float) -> None:
    path = path_of(uri)
    if path:
        server.texts.put(uri, OpenDocument(path, text, version))
        server.changed(path, pause)


def _saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path:
        server.texts.note_unsaved()
        server.changed(path)


def _closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    project = server.project_of(path) if path else None
    if path:
        server.texts.close(path)
    if project and server.is_edited(project):
        server.checks.begin(project, PAUSE)
    elif project:
        server.close_project(project)


def _files_changed(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    for change in params.changes:
        path = path_of(change.uri)
        if path and change.type == lsp.FileChangeType.Deleted:
            server.texts.deleted(path)
        project = server.project_of(path) if path else None
        if project and path:
            if os.path.basename(path) == CONFIG:
                project.load()
            project.refresh()
            if server.is_edited(project):
                server.checks.begin(project, PAUSE)


def _initialized(server: Server, params: lsp.InitializedParams) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace and workspace.did_change_watched_files
    if watching and watching.dynamic_registration:
        watcher = lsp.FileSystemWatcher(WATCHED)
        options = lsp.DidChangeWatchedFilesRegistrationOptions([watcher])
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = lsp.Registration("files", method, options)
        server.client_register_capability(lsp.RegistrationParams([registration]))


NOTIFICATIONS: dict[str, Callable[[Server, Any], None]] = {
    lsp.INITIALIZED: _initialized,
    lsp.TEXT_DOCUMENT_DID_OPEN: _opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: _saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: _files_changed,
}


# ---------------------------------------------------------------- what it asks


async def _completion(server: Server, asked: Asked, params: Any) -> lsp.CompletionList:
    project, document, offset = asked
    candidates = await completion.completions(project, document, offset)
    items = [
        lsp.CompletionItem(
            label=candidate.text.rstrip(":") if candidate.kind != "id" else candidate.text,
            kind=KINDS[candidate.kind],
            detail=candidate.about or None,
            filter_text=candidate.found_by or candidate.text,
            text_edit=lsp.TextEdit(document.range(candidate.start, offset), candidate.text),
        )
        for candidate in candidates
    ]
    return lsp.CompletionList(is_incomplete=len(items) == completion.MOST, items=items)


async def _hover(server: Server, asked: Asked, params: Any) -> lsp.Hover | None:
    project, document, offset = asked
    words = await hover.hover(project, document, offset)
    if words is None:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, words[0])
    return lsp.Hover(content, document.range(words[1].start, words[1].end))


async def _definition(server: Server, asked: Asked, params: Any) -> list[lsp.Location]:
    return [server.location(spot) for spot in await navigation.definitions(*asked)]


async def _references(server: Server, asked: Asked, params: Any) -> list[lsp.Location]:
    project, document, offset = asked
    id_ = navigation.id_at(document.outline, offset)
    if id_:
        declared = params.context.include_declaration
        spots = await navigation.references(project, id_[0], declared)
    else:
        targets = await navigation.definitions(*asked)
        spots = await navigation.users(project, targets[0].path) if targets else []
    return [server.location(spot) for spot in spots]


async def _prepare_rename(server: Server, asked: Asked, params: Any) -> lsp.Range:
    project, document, offset = asked
    _, span = renaming.renamable(project, document, offset)
    return document.range(span.start, span.end)


async def _rename(server: Server, asked: Asked, params: Any) -> lsp.WorkspaceEdit:
    project, document, offset = asked
    before = await server.checks.current(project)
    edits = await renaming.rename(project, document, offset, params.new_name)
    texts = {**project.unsaved, **renaming.applied(server.texts, edits)}
    after, notes = await server.checks.analyse(project, texts)
    renaming.refuse_changed_meaning(before, after, notes)
    return server.edit(edits)


async def _symbols(server: Server, asked: Asked, params: Any) -> list[lsp.DocumentSymbol]:
    _, document, _ = asked

    def symbol(
        name: str, kind: lsp.SymbolKind, whole: Span, own: Span, below: Sequence[Any] = ()
    ) -> lsp.DocumentSymbol:
        inside = Span(min(whole.start, own.start), max(whole.end, own.end), "")
        return lsp.DocumentSymbol(
            name=name or "?",
            kind=kind,
            range=document.range(inside.start, inside.end),
            selection_range=document.range(own.start, own.end),
            children=list(below) or None,
        )

    outline, made = document.outline, []
    for span in outline.includes:
        made.append(symbol(f"include {span.value}", lsp.SymbolKind.Module, span, span))
    for declaration in outline.declarations:
        states = [
            symbol(state.function, lsp.SymbolKind.Function, state.key, state.key)
            for state in declaration.states
        ]
        name = f"extend {declaration.id.value}" if declaration.extends else declaration.id.value
        whole = declaration.id if declaration.extends else declaration.whole
        made.append(symbol(name, lsp.SymbolKind.Object, whole, declaration.id, states))
    for span in outline.macros:
        made.append(symbol(f"macro {span.value}", lsp.SymbolKind.Function, span, span))
    return made


async def _actions(server: Server, asked: Asked, params: Any) -> list[lsp.CodeAction]:
    project, document, _ = asked
    made: list[lsp.CodeAction] = []
    for problem in project.mistakes:
        if problem.source is None or not server.texts.is_same(problem.source.file, document.path):
            continue
        shown = server._diagnostic(document, problem)
        if not params.range.start.line <= shown.range.start.line <= params.range.end.line:
            continue
        for fix in actions.fixes(document, problem):
            edit = renaming.TextEdit(document.path, fix.span, fix.text)
            made.append(
                lsp.CodeAction(
                    title=fix.title,
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[shown],
                    edit=server.edit([edit]),
                    is_preferred=fix.sure or None,
                )
            )
    return made


async def _formatting(server: Server, asked: Asked, params: Any) -> list[lsp.TextEdit]:
    project, document, _ = asked
    text = formatting.formatted(project, document)
    return [] if text is None else [lsp.TextEdit(document.whole, text)]


ANSWERS: dict[str, tuple[Answer, Any]] = {
    lsp.TEXT_DOCUMENT_COMPLETION: (
        _completion,
        lsp.CompletionOptions(trigger_characters=[".", ":", "/", "'", '"']),
    ),
    lsp.TEXT_DOCUMENT_HOVER: (_hover, None),
    lsp.TEXT_DOCUMENT_DEFINITION: (_definition, None),
    lsp.TEXT_DOCUMENT_REFERENCES: (_references, None),
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: (_prepare_rename, None),
    lsp.TEXT_DOCUMENT_RENAME: (_rename, lsp.RenameOptions(prepare_provider=True)),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_symbols, None),
    lsp.TEXT_DOCUMENT_CODE_ACTION: (_actions, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])),
    lsp.TEXT_DOCUMENT_FORMATTING: (_formatting, None),
}
