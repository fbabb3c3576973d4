# SPDX-License-Identifier: Apache-2.0
"""The cure for an argument that is wrong: what was probably meant, in the words of an SLS."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import partial

from runner.model import other_tools
from runner.model.diagnostics import likeness, similar, suggestion
from runner.model.global_arguments import COMMAND_OPTIONS, OTHER_WORDS
from runner.model.places import Value
from runner.support.yaml.mark import PLAIN_QUOTES, QUOTES, in_quotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# what needs no quotes in YAML
_PLAIN = re.compile(r"(?=[^\s?:,\[\]{}#&*!|>'\"%@`-])(?:(?!: |:$| #).)+(?<! )")
LONGER = 4  # letters that a typing error may leave away at the end, and one more
MODULES = {"cmd", "file", "git", "pkg", "pkgrepo", "service", "sls"}  # that requisites name most
# make another argument of one
NEGATIONS = {"no", "not", "only", "skip", "ignore", "full", "reinstall_on"}
MANY = 15  # arguments that a message lists


def meant(key: str, own: Collection[str], others: Iterable[str]) -> str | None:
    """The argument that was probably meant. own: the function's, which are meant sooner where two
    are equally alike; others: those that every state has.
    """
    others = list(map(str, others))
    word = key.lower().replace("-", "_")
    theirs = other_tools.argument_word(word)
    for alias in (OTHER_WORDS.get(word, ""), *(theirs.names if theirs else ())):
        if alias in own or (alias in others and alias not in COMMAND_OPTIONS):
            return alias
    if OTHER_WORDS.get(word) in COMMAND_OPTIONS:  # of the commands of guards, not of the state
        return None
    own = [name for name in own if name.removesuffix(f"_{word}") not in NEGATIONS]
    longer = [name for name in own if name.endswith(f"_{word}")]
    if len(longer) == 1:  # `args` for `job_args`
        return longer[0]
    if theirs and theirs.text:
        return None
    for candidate in (*own, *others):
        if word.replace("_", "") == candidate.replace("_", "") or word == f"{candidate}_any":
            return candidate
    # an argument with a word more is another one: `enable` is no typing error for `enablerepo`
    own = [name for name in own if not name.startswith(word) or len(name) - len(word) < LONGER]
    near = [*similar(word, own, 1, 0.7), *similar(word, others, 1, 0.8)]
    return max(near, key=partial(likeness, word), default=None)


def unknown(
    key: str, own: Collection[str], near: str | None, function: str, value: Value = None
) -> str:
    """The hint for an argument that the function does not have."""
    theirs = other_tools.argument_word(key)
    if theirs and theirs.text and (near is None or near in theirs.names):
        return theirs.hint(key, function, value)
    if near == "name" and isinstance(value, list):
        near = "pkgs" if "pkgs" in own else "names"
    if near is None and "source" in own and str(value).startswith("salt://"):
        near = "source"
    if near:
        return suggestion(repr(near))
    if key in MODULES and isinstance(value, str):
        return f"a state is required by a requisite: `- require:` and below it `- {key}: {value}`"
    listed = sorted(own)
    if len(listed) > MANY:
        return f"`runner doc {function}` lists its arguments: {', '.join(listed[:MANY])}, ..."
    return "its arguments are: " + ", ".join(listed) if own else "it has no arguments of its own"


def cure(title: str, key: str, value: Value, options: Iterable[Any] = ()) -> str | None:
    """The hint for a value that is not what the argument takes. title: what it takes, in words."""
    first = next(iter(value), None) if isinstance(value, list | dict) else None
    if title.startswith("a mapping" if isinstance(value, dict) else "a list") and first is not None:
        return None  # it is one: what is wrong is in it
    if "file mode" in title:
        return _mode(key, value)
    options = list(options)
    if title.startswith("one of ") and options:
        near = similar(str(value).lower(), [str(option) for option in options], 1, 0.5)
        first_option = _scalar(str(options[0]))
        return (
            suggestion(repr(near[0])) if near else f"write one of them: `- {key}: {first_option}`"
        )
    if title == "true or false":
        return f"write `- {key}: true` or `- {key}: false`"
    if "absolute path" in title and isinstance(value, str):
        return _path(key, value)
    if title.endswith(("a list", "or mappings")) and isinstance(value, dict) and value:
        return f"write a list: `- {key}:` and below it, indented, `- {_scalar(str(first))}: ...`"
    # where one value would do, too, a list is no cure for a value that is wrong
    if title.startswith("a list") or (" or a list" in title and "," in str(value)):
        items = (
            [item.strip() for item in str(value).split(",")]
            if isinstance(value, str | int | float)
            else ["..."]
        )
        return f"write a list: `- {key}:` and below it, indented, " + ", ".join(
            f"`- {_scalar(item)}`" for item in items[:3]
        )
    if title.startswith("a mapping"):
        return f"write `- {key}:` and below it, indented further, `KEY: VALUE`"
    if "number" in title and "text" not in title:
        return f"write digits without a unit or a word: `- {key}: 30`"
    if "text" in title and isinstance(value, dict) and len(value) == 1:
        ((word, behind),) = value.items()
        if isinstance(behind, str | int | float):
            return f"in quotes it is a text: `{in_quotes(f'{word}: {behind}')}`"
    if "text" in title and isinstance(value, list | dict):
        only = _scalar(first) if isinstance(first, str) and len(value) == 1 else "VALUE"
        return f"write one value: `- {key}: {only}`"
    return None


def _scalar(text: str) -> str:
    """A text as YAML has it, in quotes where it would not be one."""
    return text if _PLAIN.fullmatch(text) else in_quotes(text)


def _path(key: str, value: str) -> str:
    if "$" in value:
        hint = "no shell reads it, so that $ stays: write the path itself"
        return f"{hint}, or in a template `{{{{ salt['environ.get']('HOME') }}}}`"
    if re.match(r"[A-Za-z]:[\\/]", value):
        return "it is a path of Windows: leave the state out here, with `{% if %}` in the SLS"
    if value.startswith(tuple(QUOTES)):
        return PLAIN_QUOTES
    path = re.sub(r"^(\./|~/?)*", "", value)
    if not path.strip():  # `- name: /` would be a dangerous advice
        return f"nothing is left of `{key}` here: a variable of a template may be empty"
    return f"a path begins with a slash: `- {key}: {_scalar(f'/{path}')}`"


def _mode(key: str, value: Value) -> str:
    text = str(value)
    if re.fullmatch(r"[rwxXstugoa+=,-]+", text):
        digits = _octal(text)
        more = f" ({digits} is {text})" if digits else ""
        shown = digits or repr("0644")
        return f"write the mode in octal digits and in quotes: `- {key}: {shown}`{more}"
    if re.fullmatch(r"(0o)?\d+", text):
        return f"a file mode has up to four digits from 0 to 7: `- {key}: '0644'`"
    return f"write the mode in octal digits and in quotes: `- {key}: '0644'`"


def _octal(text: str) -> str | None:
    """`rwxr-x---` as digits."""
    if not re.fullmatch(r"([r-][w-][x-]){3}", text):
        return None
    parts = [text[index : index + 3] for index in (0, 3, 6)]
    return repr(
        "0"
        + "".join(
            str(sum(bit for bit, sign in zip((4, 2, 1), part, strict=True) if sign != "-"))
            for part in parts
        )
    )
