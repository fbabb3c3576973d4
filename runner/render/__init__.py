"""SLS files and templates -> values and texts: the pipe that a file's `#!` line names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from runner.errors import RenderError
from runner.model import Place, Source, Untyped, Value
from runner.render.jinja import Find, Jinja, read_text
from runner.render.linemap import Rendered

RENDERERS = ("jinja", "yaml", "json", "py", "gpg", "mako")
NOT_HERE = ("pyobjects", "stateconf", "pydsl", "cheetah", "genshi", "wempy", "nacl", "pass", "toml", "aws_kms", "dson")
LARGEST = 16 * 1024 * 1024  # bytes of one SLS


class Renderer:
    """Renders SLS files and templates; everything it needs of the run is handed to it."""

    def __init__(
        self,
        find: Find,
        salt: Any,
        grains: Callable[[], Mapping[str, Any]],
        pillar: Callable[[], Mapping[str, Any]],
        opts: Mapping[str, Any],
        root_of: Callable[[str], str | None] = lambda path: None,
        cache_dir: str | None = None,
        secret: Callable[[str], None] = lambda value: None,
    ) -> None:
        """find: of the tree. salt: the functions. grains, pillar: asked when a template is rendered.

        secret: is told what was decrypted.
        """
        self._find = find
        self._salt = salt
        self._grains = grains
        self._pillar = pillar
        self._opts = opts
        self._root_of = root_of
        self._cache_dir = cache_dir
        self._secret = secret

    @cached_property
    def _jinja(self) -> Jinja:
        return Jinja(self._find, self._opts, self._cache_dir)

    def _shared(self, saltenv: str) -> dict[str, Any]:
        return {
            "salt": self._salt,
            "grains": self._grains(),
            "pillar": self._pillar(),
            "opts": self._opts,
            "saltenv": saltenv,
        }

    # -------------------------------------------------- SLS

    def sls(self, path: str, *, sls: str, saltenv: str, context: Mapping[str, Any]) -> Value:
        """The value of an SLS file, with places. Raises RenderError."""
        if os.path.exists(path) and os.path.isfile(path) and os.path.getsize(path) > LARGEST:
            raise RenderError(f"the file is larger than {LARGEST // 1024 // 1024} MiB", Source(path))
        text = read_text(path)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise RenderError("the file contains a NUL character", Source(path, line))
        pipe, text = self._pipe(text, path)
        names = {**self._shared(saltenv), **self._places(path, sls), **context}
        value: Any = Rendered(text, path)
        for renderer in pipe:
            value = getattr(self, f"_{renderer}_stage")(value, path, names, saltenv)
        if isinstance(value, Rendered):
            raise RenderError(
                "the renderers of this file end with text; the last one has to give data", Source(path, 1)
            )
        return {} if value is None else value

    def _pipe(self, text: str, path: str) -> tuple[list[str], str]:
        line, newline, rest = text.partition("\n")
        named = str(self._opts.get("renderer") or "jinja|yaml")
        shebang = line.startswith("#!") and not line.startswith("#!/")
        if shebang:
            named, text = line[2:], newline + rest
        pipe = [part.split()[0] for part in named.strip().split("|") if part.strip()]
        for name in pipe:
            if name not in RENDERERS:
                import difflib

                near = difflib.get_close_matches(name, RENDERERS, 1)
                if name in NOT_HERE:
                    why = f"the renderer {name!r} is one of Salt's that runner does not have"
                    raise RenderError(
                        why, Source(path, 1, 3 if shebang else 0), "write the file as `#!jinja|yaml` or `#!py`"
                    )
                hint = f"did you mean {near[0]}?" if near else "there are " + ", ".join(RENDERERS)
                raise RenderError(f"there is no renderer {name!r}", Source(path, 1, 3 if shebang else 0), hint)
        return pipe, text

    def _places(self, path: str, sls: str) -> dict[str, str]:
        """sls, slspath, tpldir, ...: where a template stands, as Salt names it."""
        root = self._root_of(path)
        file = os.path.relpath(path, root) if root else sls.replace(".", "/") + ".sls"
        folder = os.path.dirname(file)
        return {
            "sls": sls,
            "tplpath": path,
            "tplfile": file,
            "tpldir": folder or ".",
            "tpldot": folder.replace("/", "."),
            "slspath": folder,
            "slsdotpath": folder.replace("/", "."),
            "slscolonpath": folder.replace("/", ":"),
            "sls_path": folder.replace("/", "_"),
        }

    def _jinja_stage(self, value: Rendered, path: str, names: dict[str, Any], saltenv: str) -> Rendered:
        return self._jinja.render(value.text, path, str(names.get("tplfile", path)), names, saltenv=saltenv, sls=True)

    def _yaml_stage(self, value: Rendered, path: str, names: dict[str, Any], saltenv: str) -> Value:
        from runner.render.yaml import load

        return load(value.text, value)

    def _json_stage(self, value: Rendered, path: str, names: dict[str, Any], saltenv: str) -> Value:
        import json

        try:
            return json.loads(value.text) if value.text.strip() else {}
        except ValueError as error:
            line, column = getattr(error, "lineno", 1), getattr(error, "colno", 0)
            raise RenderError(f"the file is no JSON: {error}", value.source(line, column)) from None

    def _gpg_stage(self, value: Any, path: str, names: dict[str, Any], saltenv: str) -> Value:
        from runner.render.gpg import Decryptor, place_of

        decryptor = Decryptor(self._opts.get("gpg_keydir"), self._secret)
        if isinstance(value, Rendered):
            return Rendered(decryptor.text(value.text, Source(path, 1)), path)
        return decryptor.data(value, place_of(value, Place(Untyped(path), 1, 1)))

    def _mako_stage(self, value: Rendered, path: str, names: dict[str, Any], saltenv: str) -> Rendered:
        return Rendered(_mako(value.text, path, names), path)

    def _py_stage(self, value: Rendered, path: str, names: dict[str, Any], saltenv: str) -> Value:
        namespace = {
            "__name__": "sls",
            "__file__": path,
            "__salt__": names["salt"],
            "__grains__": names["grains"],
            "__pillar__": names["pillar"],
            "__opts__": names["opts"],
            "__env__": saltenv,
            "__sls__": names.get("sls", ""),
            **names,
        }
        try:
            exec(compile(value.text, path, "exec"), namespace)
            return namespace["run"]()
        except KeyError as error:
            if error.args == ("run",) and "run" not in namespace:
                raise RenderError("a py SLS has to define run()", Source(path, 1)) from None
            raise _python_error(error, path) from None
        except SyntaxError as error:
            raise RenderError(f"Python: {error.msg}", Source(path, error.lineno or 0, error.offset or 0)) from None
        except Exception as error:
            raise _python_error(error, path) from None

    # -------------------------------------------------- templates of managed files

    def template(
        self, text: str, engine: str, context: Mapping[str, Any], *, file: str = "", saltenv: str = "base"
    ) -> str:
        """A rendered template. Raises RenderError."""
        names = {**self._shared(saltenv), **context}
        if engine == "jinja":
            root = self._root_of(file) if file else None
            name = os.path.relpath(file, root) if root else file or "<template>"
            folder = os.path.dirname(name)
            names = {"tpldir": folder or ".", "tplfile": name, "tplpath": file, "slspath": folder, **names}
            return self._jinja.render(text, file or name, name, names, saltenv=saltenv, sls=False).text
        if engine == "py":
            value = self._py_stage(Rendered(text, file), file, names, saltenv)
            return value if isinstance(value, str) else str(value)
        if engine == "mako":
            return _mako(text, file, names)
        hint = "there are jinja, mako and py"
        raise RenderError(f"there is no template engine {engine!r}", Source(file), hint)


def _mako(text: str, path: str, names: Mapping[str, Any]) -> str:
    """A text rendered by Mako, where that is installed."""
    try:
        from mako.exceptions import MakoException  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from mako.template import Template  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        hint = "install it beside runner: pip install Mako"
        raise RenderError("a mako template needs the Python package Mako", Source(path, 1), hint) from None
    try:
        return str(Template(text, strict_undefined=True).render(**names))
    except MakoException as error:
        raise RenderError(f"Mako: {error}", Source(path, getattr(error, "lineno", 0) or 0)) from None
    except Exception as error:
        raise _python_error(error, path) from None


def _python_error(error: Exception, path: str) -> RenderError:
    import traceback

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return RenderError(f"{type(error).__name__}: {error}", Source(path, (lines[-1] or 0) if lines else 0))
