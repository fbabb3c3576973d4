# SPDX-License-Identifier: Apache-2.0
"""The types that a state function's signature may use, beyond str, int, float, bool, list, dict,
Literal and unions.

`arguments.bind` checks and converts what the SLS says to these; a state function receives converted
values only.
"""

from __future__ import annotations

import os.path
import shlex

from runner.model import plain_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Annotated as Annotated
    from typing import Any, TypeVar

    T = TypeVar("T")
    F = TypeVar("F", bound=Callable[..., Any])

    class Alternatives:
        __args__: tuple[Any, ...]

else:
    T, Any = object(), object

    class Annotated:
        """typing.Annotated, for what is declared here: importing typing takes a fifth of the
        instructions of a run without changes.
        """

        __slots__ = ("__metadata__", "__origin__")

        def __init__(self, origin, metadata):
            self.__origin__, self.__metadata__ = origin, metadata

        def __class_getitem__(cls, parts):
            origin, *metadata = parts
            if isinstance(origin, cls):
                return cls(origin.__origin__, (*origin.__metadata__, *metadata))
            return cls(origin, (*metadata,))

        def __getitem__(self, kind):
            """The same of another kind: `Secret[str]`, where this is `Annotated[T, ...]`."""
            return type(self)[_filled(self.__origin__, kind), *self.__metadata__]

        def __or__(self, other):
            return Alternatives(self, other)

        def __ror__(self, other):
            return Alternatives(other, self)

        def __eq__(self, other):
            return isinstance(other, Annotated) and _parts(self) == _parts(other)

        def __hash__(self):
            return hash(_parts(self))

        def __repr__(self):
            return f"Annotated[{', '.join(map(repr, (self.__origin__, *self.__metadata__)))}]"

        __call__ = None  # typing takes what may be called for a type

    class Alternatives:
        """typing.Union, where one of its types is an Annotated of here."""

        __slots__ = ("__args__",)
        __or__, __ror__ = Annotated.__or__, Annotated.__ror__

        def __init__(self, *types):
            unions = (Alternatives, type(str | int))
            every = (
                each.__args__
                if isinstance(each, unions)
                else (type(None) if each is None else each,)
                for each in types
            )
            self.__args__ = tuple(dict.fromkeys(each for several in every for each in several))

        def __eq__(self, other):
            return isinstance(other, Alternatives) and {*self.__args__} == {*other.__args__}

        def __hash__(self):
            return hash(frozenset(self.__args__))

        def __repr__(self):
            return " | ".join(map(repr, self.__args__))

        __call__ = None

    def _parts(annotated):
        return annotated.__origin__, annotated.__metadata__

    def _filled(origin, kind):
        return kind if origin is T else origin.__origin__[kind]


class Check:
    """Annotated[T, Check(f)]: a value that passes a check.

    problem: takes the value and returns None, or the mistake. hint: what to write instead.

    >>> Port = Annotated[int, Check(lambda port: None if port > 0 else "expected a port")]
    """

    __slots__ = ("hint", "problem")

    def __init__(self, problem: Callable[[Any], str | None], hint: str = "") -> None:
        self.problem = problem
        self.hint = hint


class NotEmpty(Check):
    """Annotated[str, NotEmpty()]: a text with something in it; an optional one may be empty, which
    says nothing.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            lambda text: None if text.strip() else "expected a value that is not empty",
            "a variable of a template may be empty: write the value, or leave the state out with"
            " `{% if ... %}`",
        )


class CheckUnless(Check):
    """Annotated[T, CheckUnless("other", f)]: a value that passes a check, unless the argument
    `other` of the same state is true.
    """

    __slots__ = ("other",)

    def __init__(self, other: str, problem: Callable[[Any], str | None], hint: str = "") -> None:
        super().__init__(problem, hint)
        self.other = other


class Munge:
    """Annotated[T, Munge(f)]: f(value) returns the value to use; it runs after the checks.

    >>> Lower = Annotated[str, Munge(str.lower)]
    """

    __slots__ = ("convert",)

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self.convert = convert


class Pattern:
    """Annotated[str, Pattern(r"[a-z]+")]: a text that a regular expression matches as a whole.

    title: the name of such a text in messages; by default "text like EXPRESSION".
    """

    __slots__ = ("expression", "title")

    def __init__(self, expression: str, title: str = "") -> None:
        self.expression = expression
        self.title = title or f"text like {expression}"


class requires_feature:
    """The features that a provider needs for an argument to be used; on a function, for the
    function.

    Annotated[T, requires_feature("name", ...)], or @requires_feature("name", ...).
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, function: F) -> F:
        function.__dict__["required_features"] = self.names
        return function


