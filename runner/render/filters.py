"""Salt's Jinja filters and tests that state trees use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jinja2


def _plain(value: Any) -> Any:
    """Plain dictionaries and lists, whatever the subclass, so that every dumper knows them."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str.__str__(value)[:] if isinstance(value, str) else value


def to_yaml(value: Any, flow_style: bool = True) -> str:
    """YAML in flow style (`yaml(False)`: in block style) with sorted keys, without the end-of-document mark."""
    import yaml

    text: str = yaml.dump(
        _plain(value),
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
        default_flow_style=flow_style,
        allow_unicode=True,
    )
    return text.rstrip("\n").removesuffix("\n...")


def to_json(value: Any, sort_keys: bool = True, indent: int | None = None) -> str:
    """JSON with sorted keys."""
    import json

    return json.dumps(_plain(value), sort_keys=sort_keys, indent=indent, ensure_ascii=False, default=str)


def load_yaml(text: str) -> Any:
    """The value of a YAML text."""
    from runner.render.yaml import load_plain

    return load_plain(str(text))


def load_json(text: str) -> Any:
    """The value of a JSON text."""
    import json

    return json.loads(text)


def yaml_dquote(text: str) -> str:
    """A double-quoted YAML scalar."""
    import json

    return json.dumps(str(text), ensure_ascii=False)


def yaml_squote(text: str) -> str:
    """A single-quoted YAML scalar."""
    return "'" + str(text).replace("'", "''") + "'"


def yaml_encode(value: Any) -> str:
    """A simple value as a YAML scalar."""
    return yaml_dquote(value) if isinstance(value, str) else to_yaml(value)


def _flags(ignorecase: bool, multiline: bool) -> re.RegexFlag:
    return (re.I if ignorecase else re.NOFLAG) | (re.M if multiline else re.NOFLAG)


def regex_search(text: str, pattern: str, ignorecase: bool = False, multiline: bool = False) -> tuple[str, ...] | None:
    """The groups of the first match anywhere, or None."""
    found = re.search(pattern, text, _flags(ignorecase, multiline))
    return found.groups() if found else None


def regex_match(text: str, pattern: str, ignorecase: bool = False, multiline: bool = False) -> tuple[str, ...] | None:
    """The groups of a match at the beginning, or None."""
    found = re.match(pattern, text, _flags(ignorecase, multiline))
    return found.groups() if found else None


def regex_replace(text: str, pattern: str, replacement: str, ignorecase: bool = False, multiline: bool = False) -> str:
    """The text with all matches replaced."""
    return re.sub(pattern, replacement, text, flags=_flags(ignorecase, multiline))


def traverse(data: Any, path: str, default: Any = None, delimiter: str = ":") -> Any:
    """The value at `a:b:0`, or the default."""
    for part in str(path).split(delimiter):
        if isinstance(data, Mapping) and part in data:
            data = data[part]
        elif isinstance(data, list) and part.lstrip("-").isdigit() and -len(data) <= int(part) < len(data):
            data = data[int(part)]
        else:
            return default
    return data


def to_bool(value: Any) -> bool:
    """True for yes, true, 1 and what is not empty."""
    if value is None:
        return False
    if isinstance(value, str):
        return value.lower() in ("yes", "1", "true")
    return value > 0 if isinstance(value, int | float) else bool(value)


def sequence(value: Any) -> Any:
    """The value, in a list if it is none."""
    return value if isinstance(value, list | tuple | set | Mapping) else [value]


def to_num(value: Any) -> Any:
    """A number from a text; what is none stays as it is."""
    if isinstance(value, int | float):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except (TypeError, ValueError):
            continue
    return value


# what people write beside ISO 8601
_DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y")
_FORMS = (*_DAYS, "%H:%M:%S", "%H:%M")


def strftime(value: Any = None, form: str = "%Y-%m-%d") -> str:
    """A date (now without one, seconds, a text) in a form."""
    from datetime import datetime

    if isinstance(value, int | float) or (isinstance(value, str) and value.isdigit()):
        return datetime.fromtimestamp(float(value)).strftime(form)
    if hasattr(value, "strftime"):
        return str(value.strftime(form))
    if not value or str(value).strip().lower() == "now":
        return datetime.now().strftime(form)
    return str(_moment(str(value).strip()).strftime(form))


def _moment(text: str) -> Any:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        for form in _FORMS:
            try:
                return datetime.strptime(text, form)
            except ValueError:
                continue
    raise ValueError(f"{text!r} is no date that is understood; write it as 2026-11-21 or 2026-11-21 05:47:00")


def _hashed(name: str) -> Callable[[Any], str]:
    def digest(value: Any) -> str:
        import hashlib

        return hashlib.new(name, value if isinstance(value, bytes) else str(value).encode()).hexdigest()

    return digest


def base64_encode(value: Any) -> str:
    """Base64 of a text."""
    import base64

    return base64.b64encode(value if isinstance(value, bytes) else str(value).encode()).decode()


def base64_decode(value: Any) -> str:
    """The text behind Base64."""
    import base64

    return base64.b64decode(value).decode()


def path_join(*parts: str) -> str:
    """Parts of a path, joined."""
    import os.path

    return os.path.join(*(str(part) for part in parts))


def which(name: str) -> str | None:
    """The path of a program, or None."""
    import shutil

    return shutil.which(name)


def quote(value: Any) -> str:
    """A word for the shell."""
    import shlex

    return shlex.quote(str(value))


