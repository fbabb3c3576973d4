# SPDX-License-Identifier: Apache-2.0
"""What scripts of packages would do, followed command by command without doing any of it.

Commands that are known (`commands`) alter the planned machine, or answer by it. Where a condition
cannot be answered all of its branches may be run: what they would touch is noted (`Doubted`), and
what is not known afterwards stays so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from modules._texts import shell
from modules._texts.shell import Body, Command, Pipeline, Unread
from modules.pkg._scripts.words import (
    COMMAND,
    TooMuchWork,
    Words,
    fits,
    in_folder,
    working,
    working_folder,
)
from runner.api import Record

SHELLS = frozenset(("sh", "bash", "dash"))
QUIET = frozenset(("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "&1", "&2", "&3", "3"))


class Outcome(Record):
    """What a command came to. status, output: None where it is not known. unknown: the paths that
    it made, with contents that nobody knows.
    """

    status: int | None = 0
    output: str | None = ""
    unknown: tuple[str, ...] = ()


class Doubted(Record):
    """A command that may be run, or whose doing is not known. words: as far as these are known;
    is_known: what it does is, but not whether it is run. of_rights: it alters nothing but owners
    and modes.
    """

    script: str
    words: tuple[str, ...]
    is_known: bool
    of_rights: bool = False


Kept = dict[str, str | None]  # a variable with its value; empty where there was none
Handler = Callable[[list[str], str | None], Outcome]
# answers a command of debconf, whose answer is its output. The last: it may not be run at all
Questions = Callable[[str, Sequence[str | None], bool], Outcome]


def no_questions(name: str, words: Sequence[str | None], is_perhaps: bool) -> Outcome:
    """Answer as where no questions are known."""
    return Outcome(None, None)


class _Leaves(Exception):
    """`exit`, `return`, `break` or `continue`."""

    def __init__(self, how: str, status: int | None = 0) -> None:
        self.how, self.status = how, status


class _Printed:
    def __init__(self) -> None:
        self.text, self.is_known = "", True


class _Input:
    """What a command reads; None where that is not known. Commands share it, as `read` takes lines
    of it.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text


