"""Salt's Jinja filters that few trees use; loaded when a template calls the first of them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def avg(values: Any) -> float:
    """The mean of numbers."""
    if not isinstance(values, list | tuple):
        return float(values)
    return float(sum(values) / float(len(values)))


def compare_lists(old: Sequence[Any], new: Sequence[Any]) -> dict[str, Any]:
    """What two lists do not share."""
    found: dict[str, Any] = {}
    for item in new:
        if item not in old:
            found.setdefault("new", []).append(item)
    for item in old:
        if item not in new:
            found.setdefault("old", []).append(item)
    return found


def compare_dicts(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[Any, Any]:
    """What differs between two mappings, as {key: {old, new}}."""
    keys = [*old, *(key for key in new if key not in old)]
    pairs = {key: {"old": old.get(key, ""), "new": new.get(key, "")} for key in keys}
    return {key: pair for key, pair in pairs.items() if key not in old or key not in new or pair["old"] != pair["new"]}


def is_iter(value: Any, ignore: Any = (str,)) -> bool:
    """Whether a value can be walked; texts do not count."""
    return not isinstance(value, tuple(ignore)) and hasattr(value, "__iter__")


def is_list(value: Any) -> bool:
    """Whether a value is a list."""
    return isinstance(value, list)


def exactly_n_true(values: Iterable[Any], amount: int = 1) -> bool:
    """Whether so many of the values are true."""
    return sum(bool(value) for value in values) == amount


def substring_in_list(text: str, values: Iterable[str]) -> bool:
    """Whether a text is part of one of the values."""
    return any(text in value for value in values)


def contains_whitespace(text: str) -> bool:
    """Whether a text has white space."""
    return any(char.isspace() for char in text)


def check_whitelist_blacklist(value: str, whitelist: Any = None, blacklist: Any = None) -> bool:
    """Whether a value matches the whitelist (globs) and not the blacklist."""

    def listed(patterns: Any) -> list[str]:
        return [patterns] if isinstance(patterns, str) else list(patterns or ())

    if any(fnmatch.fnmatch(value, pattern) for pattern in listed(blacklist)):
        return False
    return not whitelist or any(fnmatch.fnmatch(value, pattern) for pattern in listed(whitelist))


def method_call(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """The answer of a method of a value; nothing when it has none of that name."""
    if name.startswith("_"):
        raise ValueError(f"method_call: {name!r} is private")
    return getattr(value, name, lambda *_, **__: None)(*args, **kwargs)


def dict_to_sls_yaml_params(value: Mapping[str, Any], flow_style: bool = False) -> str:
    """A mapping as the list of arguments of a state."""
    from runner.render.filters import to_yaml

    return to_yaml([{key: item} for key, item in value.items()], flow_style)


def to_bytes(value: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """A text as bytes."""
    return value if isinstance(value, bytes) else str(value).encode(encoding, errors)


def human_to_bytes(size: Any, default_unit: str = "B", handle_metric: bool = False) -> int:
    """`5 GB` as a number of bytes; 0 for what is no size."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(?:([A-Za-z]?)(i?[Bb]?))?\s*", str(size))
    if match is None:
        return 0
    value, unit, rest = match.groups()
    unit = (unit or default_unit).upper()
    if unit == "B":
        return int(float(value))
    metric = handle_metric and not (rest or "").lower().startswith("i")
    power = "KMGTPEZY".find(unit[0]) + 1
    return int(float(value) * (1000 if metric else 1024) ** power) if power else 0


def to_snake_case(value: str) -> str:
    """fooBarBaz as foo_bar_baz."""
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", value)).lower()


def to_camelcase(value: str, uppercamel: bool = False) -> str:
    """foo_bar as fooBar, or as FooBar."""
    text = "".join(part.title() for part in value.split("_"))
    return text if uppercamel else text[:1].lower() + text[1:]


def json_decode(value: Any) -> Any:
    """Texts of a list or a mapping decoded; there is nothing to do in Python 3."""
    return value


# ---------------------------------------------------------------- nested data


def _walk(data: Any, keys: str, delimiter: str, make: Any) -> tuple[Any, str]:
    parts = keys.split(delimiter)
    for part in parts[:-1]:
        if not isinstance(data.get(part) if isinstance(data, dict) else None, dict):
            data[part] = {}
        data = data[part]
    return data, parts[-1]


