# SPDX-License-Identifier: Apache-2.0
"""What scripts of packages would do, followed command by command without doing any of it.

Commands that are known (`commands`) alter the planned machine, or answer by it. Where a condition
cannot be answered all of its branches may be run: what they would touch is noted (`Doubted`), and
what is not known afterwards stays so.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from modules._texts import shell
from modules._texts.shell import Body, Command, Pipeline, Unread, Word
from runner.api import Record

MOST_STEPS = 50_000  # commands of one script
MOST_TURNS = 1_000  # of a loop
QUIET = frozenset(("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "&1", "&2", "&3", "3"))


class Outcome(Record):
    """What a command came to. status, output: None where it is not known."""

    status: int | None = 0
    output: str | None = ""


class Doubted(Record):
    """A command that may be run, or whose doing is not known. words: as far as these are known;
    is_known: what it does is, but not whether it is run.
    """

    script: str
    words: tuple[str, ...]
    is_known: bool


Handler = Callable[[list[str], str | None], Outcome]


class _Leaves(Exception):
    """`exit`, `return`, `break` or `continue`."""

    def __init__(self, how: str, status: int | None = 0) -> None:
        self.how, self.status = how, status


class _Output:
    def __init__(self) -> None:
        self.text, self.is_known = "", True


class Run:
    """One run of a script. commands: by their names; glob, source, writes: what looks at the
    planned machine, and what alters it.
    """

    def __init__(
        self,
        script: str,
        arguments: Sequence[str],
        commands: Mapping[str, Handler],
        glob: Callable[[str], list[str]],
        source: Callable[[str], str | None],
        writes: Callable[[str, str, bool], None],
        variables: Mapping[str, str],
    ) -> None:
        self.script, self.commands = script, commands
        self.glob, self.source, self.writes = glob, source, writes
        self.arguments: list[str | None] = [*arguments]
        self.variables: dict[str, str | None] = {**variables}
        self.doubted: list[Doubted] = []
        self._functions: dict[str, Command] = {}
        self._perhaps = 0  # so many conditions are not known
        self._left = ""  # how what follows may have been left by then
        self._listens = 0  # to what commands print
        self._asks = 0  # within conditions and outputs, where commands answer
        self._steps = 0
        self._input: str | None = ""
        self._outputs: list[_Output] = []
        self._status: int | None = 0
        self._stops_at_failures = False
        self._depth = 0

    def follow(self, text: str) -> None:
        """Follow a script from its start to its end. Raises Unread."""
        try:
            self._body(shell.parse(text))
        except _Leaves as leaves:
            if leaves.status:
                raise Unread(f"it ends with status {leaves.status}") from None
        except RecursionError:
            raise Unread("too many commands within commands") from None

    # -------------------------------------------------- commands of several

    def _body(self, body: Body) -> int | None:
        status: int | None = 0
        for chain in body:
            status = self._chain(chain)
        return status

    def _chain(self, chain: shell.Chain) -> int | None:
        status: int | None = 0
        with self._unsure() as unsure:
            last = len(chain.links) - 1
            for position, (joint, pipeline) in enumerate(chain.links):
                if joint and status is not None and (status == 0) != (joint == "&&"):
                    continue
                if joint and status is None:
                    unsure()
                known, status = status, self._pipeline(pipeline, asks=position < last)
                if joint and known is None and (joint == "||" or status != 0):
                    status = None
        self._status = status
        if status and self._stops_at_failures and not (self._asks or self._is_perhaps):
            self._refuse_failure(chain, status)
        return status

    def _refuse_failure(self, chain: shell.Chain, status: int) -> None:
        """Raise Unread where a script would end here, as its author does not mean it."""
        simple = chain.links[0][1].commands[-1]
        if (
            len(chain.links) > 1
            or chain.links[0][1].negated
            or not isinstance(simple, shell.Simple)
        ):
            return
        first = simple.words[0].literal if simple.words else ""
        if first not in self._functions:
            raise Unread(f"{first} ends with status {status}")

    @contextmanager
    def _unsure(self) -> Iterator[Callable[[], None]]:
        """Within this it may become unsure what is run."""
        before, kept = self._perhaps, self.variables

        def unsure() -> None:
            nonlocal kept
            if self._perhaps == before:
                kept = dict(self.variables)
            self._perhaps += 1

        try:
            yield unsure
        except _Leaves as leaves:
            if self._perhaps == before:
                raise
            self._note_left(leaves)
        finally:
            if self._perhaps > before:
                names = {name for name, value in self.variables.items() if kept.get(name) != value}
                self.variables = {**kept, **dict.fromkeys(names)}
            self._perhaps = before

    def _note_left(self, leaves: _Leaves) -> None:
        """Note that what follows may be passed over; not for a failure: trees are written for what
        succeeds.
        """
        if not (leaves.how == "exit" and leaves.status) and self._left != "exit":
            self._left = leaves.how

    @property
    def _is_perhaps(self) -> bool:
        return bool(self._perhaps or self._left)

    def _pipeline(self, pipeline: Pipeline, asks: bool = False) -> int | None:
        asks = asks or pipeline.negated
        self._asks += asks
        before, text = self._input, self._input
        try:
            for command in pipeline.commands[:-1]:
                self._input = text
                self._listens += 1
                try:
                    with self._captured() as output:
                        self._command(command)
                finally:
                    self._listens -= 1
                text = output.text if output.is_known else None
            self._input = text
            status = self._command(pipeline.commands[-1])
        finally:
            self._input = before
            self._asks -= asks
        if pipeline.negated and status is not None:
            return int(status == 0)
        return status

    def _command(self, command: Command) -> int | None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Unread("it takes too many steps")
        match command:
            case shell.Simple():
                return self._simple(command)
            case shell.If():
                return self._conditional(command)
            case shell.Case():
                return self._case(command)
            case shell.For():
                return self._loop(command)
            case shell.While():
                return self._repetition(command)
            case shell.Group():
                return self._group(command)
            case shell.Function():
                self._functions[command.name] = command.body
                return 0
            case shell.Redirected():
                return self._redirected(command)

    def _conditional(self, command: shell.If) -> int | None:
        with self._unsure() as unsure:
            statuses: list[int | None] = []
            for condition, body in command.branches:
                self._asks += 1
                try:
                    met = self._body(condition)
                finally:
                    self._asks -= 1
                if met == 0:
                    status = self._body(body)
                    return status if not statuses else None
                if met is None:
                    if not statuses:
                        unsure()
                    statuses.append(self._branch(body))
            status = self._body(command.otherwise)
            return status if not statuses else None
        return None  # type: ignore[unreachable]  # it was left within

    def _branch(self, body: Body) -> int | None:
        """Follow what may be run, and go on whatever it does."""
        try:
            return self._body(body)
        except _Leaves as leaves:
            self._note_left(leaves)
            return None

    def _case(self, command: shell.Case) -> int | None:
        text = self._text(command.word)
        with self._unsure() as unsure:
            if text is None:
                unsure()
            status: int | None = 0
            for patterns, body in command.branches:
                matches = [self._pattern(pattern) for pattern in patterns]
                if text is None or None in matches:
                    if text is not None:
                        unsure()
                        text = None
                    status = self._branch(body)
                elif any(fnmatch.fnmatchcase(text, each or "") for each in matches):
                    return self._body(body)
            return status
        return None  # type: ignore[unreachable]  # it was left within

    def _pattern(self, word: Word) -> str | None:
        text = ""
        for part in word.parts:
            value = part.text if isinstance(part, shell.Text) else self._part(part)
            if value is None:
                return None
            quoted = part.quoted
            text += re.sub(r"([*?[])", r"[\1]", value) if quoted else value
        return text

    def _loop(self, command: shell.For) -> int | None:
        words = self._fields(command.words) if command.words is not None else [*self.arguments]
        for word in words[:MOST_TURNS]:
            with self._unsure() as unsure:
                if word is None:
                    unsure()
                self._set(command.name, word)
                try:
                    self._body(command.body)
                except _Leaves as leaves:
                    if leaves.how == "break" and not self._is_perhaps:
                        if leaves.status and leaves.status > 1:
                            raise _Leaves("break", leaves.status - 1) from None
                        break
                    if leaves.how not in ("break", "continue"):
                        raise
        self._left = "" if self._left in ("break", "continue") else self._left
        return 0

    def _repetition(self, command: shell.While) -> int | None:
        for _ in range(MOST_TURNS):
            self._asks += 1
            try:
                status = self._body(command.condition)
            finally:
                self._asks -= 1
            with self._unsure() as unsure:
                if status is None:
                    unsure()
                    self._branch(command.body)
                    break
                if (status == 0) == command.until:
                    break
                try:
                    self._body(command.body)
                except _Leaves as leaves:
                    if leaves.how == "break":
                        break
                    if leaves.how != "continue":
                        raise
        return 0

    def _group(self, command: shell.Group) -> int | None:
        if not command.is_subshell:
            return self._body(command.body)
        kept = dict(self.variables)
        try:
            return self._body(command.body)
        except _Leaves as leaves:
            if leaves.how != "exit":
                raise
            return leaves.status
        finally:
            self.variables = kept

    def _redirected(self, command: shell.Redirected) -> int | None:
        before = self._input
        try:
            with self._streams(command.redirections):
                return self._command(command.command)
        finally:
            self._input = before

    # -------------------------------------------------- simple commands

    def _simple(self, command: shell.Simple) -> int | None:
        self._status_of_outputs: int | None = 0
        assigned = [(name, self._text(word)) for name, word in command.assignments]
        words = self._fields(command.words)
        if not words:
            for name, value in assigned:
                self._set(name, value)
            return self._status_of_outputs if assigned else 0
        before = self._input
        try:
            with self._streams(command.redirections):
                return self._start(words)
        finally:
            self._input = before

    def _start(self, words: Sequence[str | None]) -> int | None:
        name = words[0]
        if name in ("exit", "return", "break", "continue"):
            number = words[1] if len(words) > 1 else "0" if name != "break" else "1"
            if number is None or not number.isdigit():
                raise _Leaves(name, None)
            given = len(words) > 1 or name == "break"
            raise _Leaves(name, int(number) if given else self._status)
        own = self._builtin(name or "", words)
        if own is not None:
            return own.status
        if name in self._functions:
            return self._call(name, words[1:])
        handler = self.commands.get((name or "").rpartition("/")[2])
        known = [word for word in words if word is not None]
        if handler is None or len(known) < len(words) or self._is_perhaps:
            return self._doubt(words, handler)
        try:
            outcome = handler(known[1:], self._input)
        except Unread:
            return self._doubt(words, None)
        self._print(outcome.output)
        return outcome.status

    def _doubt(self, words: Sequence[str | None], handler: Handler | None) -> int | None:
        """Note a command of which it is not known what it does, or whether it is run."""
        self._print(None)
        if handler is not None and _only_looks(handler, words):
            return None
        if handler is None and self._listens:  # what it prints is what it is for
            return None
        known = tuple(word for word in words if word is not None)
        # of a command about accounts or services the names tell, whatever else is not known
        by_name = getattr(handler, "of_names", False) and _names_something(known[1:])
        is_known = handler is not None and (by_name or len(known) == len(words))
        self.doubted.append(Doubted(self.script, known, is_known))
        return None

    def _call(self, name: str, arguments: Sequence[str | None]) -> int | None:
        self._depth += 1
        if self._depth > shell.DEEPEST:
            raise Unread("too many commands within commands")
        kept, self.arguments = self.arguments, [*arguments]
        left = self._left
        try:
            return self._command(self._functions[name])
        except _Leaves as leaves:
            if leaves.how != "return":
                raise
            return leaves.status
        finally:
            self.arguments = kept
            self._depth -= 1
            self._left = left if self._left == "return" else self._left

    def _builtin(self, name: str, words: Sequence[str | None]) -> Outcome | None:
        """What the shell does itself; None for what it does not."""
        if name in ("set", "shift", "local", "export", "readonly", "unset", "read"):
            return Outcome(self._variables(name, words[1:]))
        if name == "command" and len(words) > 1 and not (words[1] or "-").startswith("-"):
            return Outcome(self._start(words[1:]))
        if name in (".", "source"):
            return self._sourced(words[1] if len(words) > 1 else None)
        if name == "eval":
            raise Unread("it calls eval")
        if name.startswith("db_"):
            self.variables["RET"] = None
            return Outcome(None if self._asks else 0, "")
        return None

    def _variables(self, name: str, words: Sequence[str | None]) -> int | None:
        """Set variables and arguments as a command of the shell does."""
        if name == "set":
            for word in words:
                if word and word[0] == "-" and "e" in word:
                    self._stops_at_failures = True
            if "--" in words:
                self.arguments = [*words[[*words].index("--") + 1 :]]
        elif name == "shift":
            self.arguments = self.arguments[1:]
        elif name == "read":
            self.variables |= dict.fromkeys(word or "" for word in words)
            return None if self._input is None or self._input else 1
        for word in words if name in ("local", "export", "readonly", "unset") else ():
            variable, equals, value = (word or "").partition("=")
            if name == "unset":
                self.variables.pop(variable, None)
            elif variable and (equals or name == "local"):
                self._set(variable, value)
        return 0

    def _sourced(self, path: str | None) -> Outcome:
        if self._is_perhaps:
            self.doubted.append(Doubted(self.script, (".", path or ""), False))
            return Outcome(None)
        if path is None:
            raise Unread("it reads another script")
        if path == "/usr/share/debconf/confmodule":
            return Outcome()
        text = self.source(path)
        if text is None:
            raise Unread(f"it reads {path}")
        return Outcome(self._body(shell.parse(text)))

    def _set(self, name: str, value: str | None) -> None:
        if self._left and self.variables.get(name, "") != value:
            value = None
        self.variables[name] = value

    # -------------------------------------------------- streams

    @contextmanager
    def _streams(self, redirections: Sequence[shell.Redirection]) -> Iterator[None]:
        target: tuple[str | None, bool] | None = None
        for each in redirections:
            text = self._text(each.target)
            if each.operator == "<<":
                self._input = text
            elif each.operator in ("<", "<>"):
                self._input = "" if text == "/dev/null" else None
            elif each.stream in ("", "1") and each.operator in (">", ">>", ">|"):
                target = text, each.operator == ">>"
            elif each.stream in ("", "1") and text == "2":
                target = "/dev/null", False
        if target is None:
            yield
            return
        with self._captured() as output:
            yield
        path, appends = target
        if path in QUIET:
            return
        if path is None or not output.is_known or self._is_perhaps:
            known = () if path is None else (path,)
            self.doubted.append(Doubted(self.script, (">", *known), True))
        else:
            self.writes(path, output.text, appends)

    @contextmanager
    def _captured(self) -> Iterator[_Output]:
        output = _Output()
        self._outputs.append(output)
        try:
            yield output
        finally:
            self._outputs.pop()

    def _print(self, text: str | None) -> None:
        if self._outputs:
            output = self._outputs[-1]
            output.is_known &= text is not None and not self._is_perhaps
            output.text += text or ""

    # -------------------------------------------------- words

    def _fields(self, words: Sequence[Word]) -> list[str | None]:
        """The words that a command gets; None for each that is not known."""
        return [field for word in words for field in self._fields_of(word)]

    def _fields_of(self, word: Word) -> list[str | None]:
        if len(word.parts) > 0 and any(
            isinstance(part, shell.Parameter) and part.name == "@" and not part.operation
            for part in word.parts
        ):
            plain = [part for part in word.parts if part not in (shell.Text("", True),)]
            if len(plain) != 1:
                return [None]
            return [*self.arguments]
        fields: list[str | None] = [""]
        is_there = has_pattern = False
        for part in word.parts:
            value = self._part(part)
            if value is None:
                return [None]
            if isinstance(part, shell.Text) or part.quoted:
                is_there = True
                unquoted = isinstance(part, shell.Text) and not part.quoted
                has_pattern |= unquoted and any(sign in value for sign in "*?[")
                fields[-1] = (fields[-1] or "") + value
                continue
            pieces = value.split()
            if pieces and value[:1].isspace() and fields[-1]:
                fields.append("")
            for position, piece in enumerate(pieces):
                if position:
                    fields.append("")
                fields[-1] = (fields[-1] or "") + piece
                is_there = True
        if not is_there and fields == [""]:
            return []
        if has_pattern:
            found = [path for each in fields for path in self.glob(each or "")]
            return [*found] or fields
        return fields

    def _text(self, word: Word) -> str | None:
        """What a word says, without being split."""
        text = ""
        for part in word.parts:
            value = self._part(part)
            if value is None:
                return None
            text += value
        return text

    def _part(self, part: shell.Text | shell.Parameter | shell.Output) -> str | None:
        if isinstance(part, shell.Text):
            return part.text
        if isinstance(part, shell.Output):
            return self._output(part)
        value = self._value(part.name)
        is_set = part.name in self.variables or value is None or value != ""
        operation = part.operation
        if not operation:
            return value
        if operation.startswith(":") and value == "":
            is_set = False
        sign = operation.lstrip(":")
        if sign in ("-", "=", "?"):
            return value if is_set else self._text(part.word)
        if sign == "+":
            return self._text(part.word) if is_set else ""
        if value is None:
            return None
        if operation == "length":
            return str(len(value))
        pattern = self._pattern(part.word)
        return None if pattern is None else _cut(value, operation, pattern)

    def _value(self, name: str) -> str | None:
        if name.isdigit():
            number = int(name)
            if number == 0:
                return self.script
            return self.arguments[number - 1] if number <= len(self.arguments) else ""
        if name in ("@", "*"):
            known = [each for each in self.arguments if each is not None]
            return " ".join(known) if len(known) == len(self.arguments) else None
        if name == "#":
            return str(len(self.arguments))
        if name == "?":
            return None if self._status is None else str(self._status)
        if name in ("$", "!", "-"):
            return None
        return self.variables.get(name, "")

    def _output(self, part: shell.Output) -> str | None:
        self._asks += 1
        self._listens += 1
        kept = dict(self.variables)
        try:
            with self._captured() as output:
                self._status_of_outputs = self._body(part.body)
        except _Leaves:
            return None
        finally:
            self.variables = kept
            self._asks -= 1
            self._listens -= 1
        return output.text.rstrip("\n") if output.is_known else None


def _only_looks(handler: Handler, words: Sequence[str | None]) -> bool:
    """Return whether a command alters nothing. only_looks: true, or the words that say so."""
    only_looks = getattr(handler, "only_looks", False)
    return only_looks is True or bool(only_looks and only_looks & {*words})


def _names_something(words: Sequence[str]) -> bool:
    return any(not word.startswith("-") and "/" not in word for word in words)


def _cut(value: str, operation: str, pattern: str) -> str:
    """Return a value without its shortest or longest beginning (#) or end (%) that matches."""
    positions = range(len(value) + 1)
    if operation in ("##", "%"):
        positions = positions[::-1]
    for position in positions:
        if operation[0] == "#" and fnmatch.fnmatchcase(value[:position], pattern):
            return value[position:]
        if operation[0] == "%" and fnmatch.fnmatchcase(value[position:], pattern):
            return value[:position]
    return value
