# SPDX-License-Identifier: Apache-2.0
"""The parts of a docstring: a summary, the arguments one by one, examples, and where the behaviour
comes from.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator

from runner.model.records import Record

_NAME = r"(?:[a-z_]\w*\*?|\.\.\.)(?: \([^()]*\))?"
NAMES = re.compile(
    rf"(?:^|(?<=[.;:!?)] ))({_NAME}(?:, {_NAME})*(?:,? (?:and|or) {_NAME})?)( alike)?:\s"
)
OTHERS = re.compile(r"(?:^|(?<=[.;] ))Others: ")
SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Za-z_`])")


class Docstring(Record):
    """before, after: the paragraphs before and after the first example, less what is said of single
    arguments. alike: the arguments that the docstring declares to mean the same (`minute, hour
    alike: ...`), so that they may share a description.
    """

    summary: str
    before: tuple[str, ...]
    arguments: dict[str, str]
    examples: tuple[str, ...]
    after: tuple[str, ...]
    alike: frozenset[str] = frozenset()


def read(text: str, parameters: Collection[str]) -> Docstring:
    """Take a docstring to pieces. parameters: the names of
    the arguments.
    """
    text = _cleaned(text)
    arguments: dict[str, str] = {}
    aside: dict[str, str] = {}  # of names that stand in parentheses, and of all others
    alike: set[str] = set()
    blocks = list(_blocks("\n".join(_take_definitions(text.split("\n"), parameters, arguments))))
    summary = " ".join(blocks[0][1].split()) if blocks else ""
    before: list[str] = []
    after: list[str] = []
    examples: list[str] = []
    for is_example, block in blocks[1:]:
        if is_example:
            examples.append(block)
            continue
        rest = _take_arguments(" ".join(block.split()), parameters, arguments, aside, alike)
        if rest:
            (after if examples else before).append(rest)
    others = dict.fromkeys([name for name in parameters if name != "name"], aside.pop("Others", ""))
    described = (others | aside | arguments).items()
    arguments = {name: _sentence(text) for name, text in described if text}
    return Docstring(
        summary, tuple(before), arguments, tuple(examples), tuple(after), frozenset(alike)
    )


def _sentence(text: str) -> str:
    """A description with a capital where it begins with a word."""
    return text[0].upper() + text[1:] if re.match(r"[a-z]+(?:[ ,;.]|$)", text) else text


def mentions(documented: Docstring, name: str) -> str:
    """The first sentence that names an argument which has no description of its own."""
    texts = [*documented.before, *documented.arguments.values()]
    sentences = (part for text in texts for part in SENTENCE.split(text))
    return next(
        (sentence for sentence in sentences if re.search(rf"\b{re.escape(name)}\b", sentence)), ""
    )


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """(is it an example, the paragraph); an example is indented or a template, and goes on over
    empty lines.
    """
    indented, lines = False, list[str]()
    for line in [*text.split("\n"), ""]:
        deep = line.startswith(("    ", "{{", "{%"))
        if (line.strip() and deep != indented) or (not line.strip() and not indented):
            if any(map(str.strip, lines)):
                yield indented, textwrap.dedent("\n".join(lines)).strip("\n")
            lines = []
            indented = deep if line.strip() else indented
        lines.append(line)
    if any(map(str.strip, lines)):
        yield indented, textwrap.dedent("\n".join(lines)).strip("\n")


def _take_definitions(
    lines: list[str], parameters: Collection[str], arguments: dict[str, str]
) -> Iterator[str]:
    """Note what modules for Salt say: a line with the name (and perhaps a default), below it,
    indented, what it is.

    `:param name: what it is` too. The other lines, without directives of reStructuredText, are
    left.
    """
    name = ""
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        field = re.match(r":param (?:\w+ )?(\w+): *(.*)", line)
        term = re.match(r"(\w+)(?: ?[:=(].*)?$", line) if following.startswith("    ") else None
        definition = field or term
        if definition and definition[1] in parameters:
            name = definition[1]
            arguments[name] = field[2] if field else ""
        elif name and (line.startswith("    ") or not line.strip()):
            arguments[name] = f"{arguments[name]} {line.strip()}".strip()
        else:
            name = ""
            if not re.match(r"(\.\. [\w-]+::|:(type|return|rtype)\b)|(CLI )?Examples?:$", line):
                yield line


def _take_arguments(
    text: str,
    parameters: Collection[str],
    arguments: dict[str, str],
    aside: dict[str, str],
    alike: set[str],
) -> str:
    """Note each `name: what it is.` or `one (another), two*: what they are.`; what stands before
    the first.
    """
    end = len(text)
    rest = OTHERS.search(text)
    if rest:
        aside["Others"] = text[rest.end() :].strip(" ;")
        end = rest.start()
    matches = [match for match in NAMES.finditer(text[:end]) if _names(match[1], parameters)]
    for match, stop in zip(matches, [*(match.start() for match in matches[1:]), end], strict=False):
        description = text[match.end() : stop].strip(" ;")
        names = _names(match[1], parameters)
        arguments |= dict.fromkeys(names, description)
        alike |= set(names) if match[2] else set()
        aside |= dict.fromkeys(
            set(re.findall(r"\w+", " ".join(re.findall(r"\(.*?\)", match[1])))) & set(parameters),
            description,
        )
    return text[: matches[0].start() if matches else end].strip()


def _names(listed: str, parameters: Collection[str]) -> list[str]:
    """The parameters that a list of names means; none when it has another word."""
    names: list[str] = []
    for word in re.split(r",? (?:and|or) |, ", re.sub(r" \([^()]*\)", "", listed)):
        meant = [
            parameter
            for parameter in parameters
            if parameter == word or (word[-1] == "*" and parameter.startswith(word[:-1]))
        ]
        if not meant and word != "...":
            return []
        names += meant
    return names


def _cleaned(text: str) -> str:
    """A docstring without the indentation of its code, as `inspect.cleandoc` gives it."""
    first, _, further = text.expandtabs().partition("\n")
    return f"{first.lstrip()}\n{textwrap.dedent(further)}".strip("\n")
