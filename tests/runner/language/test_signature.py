# SPDX-License-Identifier: Apache-2.0
"""Arguments: checked, converted, and everything wrong with them said at once."""

import enum
from inspect import signature
from typing import Annotated, Any, Literal

import pytest
from command import Machine

from runner.api import (
    AbsolutePath,
    Check,
    Group,
    Hidden,
    Mode,
    Munge,
    Named,
    NameVar,
    OneOrMany,
    Pattern,
    Record,
    Secret,
    argtypes,
)
from runner.language.arguments.bind import bind, json_schema, known
from runner.language.arguments.schema import callable_flat, flat, schema_of
from runner.model.errors import CompileError, RunnerError
from runner.model.places import Place, PlacedMap, Untyped

COLOUR = Literal["blue", "red"] | Annotated[str, Pattern(r".+")]
SHADE = Annotated[
    Annotated[str, Pattern(r"\w+", "a colour")],
    Check(lambda value: "green ones are too slow" if value == "green" else None),
    Munge(lambda value: "purple" if value in ("mauve", "violet") else value),
]
HERE = Place(Untyped("a.sls"), 3, 5)


class Shade(enum.Enum):
    """How bright a colour is."""

    DARK = "dark"
    BRIGHT = "bright"


def converted(annotation: Any, value: Any) -> Any:
    def function(name: str, x: Any = "default") -> None: ...

    function.__annotations__["x"] = annotation
    return bind(function, {"name": "n", "x": value}, places={}, default_place=HERE).arguments.get(
        "x", "not given"
    )


def test_what_states_declare_is_what_typing_makes_of_it() -> None:
    """`argtypes` has an Annotated of its own, which a start need not import typing for."""
    line, name = argtypes.Annotated[str, Munge(str.strip)], Named(frozenset(("a",)))
    nested = argtypes.Annotated[line, name]
    assert nested == argtypes.Annotated[str, line.__metadata__[0], name]
    assert hash(nested) == hash(argtypes.Annotated[str, line.__metadata__[0], name])
    assert nested != line
    assert converted(line, " a ") == converted(Annotated[line, Hidden()], " a ") == "a"
    assert converted(line | None, None) is None
    assert converted(None | line, " a ") == "a"
    assert converted(list[line], [" a ", "b"]) == ["a", "b"]
    assert converted(Secret[list[int]], ["1"]) == [1]
    assert converted(OneOrMany[int], "1") == [1]
    assert repr(line).startswith("Annotated[<class 'str'>, <runner.api.argtypes.Munge")


def test_names_for_type_checkers_alone_are_known_in_signatures() -> None:
    def function(x: Any, y: Any) -> None: ...

    function.__annotations__["x"] = "Literal['a'] | Mapping[str, int] | None"
    function.__annotations__["y"] = "Literal['a'] | Mapping[str, Unheard] | None"
    titles = {name: item.shape.title for name, item in schema_of(function).parameters.items()}
    assert titles == {"x": "'a' or a mapping", "y": "anything"}


