"""The renderers of a pipe, by name: (value, scope, arguments of the shebang) -> value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.model.errors import RenderError
from runner.model.places import Place, Source, Untyped, Value
from runner.yaml.rendered_text import Rendered

if TYPE_CHECKING:
    from runner.render import Scope

Arguments = tuple[str, ...]


def stage(name: str) -> Callable[[Any, Scope, Arguments], Any]:
    """The renderer of a name."""
    return _STAGES[name]


def _jinja(text: Rendered, scope: Scope, arguments: Arguments) -> Rendered:
    if arguments and arguments != ("-s",):
        hint = "renderers are separated by |, as in `#!jinja|yaml`"
        raise RenderError(
            f"the renderer jinja takes no argument {' '.join(arguments)!r}",
            Source(scope.path, 1),
            hint,
        )
    return scope.renderer.jinja(text, scope)


def _yaml(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.yaml.load import load

    return load(text.text, text)


def _yamlex(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.yamlex import load

    return load(text.text, text)


def _toml(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.files import load_toml

    return load_toml(text.text, text)


def _json(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.files import load_json

    return load_json(text.text, text) if text.text.strip() else {}


def _gpg(value: Any, scope: Scope, arguments: Arguments) -> Any:
    from runner.render.renderers.gpg import decryptor, place_of

    made = decryptor(scope.renderer.opts, scope.renderer.secret)
    if isinstance(value, Rendered):
        return made.document(value)
    return made.data(value, place_of(value, Place(Untyped(scope.path), 1, 1)))


def _py(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.python import run

    return run(text.text, scope)


def _mako(text: Rendered, scope: Scope, arguments: Arguments) -> Rendered:
    from runner.render.renderers.mako import rendered

    return rendered(text.text, scope)


def _pyobjects(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.pyobjects import run

    return run(text.text, scope)


def _pydsl(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.pydsl import run

    return run(text.text, scope)


def _stateconf(value: Any, scope: Scope, arguments: Arguments) -> Value:
    from runner.render.renderers.stateconf import states

    return states(value, scope, arguments)


_STAGES: dict[str, Callable[[Any, Scope, Arguments], Any]] = {
    "jinja": _jinja,
    "yaml": _yaml,
    "yamlex": _yamlex,
    "toml": _toml,
    "json": _json,
    "gpg": _gpg,
    "py": _py,
    "mako": _mako,
    "pydsl": _pydsl,
    "pyobjects": _pyobjects,
    "stateconf": _stateconf,
}
