# SPDX-License-Identifier: Apache-2.0
"""Files that hold a secret, and that others than their owner may read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from runner.language.compiler.missing_references import template_of
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.places import Value
from runner.pipeline.session import Session
from runner.support.files.text import text_to_show
from runner.support.redaction.keys import matcher

_NAMED = re.compile(
    r"(?i)(\.pem|\.key|_rsa|_ed25519|password|passwd|secret|credentials|\.htpasswd|\.pgpass|\.netrc)$"
)
_PUBLIC = re.compile(  # certificates and parameters, not keys; accounts, and how PAM asks
    r"(?i)^/etc/passwd$|^/etc/pam\.d/|/bin/|/(ssl|tls)/certs/|/(trusted|keyrings)[^/]*/|(^|[/_.-])(ca|cacerts?|cert|(full)?chain|\w*dh_?params?\d*|dh\d*|pub)([-_.][^/]*)?\.pem$"
)
_PRINTED = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_WORD = re.compile(r"[\w-]+")


def is_named_so(path: str) -> bool:
    """Return whether a path is that of a key or of passwords.

    >>> is_named_so("/etc/ssl/private/site.key"), is_named_so("/etc/ssl/certs/site.pem")
    (True, False)
    """
    return _NAMED.search(path) is not None and _PUBLIC.search(path) is None


def warnings(session: Session, chunks: Sequence[Chunk]) -> Iterator[Diagnostic]:
    """A warning for each file that is to hold a secret and says of no mode that keeps it."""
    means_secret = matcher(session.options.secret_keys)
    for chunk in chunks:
        if chunk.function != "file.managed" or chunk.args.get("umask") is not None:
            continue
        mode = chunk.args.get("mode")
        digits = str(mode).removeprefix("0o")
        if mode is not None and not (digits.isdigit() and int(digits[-1]) & 4):
            continue
        if is_named_so(chunk.name):
            what = "looks like a secret"
        elif _holds(session, chunk, means_secret):
            what = "holds a secret"
        else:
            continue
        message, place = f"{chunk.name} {what} and has no mode", chunk.place
        owner = int(digits[-3:-2] or 6) if mode is not None else 6
        if mode is not None:
            message = f"{chunk.name} {what}, and everybody may read it (mode {mode})"
            place = chunk.arg_places.get("mode", chunk.place)
        hint = f"`- mode: '0{owner}00'`, or '0{owner}{owner & 5}0' with a group"
        yield Diagnostic(message, place.source, hint, "secret-mode", "warning")


def _holds(session: Session, chunk: Chunk, means_secret: Callable[[object], bool]) -> bool:
    """Return whether a secret of the pillar goes into a file, as far as can be seen: in what the
    state says itself, or by name in what its template prints.
    """
    contents: Value = chunk.args.get("contents")
    mask = session.run.secrets.mask
    if mask(contents) != contents:
        return True
    given = [chunk.args.get(key) for key in ("context", "defaults")]
    variables = {
        name: isinstance(value, str)
        for values in given
        if isinstance(values, dict)
        for name, value in values.items()
        if mask(value) != value
    }
    paths = chunk.args.get("contents_pillar")
    paths = paths if isinstance(paths, list) else [paths]
    if any(path is not None and means_secret(str(path).rpartition(":")[2]) for path in paths):
        return True
    template = template_of(chunk, session.tree)
    if template is None:  # what it prints is not known
        return bool(variables)
    return any(
        means_secret(word) or variables.get(word, False)  # a mapping may hold more than that
        for printed in _PRINTED.findall(text_to_show(template))
        for word in _WORD.findall(printed)
    )
