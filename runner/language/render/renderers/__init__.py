# SPDX-License-Identifier: Apache-2.0
"""The renderers of a pipe, by name: (value, scope, arguments of the shebang) -> value."""

from __future__ import annotations

import importlib

from runner.language.render.renderers import (
    encrypted,
    files,
    mako,
    pydsl,
    pyobjects,
    python,
    sops,
    stateconf,
    yamlex,
)
from runner.language.render.steps import CIPHERS, SOPS
from runner.model.errors import RenderError
from runner.model.places import Place, Source, Untyped, Value
from runner.support.yaml.rendered_text import Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from runner.language.render import Scope
    from runner.language.render.renderers.encrypted import Cipher

_SOPS_VALUE = "ENC[AES256_GCM,"  # what a value begins with that sops encrypted

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
    return scope.renderer.yaml(text, scope)


def _yamlex(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return yamlex.load(text.text, text)


def _toml(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return files.load_toml(text.text, text)


def _json(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return files.load_json(text.text, text) if text.text.strip() else {}


def _decrypting(name: str) -> Callable[[Any, Scope, Arguments], Any]:
    def decrypted(value: Any, scope: Scope, arguments: Arguments) -> Any:
        made = encrypted.Decryptor(cipher(name, scope.renderer.opts), scope.renderer.secret)
        if isinstance(value, Rendered):
            return made.document(value)
        return made.data(value, encrypted.place_of(value, Place(Untyped(scope.path), 1, 1)))

    return decrypted


def cipher(name: str, opts: Mapping[str, Any]) -> Cipher:
    """One of CIPHERS, as the configuration says."""
    made: Cipher = importlib.import_module(f"runner.language.render.renderers.{name}").cipher(opts)
    return made


def is_sops_file(text: str) -> bool:
    """Return whether a text looks as sops writes it."""
    return _SOPS_VALUE in text and ("\nsops:" in text or '"sops"' in text) and "mac" in text


def _sops(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    value = sops.decrypted(text, scope)
    if isinstance(value, Rendered):
        steps, rest = scope.renderer.pipe(value.text, scope.path)
        value = scope.renderer.render_pipe(steps, Rendered(rest, scope.path), scope)
        sops.hide(value, scope.renderer.secret)
    return value


def _py(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return python.run(text.text, scope)


def _mako(text: Rendered, scope: Scope, arguments: Arguments) -> Rendered:
    return mako.rendered(text.text, scope)


def _pyobjects(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return pyobjects.run(text.text, scope)


def _pydsl(text: Rendered, scope: Scope, arguments: Arguments) -> Value:
    return pydsl.run(text.text, scope)


def _stateconf(value: Any, scope: Scope, arguments: Arguments) -> Value:
    return stateconf.states(value, scope, arguments)


_STAGES: dict[str, Callable[[Any, Scope, Arguments], Any]] = {
    "jinja": _jinja,
    "yaml": _yaml,
    "yamlex": _yamlex,
    "toml": _toml,
    "json": _json,
    **{name: _decrypting(name) for name in CIPHERS},
    SOPS: _sops,
    "py": _py,
    "mako": _mako,
    "pydsl": _pydsl,
    "pyobjects": _pyobjects,
    "stateconf": _stateconf,
}