@pytest.mark.parametrize(
    "annotation", ["{}['x']", "1 / 0", "Any[", "str.x", "int | 'x'", "Mapping | 1"]
)
def test_an_annotation_that_means_nothing_accepts_anything(annotation: str) -> None:
    def function(x: Any) -> None: ...

    function.__annotations__["x"] = annotation
    assert schema_of(function).parameters["x"].shape.title == "anything"


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (str, 5, "5"),
        (str, True, "True"),
        (str, None, "not given"),
        (str | None, None, None),
        (int, "12", 12),
        (int, 3.0, 3),
        (float, "1.5", 1.5),
        (bool, "yes", True),
        (bool, "True", True),
        (bool, 0, False),
        (bool, "off", False),
        (bool, None, "not given"),
        (Mode, 644, "0644"),
        (Mode, "0644", "0644"),
        (Mode | None, "4755", "4755"),
        (AbsolutePath, "/a", "/a"),
        (OneOrMany[str], "a", ["a"]),
        (OneOrMany[str], [1, "b"], ["1", "b"]),
        (list[int], ["1"], [1]),
        (dict[str, str], [{"a": 1}, {"b": 2}], {"a": "1", "b": "2"}),
        (dict[str, Any], {1: [2]}, {"1": [2]}),
        (Literal["a", "yes"], True, "yes"),
        (Literal[True, "hard"], "hard", "hard"),
        (str | list[str], ["a"], ["a"]),
        (bool | str, True, True),
        (bool | str, "yes", "yes"),
        (int | list[int] | None, "4", 4),
        (Annotated[str, Munge(str.upper)], "a", "A"),
        (COLOUR, "Blue", "blue"),  # a literal, before the pattern
        (COLOUR, "green", "green"),
        (Annotated[str, Pattern(r".+")] | Literal["blue"], "BLUE", "blue"),
        (Annotated[str, Pattern(r"\d+")] | Annotated[str, Pattern(r"[a-z]+")], "x", "x"),
        (SHADE, "mauve", "purple"),
        (SHADE, "red", "red"),
        (OneOrMany[SHADE], "violet", ["purple"]),
        *((bool, word, True) for word in ("true", "YES", "On", "y", "t", "1", 1)),
        *((bool, word, False) for word in ("False", "no", "OFF", "n", "f", "0", 0)),
        (list, ("a", 1), ["a", 1]),
        (dict, [{"a": 1}], {"a": 1}),
        (Shade, "Dark", Shade.DARK),
        (int, "__slot__:salt:f()", "__slot__:salt:f()"),
        (list[str], "__slot__:salt:f()", "__slot__:salt:f()"),
        (Any, PlacedMap(Untyped("x"), (1, 1)), {}),
    ],
)
def test_converts(annotation: Any, value: Any, expected: Any) -> None:
    got = converted(annotation, value)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (bool, "perhaps", "x: expected true or false, got 'perhaps'"),
        (int, True, "expected a whole number, got true"),
        (Mode, "rw", "not a file mode"),
        (AbsolutePath, "a", "is not an absolute path"),
        (str, ["a"], "expected text, got a list"),
        (list[str], "a", "expected a list of text, got 'a'"),
        (list[int], [1, "b"], r"x\[1\]: expected a whole number, got 'b'"),
        (dict[str, int], {"k": "v"}, r"x\['k'\]: expected a whole number"),
        (Literal["a", "b"], "c", "expected one of 'a', 'b', got 'c'"),
        (int | list[int], {}, "expected a whole number or a list of whole numbers, got a mapping"),
        (Shade, "blue", "expected one of 'dark', 'bright', got 'blue'"),
        (list[int] | bool, ["a"], r"x\[0\]: expected a whole number, got 'a'"),
        (str | dict[SHADE, str], {"green": "a"}, "x: green ones are too slow"),
        (SHADE, "green", "x: green ones are too slow"),
        (SHADE, "a b", "x: expected a colour, got 'a b'"),
        (OneOrMany[SHADE], ["red", "-"], r"x\[1\]: expected a colour, got '-'"),
        (
            Annotated[Literal["a", "b"], Check(lambda v: "no b" if v == "b" else None)],
            "b",
            "x: no b",
        ),
        (
            Annotated[Literal["a", "b"], Check(lambda v: None), Munge(str.upper)],
            "c",
            "expected one of 'a', 'b'",
        ),
        (Annotated[str, Check(lambda v: "too short" if len(v) < 2 else None)], "a", "x: too short"),
    ],
)
def test_says_what_is_wrong(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        converted(annotation, value)


def sample(
    name: str,
    target: AbsolutePath,
    global_: bool = False,
    dir_mode: Mode | None = None,
    password: Secret[str] = "",
) -> None:
    """A sample."""


def test_everything_at_once_with_places() -> None:
    document = Untyped("b.sls")
    places = {"dir_mode": Place(document, 7, 9), "dirmode": Place(document, 8, 9)}
    given = {"name": "n", "dir_mode": "rw", "global": "maybe"}
    with pytest.raises(CompileError) as error:
        bind(sample, given, places=places, default_place=HERE, where="my.sample")
    told = [
        (problem.message.split(", got")[0], str(problem.source))
        for problem in error.value.diagnostics
    ]
    assert told == [
        (
            (
                "my.sample: dir_mode: 'rw' is not a file mode; expected up to four octal digits"
                " like '0644'"
            ),
            "b.sls:7:9",
        ),
        ("my.sample: global: expected true or false", "a.sls:3:5"),
        ("my.sample: the argument 'target' is missing", "a.sls:3:5"),
    ]


def test_a_missing_argument_is_named_beside_another_that_begins_like_it(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name: str, pkg: str, pkgs: str = '') -> str:\n    'A box.'\n    return 'made'\n"
    )
    machine.write(a="x:\n  box.made:\n    - pkgs: a\ny:\n  box.made:\n    - pkgss: a\n")
    error = machine("sls", "a", code=1).stderr
    assert error.count("error: box.made: the argument 'pkg' is missing") == 2
    assert "box.made has no argument 'pkgss'" in error and "did you mean 'pkgs'?" in error