class ScriptRun(Words):
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
        writes: Callable[[str, str | None, bool], Outcome],
        variables: Mapping[str, str],
        program: Callable[[str], str | None] = lambda name: None,
        questions: Questions = no_questions,
        spoils: Callable[[str], None] = lambda path: None,
    ) -> None:
        """program: the text of a command that is a script of the shell itself. spoils: notes that
        nobody knows what a command does to a path.
        """
        super().__init__(script, arguments, glob, variables)
        self.commands, self.source, self.writes = commands, source, writes
        self.program, self.questions, self.spoils = program, questions, spoils
        self.doubted: list[Doubted] = []
        self.unknown: list[tuple[str, str]] = []  # paths, and the commands that made them
        self._exported = {*variables}
        self._at_end: list[shell.Body] = []
        self._functions: dict[str, Command] = {}
        self._locals: dict[str, Kept] = {}  # of a function, as they were outside
        self._perhaps = 0  # so many conditions are not known
        self._left = ""  # how what follows may have been left by then
        self._listens = 0  # to what commands print
        self._asks = 0  # within conditions and outputs, where commands answer
        self._input = _Input("")
        self._outputs: list[_Printed] = []
        self._stops_at_failures = False
        self._depth = 0

    def follow(self, text: str) -> None:
        """Follow a script from its start to its end. Raises Unread."""
        token, outer = working_folder.set("/"), working.set(self.work)
        try:
            self._to_its_end(shell.parse(text))
        except _Leaves as leaves:
            if leaves.status:
                raise Unread(f"it ends with status {leaves.status}") from None
        except RecursionError:
            raise Unread("too many commands within commands") from None
        except TooMuchWork as problem:
            raise Unread(str(problem)) from None
        finally:
            working_folder.reset(token)
            working.reset(outer)

    def _to_its_end(self, body: Body) -> int | None:
        """Follow the commands of a script, and those that its end is to run (trap)."""
        before, self._at_end = self._at_end, []
        try:
            status = self._body(body)
        except _Leaves as leaves:
            if leaves.how != "exit":
                raise
            status = leaves.status
        finally:
            last, self._at_end = self._at_end, before
        self._left = ""
        for commands in last:
            self._body(commands)
        if status:
            raise _Leaves("exit", status)
        return status

    # -------------------------------------------------- commands of several

    def _body(self, body: Body) -> int | None:
        status: int | None = 0
        for chain in body:
            status = self._chain(chain)
        return status

    def _chain(self, chain: shell.Chain) -> int | None:
        if len(chain.links) == 1:
            status = self._pipeline(chain.links[0][1])
        else:
            status = self._chained(chain)
        self._status = status
        if status and self._stops_at_failures and not (self._asks or self._is_perhaps):
            self._refuse_failure(chain, status)
        return status

    def _chained(self, chain: shell.Chain) -> int | None:
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
                self._status = status  # as the next one may ask for it
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
        before = self._input
        try:
            for command in pipeline.commands[:-1]:
                self._listens += 1
                try:
                    with self._captured() as output:
                        self._command(command)
                finally:
                    self._listens -= 1
                self._input = _Input(output.text if output.is_known else None)
            status = self._command(pipeline.commands[-1])
        finally:
            self._input = before
            self._asks -= asks
        if pipeline.negated and status is not None:
            return int(status == 0)
        return status

    def _command(self, command: Command) -> int | None:
        self.work.spend(COMMAND)
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
            case shell.Compound():
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
                elif self._fits_any(text, matches):
                    return self._body(body)
            return status
        return None  # type: ignore[unreachable]  # it was left within

    def _fits_any(self, text: str, patterns: Sequence[str | None]) -> bool:
        self.work.spend(len(text) * len(patterns))
        return any(fits(text, each or "") for each in patterns)

    def _loop(self, command: shell.For) -> int | None:
        words = self._fields(command.words) if command.words is not None else [*self.arguments]
        for word in words:
            self.work.spend(COMMAND)
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
        while True:
            self.work.spend(COMMAND)
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

    def _group(self, command: shell.Compound) -> int | None:
        if not command.is_subshell:
            return self._body(command.body)
        kept = dict(self.variables)
        token = working_folder.set(working_folder.get())
        try:
            return self._body(command.body)
        except _Leaves as leaves:
            if leaves.how != "exit":
                raise
            return leaves.status
        finally:
            working_folder.reset(token)
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
        before, kept = self._input, {}
        if assigned:
            kept = {name: self._kept(name) for name, _ in assigned}
            self.variables |= dict(assigned)
            exported, self._exported = self._exported, {*self._exported, *kept}
        try:
            if not command.redirections:
                return self._start(words)
            with self._streams(command.redirections):
                return self._start(words)
        finally:
            self._input = before
            if assigned:
                self._exported = exported
                self._restore(kept)

    def _kept(self, name: str) -> Kept:
        return {name: self.variables[name]} if name in self.variables else {}

    def _restore(self, kept: Mapping[str, Kept]) -> None:
        for name, was in kept.items():
            self.variables.pop(name, None)
            self.variables |= was

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
        if handler is None and name and (text := self.program(name)):
            return self._script(text, words, words[1:])
        known = [word for word in words if word is not None]
        if handler is None or len(known) < len(words) or self._is_perhaps:
            return self._doubt(words, handler)
        try:
            outcome = handler(known[1:], self._input.text)
        except Unread:
            return self._doubt(words, handler if _only_looks(handler, words) else None)
        self._print(outcome.output)
        self.unknown += [(path, " ".join(known[:3])) for path in outcome.unknown]
        return outcome.status

    def _script(
        self, text: str, words: Sequence[str | None], arguments: Sequence[str | None]
    ) -> int | None:
        """Follow a command that is a script itself."""
        self._depth += 1
        if self._depth > shell.DEEPEST:
            raise Unread("too many commands within commands")
        kept = {name: getattr(self, name) for name in _OF_A_SCRIPT}
        self.script, self.arguments = words[0] or "", [*arguments]
        self.variables = {
            name: value for name, value in self.variables.items() if name in self._exported
        }
        self._functions, self._stops_at_failures = {}, False
        token = working_folder.set(working_folder.get())
        try:
            return self._to_its_end(shell.parse(text))
        except _Leaves as leaves:
            return leaves.status
        except Unread:
            return self._doubt(words, None)
        finally:
            working_folder.reset(token)
            self.__dict__ |= kept
            self._depth -= 1

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
        declared = self.commands.get((words[0] or "").rpartition("/")[2])
        of_rights = bool(getattr(declared, "of_rights", False))
        if of_rights:  # whose they become may be open, but not of what
            operands = [word for word in words[1:] if not (word or "").startswith("-")]
            is_known = len(operands) > 1 and None not in operands[1:]
        self.doubted.append(Doubted(self.script, known, is_known, of_rights))
        for word in known:
            self.spoils(word)
        return None

    def _shells_text(self, words: Sequence[str | None]) -> str | None:
        """The commands that a shell is given as its argument; None where they are not known."""
        if len(words) < 3 or words[1] not in ("-c", "-ec") or words[2] is None:
            return None
        return f"set -e\n{words[2]}" if words[1] == "-ec" else words[2]

    def _call(self, name: str, arguments: Sequence[str | None]) -> int | None:
        self._depth += 1
        if self._depth > shell.DEEPEST:
            raise Unread("too many commands within commands")
        kept, self.arguments = self.arguments, [*arguments]
        outside, self._locals = self._locals, {}
        left = self._left
        try:
            return self._command(self._functions[name])
        except _Leaves as leaves:
            if leaves.how != "return":
                raise
            return leaves.status
        finally:
            self.arguments = kept
            self._restore(self._locals)
            self._locals = outside
            self._depth -= 1
            self._left = left if self._left == "return" else self._left

    def _builtin(self, name: str, words: Sequence[str | None]) -> Outcome | None:
        """What the shell does itself; None for what it does not."""
        if name in ("[", "echo"):  # most of all
            return None
        if name in ("set", "shift", "local", "export", "readonly", "unset", "read", "getopts"):
            return Outcome(self._variables(name, words[1:]))
        if name == "command" and len(words) > 1 and not (words[1] or "-").startswith("-"):
            return Outcome(self._start(words[1:]))
        if name in (".", "source"):
            return self._sourced(words[1] if len(words) > 1 else None)
        if name == "eval":
            if None in words:
                raise Unread("it calls eval")
            text = " ".join(word or "" for word in words[1:])
            return Outcome(self._body(shell.parse(text)))
        if name.rpartition("/")[2] in SHELLS and (given := self._shells_text(words)) is not None:
            return Outcome(self._script(given, words, words[4:]))
        if name.startswith("db_"):
            answer = self.questions(name[3:], words[1:], self._is_perhaps)
            self.variables["RET"] = answer.output
            is_unknown = answer.status is None and not self._asks
            return Outcome(0 if is_unknown else answer.status, "")
        if name == "trap":
            return self._trap(words[1:])
        if name == "cd":
            return Outcome(self._change_folder(words[1:]))
        if name == "xargs":
            return Outcome(self._each_of_input(words[1:]))
        if name == "exec":
            if len(words) > 1:
                raise _Leaves("exit", self._start(words[1:]))
            return Outcome()
        return None

    def _each_of_input(self, words: Sequence[str | None]) -> int | None:
        """Run a command with the words that are read (xargs)."""
        given = [*words]
        is_plain = True
        while given and (given[0] or "").startswith("-"):
            is_plain &= given.pop(0) in ("-0", "-r", "-r0", "-0r", "--null", "--no-run-if-empty")
        text = self._input.text
        if text is None or not is_plain or not given:
            return self._doubt(given or ["xargs"], None)
        items = text.split("\0") if "\0" in text else text.split()
        items = [item for item in items if item]
        return self._start([*given, *items]) if items else 0

    def _trap(self, words: Sequence[str | None]) -> Outcome:
        if {"0", "EXIT"} & {*words[1:]}:
            if words[0] is None or self._is_perhaps:
                raise Unread("it traps what is not known")
            self._at_end = [] if words[0] == "-" else [shell.parse(words[0])]
        return Outcome()

    def _change_folder(self, words: Sequence[str | None]) -> int | None:
        path = words[0] if len(words) == 1 else None
        if path is None or path == "-" or self._is_perhaps:
            working_folder.set("")
            return None
        working_folder.set(os.path.normpath(in_folder(path)) if in_folder(path) else "")
        return 0

    def _variables(self, name: str, words: Sequence[str | None]) -> int | None:
        """Set variables and arguments as a command of the shell does."""
        if name == "set":
            for word in words:
                if word and word[0] == "-" and "e" in word:
                    self._stops_at_failures = True
            if "--" in words:
                self.arguments = [*words[[*words].index("--") + 1 :]]
        elif name == "shift":
            number = words[0] if words else "1"
            if number is None or not number.isdigit():
                raise Unread("it shifts by what is not known")
            self.arguments = self.arguments[int(number) :]
        elif name == "getopts":
            return self._option(words)
        elif name == "read":
            return self._read([word or "" for word in words])
        if name == "export":
            self._exported.update((word or "").partition("=")[0] for word in words)
        for word in words if name in ("local", "export", "readonly", "unset") else ():
            variable, equals, value = (word or "").partition("=")
            if name == "unset":
                self.variables.pop(variable, None)
            elif variable and (equals or name == "local"):
                if name == "local":
                    self._locals.setdefault(variable, self._kept(variable))
                self._set(variable, value)
        return 0

    def _read(self, words: Sequence[str]) -> int | None:
        """Set variables to the words of the next line of the input."""
        names = [word for word in words if not word.startswith("-")] or ["REPLY"]
        text = self._input.text
        if text is None:
            self.variables |= dict.fromkeys(names)
            return None
        line, _, self._input.text = text.partition("\n")
        separator = self.variables.get("IFS", " ") or " "
        if "\\" in line or self._is_perhaps or len(separator) > 1:
            self.variables |= dict.fromkeys(names)
            return int(text == "")
        given = line.split(None if separator == " " else separator, len(names) - 1)
        for position, name in enumerate(names):
            self._set(name, given[position].strip(" \t") if position < len(given) else "")
        return int(text == "")

    def _option(self, words: Sequence[str | None]) -> int | None:
        """Set variables to the next option among the arguments (getopts)."""
        letters, name, *given = words
        arguments = given or self.arguments
        position = int(self.variables.get("OPTIND") or "1")
        if letters is None or name is None or None in arguments or self._is_perhaps:
            raise Unread("options that are not known")
        word = arguments[position - 1] or "" if position <= len(arguments) else ""
        if not word.startswith("-") or word == "-":
            return 1
        if word == "--" or len(word) != 2 or word[1] not in letters:
            self.variables["OPTIND"] = str(position + 1)
            if word == "--":
                return 1
            raise Unread(f"the option {word}")
        takes = letters.partition(word[1])[2].startswith(":")
        value = arguments[position] if takes and position < len(arguments) else ""
        self.variables |= {name: word[1], "OPTARG": value, "OPTIND": str(position + 1 + takes)}
        return 0

    def _sourced(self, path: str | None) -> Outcome:
        if self._is_perhaps:
            self.doubted.append(Doubted(self.script, (".", path or ""), False))
            return Outcome(None)
        if path is None:
            raise Unread("it reads another script")
        if path == "/usr/share/debconf/confmodule":
            return self.questions("", (), False)
        text = self.source(in_folder(path))
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
                self._input = _Input(text)
            elif each.operator in ("<", "<>"):
                self._input = _Input("" if text in QUIET else text and self.source(in_folder(text)))
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
        path = path and (in_folder(path) or path)
        if path is None or self._is_perhaps:
            known = () if path is None else (path,)
            self.doubted.append(Doubted(self.script, (">", *known), True))
            self.spoils(path or "")
        else:
            outcome = self.writes(path, output.text if output.is_known else None, appends)
            self.unknown += [(each, f"> {each}") for each in outcome.unknown]

    @contextmanager
    def _captured(self) -> Iterator[_Printed]:
        output = _Printed()
        self._outputs.append(output)
        try:
            yield output
        finally:
            self._outputs.pop()

    def _print(self, text: str | None) -> None:
        if self._outputs:
            output = self._outputs[-1]
            output.is_known &= text is not None and not self._is_perhaps
            if text:
                self.work.spend(len(text))
                output.text += text

    def _output(self, part: shell.Substitution) -> str | None:
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


# what a script that another one calls has for itself
_OF_A_SCRIPT: tuple[str, ...] = ("script", "arguments", "variables", "_functions", "_left")
_OF_A_SCRIPT += ("_stops_at_failures", "_exported")


def _only_looks(handler: Handler, words: Sequence[str | None]) -> bool:
    """Return whether a command alters nothing. only_looks: true, the words that say so, or what
    tells by them.
    """
    only_looks = getattr(handler, "only_looks", False)
    if callable(only_looks):
        return bool(only_looks([word or "" for word in words[1:]]))
    return only_looks is True or bool(only_looks and only_looks & {*words})


def _names_something(words: Sequence[str]) -> bool:
    return any(not word.startswith("-") and "/" not in word for word in words)
