# SPDX-License-Identifier: Apache-2.0
"""Scripts of the shell, read: POSIX's grammar, as far as scripts of packages use it.

What is not certainly understood raises Unread: nobody guesses what a script says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from runner.api import Record

MOST = 1 << 20  # characters of a script
DEEPEST = 40  # commands within commands
ARITHMETIC = "(("  # what stands for the name of a parameter in `$((...))`
_BLANKS = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)*")  # continued lines and comments are some
_OPERATOR = re.compile(r"<<-|&&|\|\||;;|<<|>>|<&|>&|<>|>\||[;&|()<>\n]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9]+|[@*#?$!-]")
_OPERATION = re.compile(r"(:?[-=?+]|##?|%%?)")
_KEYWORD = re.compile(r"[a-z]+|[{}!]")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_REDIRECTED = re.compile(r"([0-9]*)(<<-|<<|>>|<&|>&|<>|>\||<|>)")
_PLAIN = re.compile(r"[^ \t\r\n;|&()<>'\"\\$`]*")  # of a word
_PLAIN_QUOTED = re.compile(r"[^\"\\$`]*")  # of what is in double quotes
_IN_BRACES = re.compile(r"[}'\"\\$`\s;|&()<>]")
_ENDING = frozenset((";;", ")", "\n", ";", "&", "|", "&&", "||", ""))
_RESERVED = frozenset(("if", "then", "elif", "else", "fi", "case", "esac", "for", "in"))
_RESERVED |= frozenset(("while", "until", "do", "done", "{", "}", "!"))


class Unread(Exception):
    """What of a script is not understood."""


class Text(Record):
    """A piece of a word that stands for itself."""

    text: str
    quoted: bool


class Expansion(Record):
    """`$name`, `${name}`, `${name:-word}`. operation: what follows the name; "" for none."""

    name: str
    operation: str
    word: Word
    quoted: bool


class Substitution(Record):
    """`$(...)`: what commands print."""

    body: Body
    quoted: bool


class Word(Record):
    """A word, as it is written."""

    parts: tuple[Text | Expansion | Substitution, ...]

    @property
    def literal(self) -> str | None:
        """What it says, where nothing has to be expanded."""
        pieces = [part.text for part in self.parts if isinstance(part, Text)]
        return "".join(pieces) if len(pieces) == len(self.parts) else None


class Redirection(Record):
    """Where a stream goes to or comes from. target: of a here-document its text."""

    stream: str
    operator: str
    target: Word


class Simple(Record):
    """A command of words, with assignments before it."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]


class Pipeline(Record):
    """Commands that read from each other. negated: with `!`."""

    commands: tuple[Command, ...]
    negated: bool


class Chain(Record):
    """Pipelines, each with "&&" or "||" before it ("" before the first)."""

    links: tuple[tuple[str, Pipeline], ...]
    in_background: bool


class If(Record):
    """Conditions with what follows from each; otherwise: of none."""

    branches: tuple[tuple[Body, Body], ...]
    otherwise: Body


class Case(Record):
    """A word, and bodies by patterns."""

    word: Word
    branches: tuple[tuple[tuple[Word, ...], Body], ...]