class Added:
    """An argument that a decorator adds to a state function, in its `adds`.

    >>> call.__dict__["adds"] = {"validate": Added(str | None, None, "A command that ...")}
    """

    __slots__ = ("annotation", "default", "description")

    def __init__(self, annotation: Any, default: Any, description: str) -> None:
        self.annotation = annotation
        self.default = default
        self.description = description


class Group:
    """`connection: Annotated[Server, Group({"db_host": "host"})] = Server()`, of a function for
    users: a Record whose fields are arguments of their own. They have the types of the fields,
    their sentences in its docstring, and the values of the default; the function gets them as one.

    names: the fields by what an SLS calls them, in the order of the page; without it all of them,
    by their own names.
    """

    __slots__ = ("names",)

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names


class NameVar:
    """Annotated[T, NameVar()]: this parameter, not `name`, is what identifies the thing; it
    defaults to the ID.
    """


class Form:
    """The form of a value: read by the binder, JSON Schema and the documentation."""

    __slots__ = ("parse", "title")

    def __init__(self, title: str, parse: Callable[[Any], Any]) -> None:
        self.title = title
        self.parse = parse  # raises ValueError(what is wrong)


class Leftover:
    """`**rest: Leftovers`: other arguments are variables of the template that the state renders.

    An argument that the template does not use is reported as unknown: it is probably mistyped.
    """


class Named:
    """`**options: Annotated[T, Named(f)]`: f(name) returns whether there is such an option; others
    are reported as unknown.

    every: the names of all of them; then one that is nearly one of these is an error.
    """

    __slots__ = ("every", "known")

    def __init__(self, known: Callable[[str], bool], every: Iterable[str] = ()) -> None:
        self.known = known
        self.every = tuple(every)


class Spelled:
    """What is in the value, at any depth, becomes text as it is: YAML should not read it as
    something else.
    """


class Hidden:
    """The value is a secret: it appears in no output, log or history."""


class Expected(ValueError):
    """A value is something else than expected. title: what it takes, in words."""

    def __init__(self, title: str):
        super().__init__(f"expected {title}")
        self.title = title


class NotAbsolute(ValueError):
    """A path that begins nowhere: Salt lets the state fail. user: whose home folder it begins with,
    when there is no such user (yet).
    """

    def __init__(self, value: str):
        super().__init__(f"Specified file {value} is not an absolute path")
        self.user = value[1:].partition("/")[0] if value.startswith("~") else ""


def _absolute(value: object) -> str:
    if not isinstance(value, str):
        raise Expected("an absolute path")
    if value.startswith("~"):
        value = with_home(value)
    if not value.startswith("/"):
        raise NotAbsolute(value)
    if "\0" in value:
        raise ValueError("a path cannot contain a NUL character")
    return value