def test_unknown_arguments_are_told_not_dropped_silently() -> None:
    given = {
        "name": "n",
        "target": "/a",
        "dirmode": 755,
        "onlyif": "true",
        "reload": True,
        "__env__": "x",
        "cwd": "/",
    }
    bound = bind(
        sample,
        given,
        places={},
        default_place=HERE,
        extra_known=frozenset(["reload"]),
        where="my.sample",
    )
    assert [(item.message, item.hint, item.severity) for item in bound.unknown] == [
        (
            "my.sample has no argument 'dirmode'; it is ignored",
            "did you mean 'dir_mode'?",
            "warning",
        )
    ]
    assert bound.arguments == {"name": "n", "target": "/a"}


def test_a_secret_is_collected_and_never_shown() -> None:
    given = {"name": "n", "target": "/a", "password": "hunter2", "global": "on"}
    bound = bind(sample, given, places={}, default_place=HERE)
    assert bound.secrets == ("hunter2",)
    assert bound.arguments["global_"] is True
    with pytest.raises(CompileError) as error:
        bind(sample, {**given, "password": ["hunter2"]}, places={}, default_place=HERE)
    assert "hunter2" not in str(error.value)


def test_the_name_var_defaults_to_the_name() -> None:
    def function(path: Annotated[str, NameVar()], other: int = 1) -> None: ...

    assert bind(function, {"name": "n"}, places={}, default_place=HERE).arguments == {"path": "n"}
    assert bind(function, {"name": "n", "path": "p"}, places={}, default_place=HERE).arguments == {
        "path": "p"
    }


def test_open_arguments() -> None:
    def typed(name: str, **rule: int) -> None: ...

    def classic(name, **kwargs):  # type: ignore[no-untyped-def]
        ...

    given = {"name": "n", "port": "80", "onlyif": "true", "cwd": "/"}
    assert bind(typed, given, places={}, default_place=HERE).arguments == {"name": "n", "port": 80}
    taken = bind(classic, given, places={}, default_place=HERE).arguments
    assert taken == {"name": "n", "port": "80", "cwd": "/"}


def test_open_arguments_whose_names_are_known() -> None:
    def card(
        name: str, **options: Annotated[int, Named(lambda key: key in ("speed", "rx-ring"))]
    ) -> None: ...

    given = {"name": "eth0", "speed": "100", "sped": 1, "rx-ring": 2, "onlyif": "true"}
    found = bind(card, given, places={}, default_place=HERE, where="net.card")
    assert found.arguments == {"name": "eth0", "speed": 100, "rx-ring": 2}
    assert [each.message for each in found.unknown] == [
        "net.card has no argument 'sped'; it is ignored"
    ]


class Login(Record):
    """Where to log in."""

    host: str | None = None
    port: int = 1
    password: Secret[str] | None = None
    shell: str | None = "sh"


def default_of(values: dict[str, Any]) -> Any:
    found = bind(greet, {"name": "n", **values}, places={}, default_place=HERE)
    return flat(greet)(**found.arguments)


def greet(name: str, login: Annotated[Login, Group()] = Login("here")) -> str | None:
    return login.host


def test_nothing_is_the_value_of_the_default_where_that_is_not_the_one_of_the_class() -> None:
    assert (default_of({}), default_of({"host": None}), default_of({"host": "x"})) == (
        "here",
        "here",
        "x",
    )
    assert json_schema(greet)["properties"]["host"] == {"type": "string", "default": "here"}
    assert json_schema(greet)["properties"]["password"]["anyOf"] == [
        {"type": "string"},
        {"type": "null"},
    ]
    assert json_schema(greet)["properties"]["shell"]["default"] == "sh"
    found = bind(greet, {"name": "n", "shell": None}, places={}, default_place=HERE)
    assert found.arguments == {"name": "n", "shell": None}


Connection = Annotated[Login, Group({"db_pass": "password", "db_port": "port"})]


def query(name: str, login: Connection = Login("here", 2), times: int = 1) -> tuple[Any, ...]:
    return name, login, times


def test_a_group_is_several_arguments_for_an_sls_and_one_value_for_the_function() -> None:
    assert list(schema_of(query).parameters) == ["name", "db_pass", "db_port", "times"]
    properties = json_schema(query)["properties"]
    assert properties["db_port"] == {"type": "integer", "default": 2}
    assert properties["db_pass"]["writeOnly"] is True
    found = bind(query, {"name": "n", "db_pass": "p", "login": 1}, places={}, default_place=HERE)
    assert (found.arguments, found.secrets) == ({"name": "n", "db_pass": "p"}, ("p",))
    assert [each.subject for each in found.unknown] == ["login"]
    called = flat(query)
    assert called(**found.arguments) == ("n", Login("here", 2, "p"), 1)
    assert called(name="n", times=3) == ("n", Login("here", 2), 3)
    assert (flat(called), flat(query), flat(sample)) == (called, called, sample)
    with pytest.raises(CompileError, match="query: db_port: expected a whole number, got 'x'"):
        bind(query, {"name": "n", "db_port": "x"}, places={}, default_place=HERE)