class For(Record):
    """A body for each word. words: None for the arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Body


class While(Record):
    """A body as long as a condition is met, or (until) is not."""

    condition: Body
    body: Body
    until: bool


class Compound(Record):
    """Commands in braces, or in a subshell."""

    body: Body
    is_subshell: bool


class Function(Record):
    """The definition of one."""

    name: str
    body: Command


class Redirected(Record):
    """A command of several, with redirections."""

    command: Command
    redirections: tuple[Redirection, ...]


Command: TypeAlias = "Simple | If | Case | For | While | Compound | Function | Redirected"
Body = tuple[Chain, ...]


@lru_cache(maxsize=256)  # many scripts source the same ones, and call their functions
def parse(text: str) -> Body:
    """Return the commands of a script. Raises Unread."""
    if len(text) > MOST:
        raise Unread("it is too long")
    parser = _Parser(text)
    body = parser.body(("",))
    if not parser.is_end():
        raise Unread(f"line {parser.line}: {parser.operator()!r}")
    return body


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self._asked_at, self._operator = -1, ""  # where an operator was asked for, and which it is

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def fail(self, what: str) -> Unread:
        return Unread(f"line {self.line}: {what}")

    # -------------------------------------------------- pieces

    def skip(self) -> None:
        """Pass over blanks, continued lines and comments."""
        if self.at != self._asked_at:
            self.matched(_BLANKS)

    def matched(self, pattern: re.Pattern[str]) -> str:
        """Pass over what matches, which may be nothing, and return it."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match[0] if match else ""

    def operator(self) -> str:
        """The operator that comes next; empty where there is none, and at the end."""
        if self.at == self._asked_at:
            return self._operator
        self.skip()
        match = _OPERATOR.match(self.text, self.at)
        self._asked_at, self._operator = self.at, match[0] if match else ""
        return self._operator

    def is_end(self) -> bool:
        self.skip()
        return self.at >= len(self.text)

    def take(self, operator: str) -> None:
        if self.operator() != operator:
            raise self.fail(f"{operator!r} is missing")
        self.at += len(operator)

    def newlines(self) -> None:
        while self.operator() == "\n":
            self.take("\n")

    def keyword(self) -> str:
        """The reserved word that comes next; empty for another word."""
        self.skip()
        match = _KEYWORD.match(self.text, self.at)
        if match is None or match[0] not in _RESERVED:
            return ""
        after = self.text[match.end() : match.end() + 1]
        return match[0] if after == "" or after in " \t\r\n;|&()<>" else ""

    def expect(self, word: str) -> None:
        if self.keyword() != word:
            raise self.fail(f"{word!r} is missing")
        self.at += len(word)

    # -------------------------------------------------- commands

    def body(self, ends: Sequence[str]) -> Body:
        """Commands up to one of some reserved words or operators, or the end of the text ("")."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail("too many commands within commands")
        chains: list[Chain] = []
        while True:
            while self.operator() in ("\n", ";") and self.operator() not in ends:
                self.take(self.operator())
            if self.is_end():
                if "" not in ends:
                    raise self.fail(f"{ends[0]!r} is missing")
                break
            if (self.keyword() or self.operator() or None) in ends:
                break
            chains.append(self.chain())
            if self.operator() not in ("\n", ";", "&"):
                continue
            if self.operator() == "&":
                chains[-1] = chains[-1]._replace(in_background=True)
            self.take(self.operator())
        self.depth -= 1
        return tuple(chains)

    def chain(self) -> Chain:
        links = [("", self.pipeline())]
        while (joint := self.operator()) in ("&&", "||"):
            self.take(joint)
            self.newlines()
            links.append((joint, self.pipeline()))
        return Chain(tuple(links), False)

    def pipeline(self) -> Pipeline:
        negated = False
        while self.keyword() == "!":
            self.expect("!")
            negated = not negated
        commands = [self.command()]
        while self.operator() == "|":
            self.take("|")
            self.newlines()
            commands.append(self.command())
        return Pipeline(tuple(commands), negated)

    def command(self) -> Command:
        forms: dict[str, Callable[[], Command]] = {
            "if": self.conditional,
            "case": self.case,
            "for": self.loop,
            "while": self.repetition,
            "until": self.repetition,
            "{": self.group,
        }
        keyword = self.keyword()
        if keyword in forms:
            command = forms[keyword]()
        elif keyword:
            raise self.fail(f"unexpected {keyword!r}")
        elif self.operator() == "(":
            self.take("(")
            if self.text.startswith("(", self.at):  # with a blank it is a subshell in another
                raise self.fail("arithmetic")
            command = Compound(self.body((")",)), True)
            self.take(")")
        else:
            return self.simple()
        redirections = self.redirections()
        return Redirected(command, redirections) if redirections else command

    def conditional(self) -> If:
        branches: list[tuple[Body, Body]] = []
        otherwise: Body = ()
        word = "if"
        while word in ("if", "elif"):
            self.expect(word)
            condition = self.body(("then",))
            self.expect("then")
            branches.append((condition, self.body(("elif", "else", "fi"))))
            word = self.keyword()
        if word == "else":
            self.expect("else")
            otherwise = self.body(("fi",))
        self.expect("fi")
        return If(tuple(branches), otherwise)

    def case(self) -> Case:
        self.expect("case")
        word = self.word()
        self.newlines()
        self.expect("in")
        branches = []
        self.newlines()
        while self.keyword() != "esac":
            if self.operator() == "(":
                self.take("(")
            patterns = [self.word()]
            while self.operator() == "|":
                self.take("|")
                patterns.append(self.word())
            self.take(")")
            branches.append((tuple(patterns), self.body((";;", "esac"))))
            if self.operator() == ";;":
                self.take(";;")
            self.newlines()
        self.expect("esac")
        return Case(word, tuple(branches))

    def loop(self) -> For:
        self.expect("for")
        name = self.word().literal or ""
        self.newlines()
        words = None
        if self.keyword() == "in":
            self.expect("in")
            found = []
            while self.operator() not in ("\n", ";"):
                found.append(self.word())
            words = tuple(found)
        return For(name, words, self.block())

    def repetition(self) -> While:
        until = self.keyword() == "until"
        self.expect(self.keyword())
        condition = self.body(("do",))
        return While(condition, self.block(), until)

    def block(self) -> Body:
        while self.operator() in ("\n", ";"):
            self.take(self.operator())
        self.expect("do")
        body = self.body(("done",))
        self.expect("done")
        return body

    def group(self) -> Compound:
        self.expect("{")
        body = self.body(("}",))
        self.expect("}")
        return Compound(body, False)

    def simple(self) -> Command:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            if found := self.redirection():
                redirections.append(found)
                continue
            operator = self.operator()
            if operator == "(" and len(words) == 1 and not assignments:
                return self.function(words[0].literal or "")
            if operator in _ENDING and (operator or self.is_end()):
                break
            if operator:
                raise self.fail(f"unexpected {operator!r}")
            named = _ASSIGNED.match(self.text, self.at)
            if named and not words:
                self.at = named.end()
                assignments.append((named[1], self.word(may_be_empty=True)))
            else:
                words.append(self.word())
        if not (assignments or words or redirections):
            raise self.fail("a command is missing")
        return Simple(tuple(assignments), tuple(words), tuple(redirections))

    def function(self, name: str) -> Function:
        self.take("(")
        self.take(")")
        self.newlines()
        return Function(name, self.command())

    # -------------------------------------------------- redirections

    def redirections(self) -> tuple[Redirection, ...]:
        found = []
        while each := self.redirection():
            found.append(each)
        return tuple(found)

    def redirection(self) -> Redirection | None:
        self.skip()
        match = _REDIRECTED.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        stream, operator = match[1], match[2]
        self.skip()
        start = self.at
        word = self.word()
        if not operator.startswith("<<"):
            return Redirection(stream, operator, word)
        if word.literal is None:
            raise self.fail("the end of a here-document")
        is_plain = any(sign in self.text[start : self.at] for sign in "'\"\\")
        text = self.document(word.literal, operator == "<<-")
        parts = (Text(text, True),) if is_plain else tuple(_Parser(text).quoted(""))
        return Redirection(stream, "<<", Word(parts))

    def document(self, end: str, is_indented: bool) -> str:
        """Take a here-document out of the text, where it follows the present line."""
        first = at = self.text.find("\n", self.at) + 1 or len(self.text)
        lines: list[str] = []
        while at < len(self.text):
            line, newline, _ = self.text[at:].partition("\n")
            at += len(line) + len(newline)
            line = line.lstrip("\t") if is_indented else line
            if line == end:
                self.text = self.text[:first] + self.text[at:]
                self._asked_at = -1
                return "".join(lines)
            lines.append(f"{line}\n")
        raise self.fail(f"a here-document without {end}")

    # -------------------------------------------------- words

    def word(self, may_be_empty: bool = False) -> Word:
        if not may_be_empty:
            self.skip()
        parts: list[Text | Expansion | Substitution] = []
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in " \t\r\n;|&()<>":
            parts += self.piece()
        if self.at == start and not may_be_empty:
            raise self.fail("a word is missing")
        return Word(tuple(parts))

    def piece(self) -> list[Text | Expansion | Substitution]:
        sign = self.text[self.at]
        if sign == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise self.fail("an open quote")
            text = self.text[self.at + 1 : end]
            self.at = end + 1
            return [Text(text, True)]
        if sign == '"':
            self.at += 1
            parts = self.quoted('"')
            self.at += 1
            return [Text("", True), *parts]
        if sign == "\\":
            self.at += 2
            text = self.text[self.at - 1 : self.at]
            return [] if text == "\n" else [Text(text, True)]
        if sign in "$`":
            return [self.expansion(False)]
        text = self.matched(_PLAIN)
        return [Text(text, False)]

    def quoted(self, end: str) -> list[Text | Expansion | Substitution]:
        """The parts of what is in double quotes, or of a here-document ("")."""
        parts: list[Text | Expansion | Substitution] = []
        text = ""
        while self.at < len(self.text) and (not end or self.text[self.at] != end):
            sign = self.text[self.at]
            if sign == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                if self.text[self.at + 1] != "\n":
                    text += self.text[self.at + 1]
                self.at += 2
            elif sign in "$`":
                parts += [Text(text, True)] if text else []
                text = ""
                parts.append(self.expansion(True))
            else:
                plain = self.matched(_PLAIN_QUOTED)
                self.at += not plain  # a quote in a document, a backslash that stands for itself
                text += plain or sign
        if end and self.at >= len(self.text):
            raise self.fail("an open quote")
        return [*parts, Text(text, True)] if text else parts

    def expansion(self, quoted: bool) -> Text | Expansion | Substitution:
        if self.text[self.at] == "`":
            return self.backquoted(quoted)
        if self.text.startswith("$((", self.at):
            return self.arithmetic(quoted)
        if self.text.startswith("$(", self.at):
            self.at += 2
            body = self.body((")",))
            self.take(")")
            return Substitution(body, quoted)
        braced = self.text.startswith("${", self.at)
        start = self.at + 1 + braced
        length = braced and self.text.startswith("#", start) and self.text[start + 1] != "}"
        match = _PARAMETER.match(self.text, start + length)
        if match is None:
            self.at += 1
            return Text("$", quoted)
        name = match[0] if braced or not match[0].isdigit() else match[0][0]
        self.at = start + length + len(name)
        if not braced:
            return Expansion(name, "", Word(()), quoted)
        operation, word = "#" if length else "", Word(())
        if found := _OPERATION.match(self.text, self.at):
            operation, self.at = found[0], found.end()
            word = self.in_braces(quoted)
        if length:
            operation = "length"
        if self.text[self.at : self.at + 1] != "}":
            raise self.fail("an expansion")
        self.at += 1
        return Expansion(name, operation, word, quoted)

    def arithmetic(self, quoted: bool) -> Expansion:
        """A number that is calculated. operation: how."""
        self.at += 1
        start, depth = self.at, 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            depth += (sign == "(") - (sign == ")")
            self.at += 1
            if not depth:
                text = self.text[start + 2 : self.at - 2]
                return Expansion(ARITHMETIC, text.strip(), Word(()), quoted)
        raise self.fail("arithmetic")

    def in_braces(self, quoted: bool) -> Word:
        parts: list[Text | Expansion | Substitution] = []
        while self.at < len(self.text) and self.text[self.at] != "}":
            if self.text[self.at] in " \t\n;|&()<>":
                parts.append(Text(self.text[self.at], quoted))
                self.at += 1
                continue
            before = self.at
            text = self.text
            end = text.find("}", self.at)
            if text[self.at] not in "'\"\\$`":
                stop = _IN_BRACES.search(text, self.at)
                self.at = stop.start() if stop else len(text)
                parts.append(Text(text[before : self.at], quoted))
            else:
                parts += self.piece()
            if end < 0:
                raise self.fail("an expansion")
        return Word(tuple(parts))

    def backquoted(self, quoted: bool) -> Substitution:
        end = self.at + 1
        inside = ""
        while end < len(self.text) and self.text[end] != "`":
            if self.text[end] == "\\" and self.text[end + 1 : end + 2] in ("`", "\\", "$"):
                end += 1
            inside += self.text[end]
            end += 1
        if end >= len(self.text):
            raise self.fail("an open backquote")
        self.at = end + 1
        return Substitution(parse(inside), quoted)