def _mode(value: object) -> str:
    """The octal spelling with a leading zero and no others: 644, "0644" and 0o644 (as YAML reads
    0644) are "0644".
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Expected("a file mode like '0644'")
    text = str(value).removeprefix("0o").lstrip("0") or "0"
    if not (set(text) <= set("01234567") and len(text) <= 4):
        raise ValueError(
            f"{value!r} is not a file mode; expected up to four octal digits like '0644'"
        )
    return text.rjust(3, "0").rjust(4, "0")


def _one_or_many(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _control_character(text: str) -> int | None:
    """The place of the first character that would end a line, or that no line has (a tab may be in
    one).
    """
    if text.isprintable():
        return None
    for place, letter in enumerate(text):
        number = ord(letter)
        if (number < 32 and letter != "\t") or 127 <= number < 160 or letter in "\u2028\u2029":
            return place
    return None


def line_problem(value: str) -> str | None:
    """The reason why a text is not one line, without the text itself; line ends behind it (YAML's
    `|`) do not count.
    """
    text = value.rstrip("\r\n")
    place = _control_character(text)
    if place is None:
        return None
    ends_line = text[place] in "\r\n\u0085\u2028\u2029"
    what = "a line end" if ends_line else f"a control character (U+{ord(text[place]):04X})"
    return f"expected one line, and there is {what} behind the first {place} characters"


def name_problem(value: str) -> str | None:
    """The reason why a text is no name for the arguments of a program, without the text itself."""
    if value.startswith("-"):
        return "expected a name, and one that begins with a hyphen is an option to programs"
    return line_problem(value)


def _file_problem(path: str) -> str | None:
    return "expected a file, and a path that ends with / is a folder" if path[-1:] == "/" else None


def _service_problem(value: str) -> str | None:
    return None if value in ("-.mount", "-.slice") else name_problem(value)


def unknown_encoding(name: str) -> str | None:
    """What is wrong with the name of an encoding of texts; None for nothing, and for no name."""
    try:
        b"x".decode(name or "utf-8", "replace")
    except (LookupError, ValueError):  # a name that is too long, a NUL character
        return f"unknown encoding: {name[:40]}"
    return None


def word_problem(value: Any) -> str | None:
    """The reason why something is no word for a program, or has a text in it that is none: C ends
    texts at a NUL character.
    """
    nul = any("\0" in text for text in plain_values.texts_in(value))
    return "there is a NUL character in it, which no program can be given" if nul else None


def column_problem(value: str) -> str | None:
    """The reason why a text is no column of a line whose columns have blanks between them."""
    if len(value.split()) < 2:
        return None
    return "expected one word, and there is a blank in it, which would begin the next column"


def words_problem(value: str) -> str | None:
    """The reason why a text cannot be split into words, as a shell does it."""
    try:
        shlex.split(value)
    except ValueError as problem:
        return f"it cannot be split into words: {problem}"
    return None


def duration_problem(value: float) -> str | None:
    """The reason why a number is no duration: NaN and infinity are none, nor can the kernel wait
    for ages.
    """
    fits = 0 <= value <= plain_values.LONGEST_TIME
    return None if fits else f"expected a duration from 0 to {plain_values.LONGEST_TIME}"


def without_end(value: str) -> str:
    """A line without the line ends behind it."""
    return value.rstrip("\r\n")


ONE_LINE = (
    "what follows a line end would be a line of its own in the file, or an order of its own to a"
    " program"
)
PLAIN_NAME = "a name goes to programs, which would take it for an option, or for several names"
# no line end or control character in it
Line = Annotated[str, Check(line_problem, ONE_LINE), Munge(without_end)]
NonEmptyLine = Annotated[Line, NotEmpty()]
# blanks at the ends mean nothing, and are not read back
Trimmed = Annotated[Line, Munge(str.strip)]
# whose words are read one by one, whatever space lies between them
WordsLine = Annotated[Line, Munge(lambda text: " ".join(text.split()))]
# a Line that is never taken for an option
NameOrEmpty = Annotated[str, Check(name_problem, PLAIN_NAME), Munge(without_end)]
Name = Annotated[NameOrEmpty, NotEmpty()]
# a Name, or one of the two units that systemd itself has named like an option
ServiceName = Annotated[str, Check(_service_problem, PLAIN_NAME), Munge(without_end), NotEmpty()]
# a word of a line in a file, between blanks
Column = Annotated[Name, Check(column_problem, "blanks at its ends do not count"), Munge(str.strip)]
# between a name and its value; spaces may be one
Separator = Annotated[
    Line, Check(lambda text: None if text else "expected a separator, and this text is empty")
]
_ENCODINGS = "one of Python's: utf-8, utf-16, ascii, latin-1, iso8859-15, cp1252, ..."
TextEncoding = Annotated[str, Check(unknown_encoding, _ENCODINGS)]
Word = Annotated[T, Check(word_problem)]  # what programs are started with
ShellWords = Annotated[str, Check(words_problem)]  # options in one text
Leftovers = Annotated[Any, Leftover()]
TreeFolder = Annotated[str, Form("salt:// folder", str)]
AbsolutePath = Annotated[str, Form("absolute path", _absolute)]
# of what is no folder
FilePath = Annotated[
    AbsolutePath,
    Check(_file_problem, "write the file's name behind it; file.directory makes folders"),
]
Mode = Annotated[str, Form("file mode", _mode)]  # always four octal digits: "0644", "4755"
Secret = Annotated[T, Hidden()]
AsText = Annotated[T, Spelled()]
# in the unit that the argument says: Duration[int], Duration[float]
Duration = Annotated[T, Check(duration_problem)]
OneOrMany = Annotated[list[T], Form("one or a list", _one_or_many)]  # `a` is taken for `[a]`


class _AskedHome:
    times = 0


def with_home(path: str) -> str:
    """A path with the home folder of a user in place of ~ or ~USER at its beginning, if there is
    such a user. What it gives depends on the machine, so what is made of it is not kept for other
    runs.

    >>> with_home("/srv/www")
    '/srv/www'
    """
    _AskedHome.times += 1
    return os.path.expanduser(path)


def times_asked() -> int:
    """Return how often this process has asked for a home folder."""
    return _AskedHome.times