def flatten(value: Any, levels: int | None = None, preserve_nulls: bool = False) -> list[Any]:
    """Nested lists as one."""
    found: list[Any] = []
    for item in value:
        if isinstance(item, list | tuple) and levels != 0:
            found += flatten(item, None if levels is None else levels - 1, preserve_nulls)
        elif item not in (None, "None", "null") or preserve_nulls:
            found.append(item)
    return found


def unique(value: Any) -> list[Any]:
    """Each item once, in their order."""
    found: list[Any] = []
    for item in value:
        if item not in found:
            found.append(item)
    return found


def union(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """What is in either."""
    return unique([*first, *second])


def intersect(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """What is in both."""
    return [item for item in unique(first) if item in second]


def difference(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """What is in the first only."""
    return [item for item in unique(first) if item not in second]


def symmetric_difference(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """What is in one of both."""
    return [*difference(first, second), *difference(second, first)]


def _address(kind: str | None = None) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        import ipaddress

        try:
            found = ipaddress.ip_interface(str(value))
        except ValueError:
            return False
        return kind is None or f"ipv{found.version}" == kind

    return test


def ipwrap(value: Any) -> Any:
    """IPv6 addresses in brackets."""
    if isinstance(value, list | tuple):
        return [ipwrap(item) for item in value]
    return f"[{value}]" if ":" in str(value) and not str(value).startswith("[") else value


def is_hex(value: Any) -> bool:
    """Whether a text is a hexadecimal number."""
    return re.fullmatch(r"(0x)?[0-9a-fA-F]+", str(value)) is not None


def zipped(*lists: Any) -> list[tuple[Any, ...]]:
    """Items of the same position together."""
    return list(zip(*lists, strict=False))


def zip_longest(*lists: Any, fillvalue: Any = None) -> list[tuple[Any, ...]]:
    """Items of the same position together, up to the longest."""
    import itertools

    return list(itertools.zip_longest(*lists, fillvalue=fillvalue))


def _late(module: str, name: str) -> Callable[..., Any]:
    """A filter whose module is imported when it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        import importlib

        return getattr(importlib.import_module(f"runner.render.{module}"), name)(*args, **kwargs)

    return call


@jinja2.pass_context
def http_query(context: jinja2.runtime.Context, url: str, **options: Any) -> Any:
    """The answer of a web server, as salt['http.query'] gives it."""
    return context["salt"]["http.query"](url, **options)


_MORE = """
    avg compare_lists compare_dicts  is_iter is_list exactly_n_true substring_in_list contains_whitespace
    check_whitelist_blacklist method_call  dict_to_sls_yaml_params to_bytes human_to_bytes to_snake_case
    to_camelcase set_dict_key_value append_dict_key_value extend_dict_key_value update_dict_key_value json_query uuid
    random_sample random_shuffle random_str rand_str hmac hmac_compute is_bin_file is_text_file  list_files
    file_hashsum mysql_to_dict
"""
_NETWORK = "ipaddr ipv4 ipv6 network_hosts network_size ip_host gen_mac mac_str_to_bytes dns_check connection_check"
_RENAMED = {
    "exactly_one_true": "exactly_n_true",
    "json_decode_list": "json_decode",
    "json_decode_dict": "json_decode",
    "json_encode_list": "json_decode",
    "json_encode_dict": "json_decode",
    "is_empty": "is_empty_file",
}

FILTERS: dict[str, Callable[..., Any]] = {
    "http_query": http_query,
    **{name: _late("more_filters", name) for name in _MORE.split()},
    **{name: _late("network_filters", name) for name in _NETWORK.split()},
    **{name: _late("more_filters", real) for name, real in _RENAMED.items()},
    "yaml": to_yaml,
    "json": to_json,
    "load_yaml": load_yaml,
    "load_json": load_json,
    "load_text": str,
    "yaml_dquote": yaml_dquote,
    "yaml_squote": yaml_squote,
    "yaml_encode": yaml_encode,
    "regex_search": regex_search,
    "regex_match": regex_match,
    "regex_replace": regex_replace,
    "regex_escape": re.escape,
    "traverse": traverse,
    "to_bool": to_bool,
    "to_num": to_num,
    "sequence": sequence,
    "strftime": strftime,
    "date_format": strftime,
    "md5": _hashed("md5"),
    "sha1": _hashed("sha1"),
    "sha256": _hashed("sha256"),
    "sha512": _hashed("sha512"),
    "base64_encode": base64_encode,
    "base64_decode": base64_decode,
    "path_join": path_join,
    "which": which,
    "quote": quote,
    "flatten": flatten,
    "unique": unique,
    "union": union,
    "intersect": intersect,
    "difference": difference,
    "symmetric_difference": symmetric_difference,
    "is_ip": _address(),
    "is_ipv4": _address("ipv4"),
    "is_ipv6": _address("ipv6"),
    "ipwrap": ipwrap,
    "is_hex": is_hex,
    "zip": zipped,
    "zip_longest": zip_longest,
}
TESTS: dict[str, Callable[..., bool]] = {
    "list": lambda value: isinstance(value, list),
    "match": lambda value, pattern, ignorecase=False, multiline=False: (
        re.match(pattern, str(value), _flags(ignorecase, multiline)) is not None
    ),
    "is_hex": is_hex,
}
GLOBALS: dict[str, Any] = {}
