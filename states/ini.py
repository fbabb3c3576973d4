# SPDX-License-Identifier: Apache-2.0
"""Options of ini files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from modules import file, ini
from runner.api import (
    AsText,
    Check,
    CommandFailed,
    Done,
    FilePath,
    Line,
    Plan,
    Planned,
    Separator,
    StateFailed,
    TextEncoding,
    line_problem,
)
from runner.api.claims import VALUE, Claim, edits

ABOUT_ONE_FILE = {
    "options_present": "sections separator strict encoding no_spaces",
    "options_absent": "sections separator encoding",
    "sections_present": "sections separator encoding",
    "sections_absent": "sections separator encoding",
}
_edits = edits()


def owns(fun: str, name: str, sections: object = None, **arguments: object) -> Iterator[Claim]:
    """Some of the file, and the values of options."""
    yield from _edits(fun, name)
    if fun != "options_present" or not isinstance(sections, dict):
        return
    for section, options in sections.items():
        inside = isinstance(options, dict)
        for option, value in options.items() if inside else [(section, options)]:
            with suppress(CommandFailed):
                shown = ini.NO_VALUE if value is None else ini.whole_value(str(option), value)
                place = f"option {option}{f' in section {section}' if inside else ''}"
                yield Claim(VALUE, name.rstrip("/"), place, values=(ini.as_read(shown),))


def _problem(sections: dict[str, Any]) -> str | None:
    """Name what an ini file cannot hold."""
    for section, options in sections.items():
        pairs = options.items() if isinstance(options, dict) else [(section, options)]
        for text in (str(section), *(str(option) for option, _ in pairs)):
            if problem := line_problem(text):
                return f"a name in it: {problem}"
        for option, value in pairs:
            if value is not None and (problem := ini.value_problem(value)):
                return f"{option}: {problem}"
    return None


Sections = Annotated[
    AsText[dict[str, Any]], Check(_problem, "begin the lines that continue a value with a space")
]


_PAM = re.compile(
    r"/etc/pam\.(d/.*|conf)"
    r"|/etc/security/(access|group|limits|namespace|sepermit|time)\.(conf|d/.*)"
)


def _no_ini(path: str) -> str | None:
    """Name a file of PAM whose lines are not options: an ini state would only add lines to it."""
    if _PAM.fullmatch(os.path.normpath(path)):
        return f"{path} is no ini file: PAM reads other lines in it, and may let nobody in"
    return None


IniFile = Annotated[
    FilePath,
    Check(_no_ini, "file.line, file.replace, file.blockreplace or file.managed keep its form"),
]


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed for a file that the caller may not write."""
    file.refuse_rewrite(file.real_path(name))


@file.validated
def options_present(
    name: IniFile,
    sections: Sections | None = None,
    separator: Separator = "=",
    strict: bool = False,
    encoding: TextEncoding | None = None,
    no_spaces: bool = False,
) -> Planned:
    """Make sure that an ini file has options.

    name: The file, created when it is missing.
    sections: Section -> option -> value, null for an option without one; an option with a value at
      the top level stands before the first section.
    separator: What stands between an option and its value.
    strict: Remove other options of these sections.
    encoding: The encoding of the file; without it UTF-8.
    no_spaces: Put no spaces around the separator.

        /etc/php/8.2/fpm/php.ini:
          ini.options_present:
            - sections:
                PHP: {memory_limit: 256M}

    Behaviour: Salt 3008's ini.options_present; comments and the order of the file stay.
    """
    wanted = sections or {}
    present = (
        ini.get_ini(name, separator, encoding)
        if strict
        else ini.get_some(name, wanted, separator, encoding)
    )
    changes, comments = _differences(wanted, present)
    unwanted: dict[str, list[str]] = {}
    unwanted_sections: list[str] = []
    if strict:
        unwanted, unwanted_sections = _unwanted(wanted, present)
        comments = [*_removals(unwanted, unwanted_sections), *comments]
        changes = {
            **_removal_changes(unwanted, unwanted_sections, present),
            **_with_removals(changes, unwanted, present),
        }
    if not changes:
        return _unchanged(comments)
    yield _plan(changes, comments, name)
    text = old = ini.text_about(name, None if strict else wanted, separator, encoding)
    if unwanted or unwanted_sections:
        text = ini.without_options(text, unwanted, separator)
        text = ini.without_sections(text, unwanted_sections)
    _write(name, old, ini.with_options(text, wanted, separator, not no_spaces), encoding)
    return "Changes take effect"


