"""Functions that do nothing: for trying templates, guards and slots."""

from __future__ import annotations

from typing import Any

from runner.api import here


def ping() -> bool:
    """True."""
    return True


def true_() -> bool:
    """True."""
    return True


def false_() -> bool:
    """False."""
    return False


def echo(text: Any) -> Any:
    """What it was given."""
    return text


def arg(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """What it was given, positional and named."""
    return {"args": list(args), "kwargs": kwargs}


def args(*given: Any) -> list[Any]:
    """The positional arguments."""
    return list(given)


def kwarg(**kwargs: Any) -> dict[str, Any]:
    """The named arguments."""
    return kwargs


def get_opts() -> dict[str, Any]:
    """The configuration."""
    return dict(here.opts)


def version() -> str:
    """The version of Salt whose language this is."""
    return str(here.grains["saltversion"])