def test_a_call_gives_the_arguments_of_a_group_by_their_names_or_places() -> None:
    called = callable_flat(query)
    assert list(signature(called).parameters) == ["name", "db_pass", "db_port", "times"]
    assert called("n", "p", 5, 3) == ("n", Login("here", 5, "p"), 3)
    assert called("n", times=3, db_port=5) == ("n", Login("here", 5), 3)
    assert called("n") == ("n", Login("here", 2), 1)
    assert callable_flat(sample) is sample
    with pytest.raises(TypeError, match="unexpected keyword argument 'login'"):
        called("n", login=1)
    with pytest.raises(TypeError, match="too many positional arguments"):
        called("n", "p", 5, 3, 4)


def several(*names: str, login: Connection = Login(), **more: int) -> tuple[Any, ...]:
    return names, login, more


def test_a_call_has_a_group_behind_any_number_of_arguments() -> None:
    assert callable_flat(several)("a", "b", db_port=2, x=3) == (
        ("a", "b"),
        Login(port=2),
        {"x": 3},
    )


def test_all_fields_of_a_group_are_arguments_by_their_own_names() -> None:
    def function(name: str, login: Annotated[Login, Group()] = Login()) -> Login:
        return login

    assert known(function) == {"name", *Login._fields}
    assert flat(function)(name="n", host="there") == Login("there")


def test_nothing_for_an_argument_of_a_group_is_its_default_in_each_state() -> None:
    def function(name: str, login: Annotated[Login, Group()] = Login("here")) -> Login:
        return login

    for _ in range(2):
        found = bind(function, {"name": "n", "host": None}, places={}, default_place=HERE)
        assert flat(function)(**found.arguments) == Login("here")


def test_a_group_has_a_default() -> None:
    def function(name: str, login: Connection) -> None: ...

    with pytest.raises(RunnerError, match="a group of arguments has a Login as its default"):
        json_schema(function)


def test_known_and_schema() -> None:
    assert known(sample) == {"name", "target", "global", "dir_mode", "password"}
    schema = json_schema(sample)
    assert schema["required"] == ["target"]
    assert schema["properties"]["global"] == {"type": "boolean", "default": False}
    assert schema["properties"]["password"]["writeOnly"] is True
    assert schema["description"] == "A sample."


def test_the_class_will_do_as_name_variable() -> None:
    def function(path: Annotated[AbsolutePath, NameVar], other: int = 1) -> None: ...

    assert bind(function, {"name": "/id"}, places={}, default_place=HERE).arguments == {
        "path": "/id"
    }
    given = {"name": "an id", "path": "/p"}
    assert bind(function, given, places={}, default_place=HERE).arguments == {"path": "/p"}
    assert "required" not in json_schema(function)
    with pytest.raises(CompileError, match="an id is not an absolute path"):
        bind(function, {"name": "an id"}, places={}, default_place=HERE)


def test_there_is_one_name_variable() -> None:
    def function(path: Annotated[str, NameVar], id: Annotated[str, NameVar]) -> None: ...

    with pytest.raises(RunnerError, match="function has 2 name variables: path, id"):
        bind(function, {"name": "x"}, places={}, default_place=HERE)


def test_patterns_are_in_the_schema() -> None:
    def function(name: str, shade: SHADE = "red", colour: COLOUR = "red") -> None: ...

    found = json_schema(function)["properties"]
    assert found["shade"] == {"type": "string", "pattern": r"^(?:\w+)$", "default": "red"}
    assert found["colour"]["anyOf"][0] == {"enum": ["blue", "red"]}


def test_a_required_argument_that_is_misspelt_is_a_mistake() -> None:
    given = {"name": "n", "tagret": "/x", "odd": 1}
    with pytest.raises(CompileError) as error:
        bind(sample, given, places={}, default_place=HERE)
    told = [(problem.subject, problem.severity) for problem in error.value.diagnostics]
    assert told == [("tagret", "error"), ("odd", "warning")]


def test_what_is_wrong_deep_inside_is_named() -> None:
    with pytest.raises(CompileError, match=r"x\['a'\]\[0\]\['b'\]: expected a whole number"):
        converted(dict[str, list[dict[str, int]]], [{"a": [{"b": "many"}]}])


def test_a_union_means_the_same_in_any_order() -> None:
    one = Annotated[str, Munge(str.upper)]
    assert (converted(one | list[str], "a"), converted(list[str] | one, "a")) == ("A", "A")
    for union in (str | list[str], list[str] | str):
        with pytest.raises(CompileError, match="expected text or a list of text, got a mapping"):
            converted(union, {})
