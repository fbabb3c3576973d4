# SPDX-License-Identifier: Apache-2.0
"""Salt's Jinja filters, tests and globals: the table of their names.

Each lives in a small file here, which is imported when a template names the first of its filters. A
file that the table does not list is one filter of its name: `shout.py` with a function `shout`.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from runner.language.filters import text
from runner.support.files.group_commit import GROUP_COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FILES = {
    "data": """
        append_dict_key_value dict_to_sls_yaml_params extend_dict_key_value from_entries
        json_query method_call set_dict_key_value to_entries traverse update_dict_key_value
    """,
    "dates": "date_format=strftime strftime",
    "files": """
        file_hashsum get_uid is_bin_file is_empty is_text_file list_files mysql_to_dict
        path_join which
    """,
    "hashing": """
        base64_decode base64_encode hmac hmac_compute md5 rand_str random_hash=rand_str
        random_sample random_shuffle random_str sha1 sha256 sha512 uuid
    """,
    "lists": """
        avg check_whitelist_blacklist combinations combinations_with_replacement compare_dicts
        compare_lists compress difference exactly_n_true exactly_one_true flatten intersect
        is_iter is_list max=maximum min=minimum permutations product sequence skip
        sorted_ignorecase substring_in_list symmetric_difference union unique zip=zipped
        zip_longest
    """,
    "network": """
        connection_check dns_check filter_by_networks gen_mac http_query ip_host ipaddr ipv4
        ipv6 ipwrap is_ip is_ipv4 is_ipv6 mac_str_to_bytes network_hosts network_size
    """,
    "serial": """
        json=to_json json_decode_dict=encoded_dict json_decode_list=encoded_list
        json_encode_dict=encoded_dict json_encode_list=encoded_list load_json load_text=str_
        load_yaml python=to_python tojson xml=to_xml yaml=to_yaml yaml_dquote yaml_encode
        yaml_squote
    """,
    "text": """
        contains_whitespace human_to_bytes is_hex quote regex_escape regex_match regex_replace
        regex_search str_to_num=to_num to_bool to_bytes to_camelcase to_num to_snake_case
    """,
}
Filter = Callable[..., Any]
WHERE: dict[str, tuple[str, str]] = {
    name: (file, real or name)
    for file, listed in _FILES.items()
    for name, _, real in (entry.partition("=") for entry in listed.split())
} | {
    name: (name, name)
    for name, ending in map(os.path.splitext, os.listdir(os.path.dirname(__file__)))
    if ending == ".py" and name not in _FILES and name != "__init__"
}

_LOOKING = (
    "connection_check dns_check file_hashsum get_uid is_bin_file is_empty is_text_file list_files"
    " which"
).split()

# the files of filters that answer by what they are given alone, and those of them that do not
_BY_VALUE = ("data", "hashing", "lists", "serial", "text")
_OTHERWISE = (
    "append_dict_key_value extend_dict_key_value method_call rand_str random_hash random_sample"
    " random_shuffle random_str set_dict_key_value update_dict_key_value"
).split()
REPEATABLE = {name for name, (file, _) in WHERE.items() if file in _BY_VALUE} - {*_OTHERWISE}


class Filters(dict[str, Filter]):
    """The filters of an environment: Jinja's own, and Salt's when they are first asked for, which
    replace those of the same name. wrapped: what becomes of each.
    """

    def __init__(self, own: Mapping[str, Filter], wrapped: Callable[[str, Filter], Filter]) -> None:
        super().__init__({name: wrapped(name, own[name]) for name in own if name not in WHERE})
        self._wrapped = wrapped

    def __missing__(self, name: str) -> Filter:
        file, real = WHERE[name]
        function: Filter = getattr(importlib.import_module(f"{__name__}.{file}"), real)
        if name in _LOOKING:
            function = _looking(function)
        self[name] = function = self._wrapped(name, function)
        return function

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in WHERE

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


def _looking(function: Filter) -> Filter:
    """A filter that looks at the machine, which is to find what states have written."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        GROUP_COMMIT.look_around()
        return function(*args, **options)

    return call


def match(value: str, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
    return re.match(pattern, value, text.flags(ignorecase, multiline)) is not None


def list_(value: object) -> bool:
    return isinstance(value, list)


TESTS: dict[str, Callable[..., bool]] = {"list": list_, "match": match}