def _joined_sentences(sentences: list[str]) -> str:
    return "".join(f"{sentence}\n" for sentence in sentences)


def _plan(changes: dict[str, Any], sentences: list[str], name: str) -> Plan:
    provides = [("file", name), *file.unforeseen(name)]
    return Plan(changes, _joined_sentences(sentences), provides=provides)


def _unchanged(sentences: list[str], without: str = "") -> Done:
    """The outcome when nothing is to be done; a dry run says why."""
    return Done("No anomaly detected", in_dry_run=_joined_sentences(sentences) or without)


def _differences(wanted: Sections, present: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(the changes, a sentence for each option)."""
    changes: dict[str, Any] = {}
    comments: list[str] = []
    for section, options in wanted.items():
        if not isinstance(options, dict):
            differing = _difference({section: options}, present)
            changes |= differing
            comments.append(f"{'Changed' if differing else 'Unchanged'} key {section}.")
            continue
        present_options = present.get(section)
        differing = _difference(
            options, present_options if isinstance(present_options, dict) else {}
        )
        comments += [
            f"{'Changed' if str(key) in differing else 'Unchanged'} key {key} in section {section}."
            for key in options
        ]
        if differing and not isinstance(present_options, dict):
            changes[section] = {
                "before": None,
                "after": {key: values["after"] for key, values in differing.items()},
            }
        elif differing:
            changes[section] = differing
    return changes, comments


def _difference(options: dict[str, Any], present_options: dict[str, Any]) -> dict[str, Any]:
    differing = {}
    for option, value in options.items():
        before = ini.shown(present_options, str(option))
        after = ini.NO_VALUE if value is None else ini.whole_value(str(option), value)
        if before != ini.as_read(after):
            differing[str(option)] = {"before": before, "after": after}
    return differing


def _unwanted(wanted: Sections, present: dict[str, Any]) -> tuple[dict[str, list[str]], list[str]]:
    """The entries that exist and are not wanted: (section -> options, sections)."""
    unwanted = {
        "": [
            key
            for key, value in present.items()
            if not isinstance(value, dict) and key not in wanted
        ]
    }
    for section, present_options in present.items():
        if isinstance(present_options, dict) and isinstance(wanted.get(section), dict):
            unwanted[section] = [
                key for key in present_options if key not in map(str, wanted[section])
            ]
    unwanted_sections = [
        key for key, value in present.items() if isinstance(value, dict) and key not in wanted
    ]
    return {section: keys for section, keys in unwanted.items() if keys}, unwanted_sections


def _removals(unwanted: dict[str, list[str]], unwanted_sections: list[str]) -> list[str]:
    comments = [f"Removed key {key}." for key in unwanted.get("", ())]
    comments += [f"Removed section {section}." for section in unwanted_sections]
    return comments + [
        f"Deleted key {key} in section {section}."
        for section, keys in unwanted.items()
        if section
        for key in keys
    ]


def _removal_changes(
    unwanted: dict[str, list[str]], unwanted_sections: list[str], present: dict[str, Any]
) -> dict[str, Any]:
    return {
        key: {"before": ini.shown(present, key), "after": None}
        for key in [*unwanted.get("", ()), *unwanted_sections]
    }


def _with_removals(
    changes: dict[str, Any], unwanted: dict[str, list[str]], present: dict[str, Any]
) -> dict[str, Any]:
    merged = dict(changes)
    for section, keys in unwanted.items():
        if section:
            taken = {
                key: {"before": ini.shown(present[section], key), "after": None} for key in keys
            }
            merged[section] = {**taken, **changes.get(section, {})}
    return merged


@file.validated
def options_absent(
    name: IniFile,
    sections: Sections | None = None,
    separator: Separator = "=",
    encoding: TextEncoding | None = None,
) -> Planned:
    """Make sure that an ini file does not have options.

    name: The file.
    sections: The options that go, as a mapping of sections to names, one or a list of them; a name
      alone stands before the first section.
    separator, encoding: As of ini.options_present.

        /etc/php/8.2/fpm/php.ini:
          ini.options_absent:
            - sections:
                PHP: [expose_php]
    """
    sections = {  # `PHP: expose_php` is a list of one
        section: [names] if isinstance(names, str) else names
        for section, names in (sections or {}).items()
    }
    present = ini.get_some(name, sections, separator, encoding)
    unwanted: dict[str, list[str]] = {}
    for section, names in sections.items():
        if isinstance(names, list | dict):
            present_options = present.get(section, {})
            unwanted[section] = [
                str(option)
                for option in names
                if isinstance(present_options, dict) and str(option) in present_options
            ]
        elif section in present and not isinstance(present[section], dict):
            unwanted.setdefault("", []).append(section)
    changes = {
        section or name: {
            option: ini.shown(present.get(section, {}) if section else present, option)
            for option in names
        }
        for section, names in unwanted.items()
        if names
    }
    comments = list(_deletions(sections, unwanted))
    if not changes:
        return _unchanged(comments, "No changes detected.")
    yield _plan(changes, comments, name)
    text = ini.text_about(name, unwanted, separator, encoding)
    _write(name, text, ini.without_options(text, unwanted, separator), encoding)
    return "Changes take effect"


def _deletions(sections: Sections, unwanted: dict[str, list[str]]) -> Iterator[str]:
    """A sentence for each option that is to go."""
    for section, names in sections.items():
        if not isinstance(names, list | dict):
            yield (
                f"Deleted key {section}."
                if section in unwanted.get("", ())
                else f"Key {section} does not exist."
            )
            continue
        for name in map(str, names):
            exists = name in unwanted[section]
            place = f"{name} in section {section}"
            yield f"Deleted key {place}." if exists else f"Key {place} does not exist."


@file.validated
def sections_present(
    name: IniFile,
    sections: list[Line] | dict[Line, Any] | None = None,
    separator: Separator = "=",
    encoding: TextEncoding | None = None,
) -> Planned:
    """Make sure that an ini file has sections, empty ones if they are missing.

    name, encoding: As of ini.options_present.
    separator: ignored; what stands between an option and its value.
    sections: The sections, as a list, or as a mapping whose keys they are.

        /etc/app.ini:
          ini.sections_present:
            - sections: [server]
    """
    present = ini.present_sections(name, sections or (), encoding)
    missing = [section for section in sections or () if section not in present]
    comments = [
        f"{'Created new section' if section in missing else 'Section unchanged'} {section}."
        for section in sections or ()
    ]
    if not missing:
        return _unchanged(comments, "No changes detected.")
    changes: dict[str, Any] = {section: {"before": None, "after": {}} for section in missing}
    yield _plan(changes, comments, name)
    text = ini.text_about(name, {}, separator, encoding)
    _write(name, text, ini.with_sections(text, missing), encoding)
    return "Changes take effect"


@file.validated
def sections_absent(
    name: IniFile,
    sections: list[Line] | dict[Line, Any] | None = None,
    separator: Separator = "=",
    encoding: TextEncoding | None = None,
) -> Planned:
    """Make sure that an ini file does not have sections.

    name: The file.
    sections: The sections, which go with all that is in them.
    separator, encoding: As of ini.options_present.

        /etc/app.ini:
          ini.sections_absent:
            - sections: [old]
    """
    present = ini.get_sections(name, sections or (), separator, encoding)
    existing = [section for section in sections or () if section in present]
    comments = [
        f"Deleted section {section}."
        if section in existing
        else f"Section {section} does not exist."
        for section in sections or ()
    ]
    if not existing:
        return _unchanged(comments, "No changes detected.")
    yield _plan({section: present[section] for section in existing}, comments, name)
    text = ini.text_about(name, dict.fromkeys(existing, ini.ALL), separator, encoding)
    _write(name, text, ini.without_sections(text, existing), encoding)
    return "Changes take effect"


def _write(name: str, old: str, new: str, encoding: str | None) -> None:
    if not file.is_dir(name.rpartition("/")[0] or "/"):
        raise StateFailed(f"the folder of {name} does not exist", changes={})
    ini.write(name, old, new, encoding)