def set_dict_key_value(data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False) -> Any:
    """The mapping with a value at `a:b:c`."""
    place, last = _walk(data, keys, delimiter, dict)
    place[last] = value
    return data


def append_dict_key_value(data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False) -> Any:
    """The mapping with a value added to the list at `a:b:c`."""
    place, last = _walk(data, keys, delimiter, dict)
    place[last] = [*(place.get(last) or []), value]
    return data


def extend_dict_key_value(data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False) -> Any:
    """The mapping with values added to the list at `a:b:c`."""
    place, last = _walk(data, keys, delimiter, dict)
    place[last] = [*(place.get(last) or []), *value]
    return data


def update_dict_key_value(data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False) -> Any:
    """The mapping with the mapping at `a:b:c` updated."""
    place, last = _walk(data, keys, delimiter, dict)
    place[last] = {**(place.get(last) or {}), **value}
    return data


def json_query(data: Any, expression: str) -> Any:
    """What a JMESPath expression finds."""
    try:
        import jmespath  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise ValueError("json_query needs the Python package jmespath; install it beside runner") from None
    return jmespath.search(expression, data)


# ---------------------------------------------------------------- chance and hashes


def uuid(value: Any) -> str:
    """The UUID that belongs to a text."""
    from uuid import UUID, uuid5

    return str(uuid5(UUID("91633EBF-1C86-5E33-935A-28061F4B480E"), str(value)))


def random_sample(values: Sequence[Any], size: int, seed: Any = None) -> list[Any]:
    """Some values, chosen by chance (the same for the same seed)."""
    import random

    return random.Random(seed).sample(list(values), size)


def random_shuffle(values: Sequence[Any], seed: Any = None) -> list[Any]:
    """The values in another order (the same for the same seed)."""
    return random_sample(values, len(values), seed)


def random_str(size: int = 32, chars: str | None = None, **_: Any) -> str:
    """A text of random characters."""
    import secrets
    import string

    return "".join(secrets.choice(chars or string.ascii_letters + string.digits) for _ in range(int(size)))


def rand_str(size: int = 9999999999, hash_type: str = "sha256") -> str:
    """The hash of a random number."""
    import hashlib
    import random

    return hashlib.new(hash_type, str(random.SystemRandom().randint(0, size)).encode()).hexdigest()


def hmac(text: str, key: str, challenge: str) -> bool:
    """Whether a HMAC-SHA256 of a text, in base64, is the challenge."""
    import base64
    import hashlib
    import hmac as codes

    digest = codes.new(key.encode(), text.encode(), hashlib.sha256).digest()
    return codes.compare_digest(base64.b64encode(digest).decode(), challenge)


def hmac_compute(text: str, key: str) -> str:
    """The HMAC-SHA256 of a text, in hexadecimal digits."""
    import hashlib
    import hmac as codes

    return codes.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


# ---------------------------------------------------------------- files


def is_bin_file(path: str) -> bool:
    """Whether a file is no text."""
    try:
        with open(path, "rb") as file:
            data = file.read(2048)
    except OSError:
        return False
    return b"\0" in data


def is_text_file(path: str) -> bool:
    """Whether a file is text."""
    import os

    return os.path.isfile(path) and not is_bin_file(path)


def is_empty_file(path: str) -> bool:
    """Whether a file is empty."""
    import os

    return os.path.isfile(path) and os.path.getsize(path) == 0


def list_files(folder: str) -> list[str]:
    """All files and folders below a folder, itself included."""
    import os

    found = {folder}
    for root, folders, files in os.walk(folder):
        found |= {os.path.join(root, name) for name in [*folders, *files]}
    return sorted(found)


def file_hashsum(path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The digest of a file."""
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, form).hexdigest()


def mysql_to_dict(data: str, key: str) -> dict[str, Any]:
    """The table that mysql prints, by one column."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in data.splitlines() if "|" in line]
    if not rows:
        return {}
    entries = (dict(zip(rows[0], row, strict=False)) for row in rows[1:])
    return {entry[key]: entry for entry in entries if key in entry}
