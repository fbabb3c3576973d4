# SPDX-License-Identifier: Apache-2.0
"""Secrets that nothing has decrypted, in one table of the forms that they have, and the search for
them in data.

A form is matched by what only a program writes: `age: 30` and a text about `ENC[...]` are none.
What is cut off at its end is one all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from runner.model.places import Place, Source, item_place, value_place
from runner.model.records import Record
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Path = tuple[str, ...]  # of a value: the keys that lead to it
LEFT = "none"  # the renderer of `decrypt_pillar` that leaves a part of the pillar as it is


class SecretForm(Record):
    """A form of an encrypted value, or of a reference to one. renderer: that decrypts it in a
    file; without one `cure` says what does. later: what reads the pillar may still resolve it.
    """

    what: str
    expression: Any
    renderer: str = ""
    cure: str = ""
    later: bool = False


_B64 = "[A-Za-z0-9+/]"
_NOT_HERE = "nothing decrypts this in an SLS file: `runner secret encrypt` makes a value of age"
FORMS = (
    SecretForm(
        "an age message that was not decrypted",
        # base64 of "age-encryption.org/", or so much of anything that it can be nothing else
        pattern(rf"(?<!\w)age:(YWdlLWVuY3J5cHR|{_B64}{{200}})|-----BEGIN AGE ENCRYPTED FILE-----"),
        "age",
    ),
    SecretForm(
        "a PGP message that was not decrypted", pattern("-----BEGIN PGP MESSAGE-----"), "gpg"
    ),
    SecretForm(
        "a value that sops encrypted, which was not decrypted",
        pattern(rf"(?<!\w)ENC\[AES256_GCM,data:{_B64}"),
        cure="the file has lost its `sops:` with the `mac`, by which it is known: restore it",
    ),
    SecretForm(
        "a value that eyaml encrypted, which was not decrypted",
        pattern(rf"(?<!\w)ENC\[(PKCS7|GPG),\s*{_B64}{{8}}"),
        cure="Hiera decrypts it, in a level with `lookup_key: eyaml_lookup_key`; in an SLS file"
        " nothing does: `runner secret encrypt` makes a value of age",
    ),
    SecretForm(
        "the editor's form of a secret, which was not encrypted",
        pattern(r"(?<!\w)DEC(\(\d+\))?::[A-Z0-9]+\[.*\]!"),
        cure="it is encrypted when `runner secret edit` has edited the file",
    ),
    SecretForm(
        "a value that ansible-vault encrypted, which was not decrypted",
        pattern(r"\A\s*\$ANSIBLE_VAULT;\d"),
        cure=_NOT_HERE,
    ),
    SecretForm(
        "a value that Vault's transit engine encrypted, which was not decrypted",
        pattern(rf"\Avault:v\d+:{_B64}{{16}}"),
        cure=_NOT_HERE,
    ),
    SecretForm(
        "a reference to a secret of Vault, which nothing resolves",
        pattern(r"\A\s*(ref\+)?vault:(//)?[\w.-]+(/[\w.-]+)+#[\w./-]+\s*\Z"),
        cure="`ext_pillar: vault` brings secrets, and `{{ salt['vault.read_secret'](PATH, KEY) }}`",
    ),
    SecretForm(
        "a reference to a store of secrets, which nothing has resolved",
        pattern(r"\A\s*sdb://[\w.-]+/\S+\s*\Z"),
        cure="write `{{ salt['sdb.get']('sdb://...') }}`",
        later=True,
    ),
)


def form_of(text: str) -> SecretForm | None:
    """The form of an undecrypted secret in a text; None when there is none."""
    if ":" not in text and "[" not in text and "-----BEGIN " not in text and "$" not in text:
        return None
    if not any(mark in text for mark in _MARKS):
        return None
    return next((form for form in FORMS if form.expression.search(text)), None)


_MARKS = ("age:", "-----BEGIN ", "ENC[", "DEC", "$ANSIBLE_VAULT", "vault:", "sdb://")


class Found(Record):
    """An undecrypted secret in data."""

    path: Path
    text: str
    form: SecretForm

    @property
    def name(self) -> str:
        """Its keys, as pillar.get takes them."""
        return ":".join(self.path)


def search(data: Any, left: Collection[Path] = (), path: Path = ()) -> Iterator[Found]:
    """All of them in data. left: the paths of what is to stay encrypted."""
    if isinstance(data, str):
        form = form_of(data)
        if form is not None:
            yield Found(path, data, form)
        return
    if isinstance(data, Mapping):
        items: Any = data.items()
    elif isinstance(data, list | tuple):
        items = enumerate(data)
    else:
        return
    for key, value in items:
        if isinstance(value, str | Mapping | list | tuple):
            inner = (*path, str(key))
            if not left or inner not in left:
                yield from search(value, left, inner)


def is_encrypted(data: Any) -> bool:
    """Return whether data holds any: what `search` finds, without the paths."""
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, str):
            if form_of(value) is not None:
                return True
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        elif isinstance(value, Mapping):
            left += value.values()
    return False


def place_at(data: Any, found: Found, place: Place) -> Place | None:
    """Where a value stands in data that has it under its own keys; None where that has not."""
    for step in found.path:
        if isinstance(data, Mapping):
            keys = [key for key in data if str(key) == step]
            if not keys:
                return None
            data, place = data[keys[0]], value_place(data, keys[0], place)
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data, place = data[int(step)], item_place(data, int(step), place)
        else:
            return None
    return place if data == found.text else None


def place_in(data: Any, text: str, place: Place) -> Place | None:
    """Where a text stands in data that knows its places; None where it does not."""
    if isinstance(data, str):
        return place if data == text else None
    if isinstance(data, Mapping):
        inner = ((value, value_place(data, key, place)) for key, value in data.items())
    elif isinstance(data, list | tuple):
        inner = ((value, item_place(data, index, place)) for index, value in enumerate(data))
    else:
        return None
    found = (place_in(value, text, where) for value, where in inner)
    return next((where for where in found if where is not None), None)


def left_encrypted(configured: Any, delimiter: str = ":") -> frozenset[Path]:
    """The parts of the pillar that `decrypt_pillar` leaves as they are."""
    items = [configured] if isinstance(configured, Mapping) else configured or ()
    return frozenset(
        tuple(str(path).split(delimiter))
        for item in items
        if isinstance(item, Mapping)
        for path, renderer in item.items()
        if renderer == LEFT
    )


def hidden(form: SecretForm, source: Source) -> Source:
    """The place of an undecrypted secret, without its line where that shows a secret."""
    return source._replace(hidden=True) if form.what.startswith("the editor's") else source
