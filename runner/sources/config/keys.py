# SPDX-License-Identifier: Apache-2.0
"""The keys that a configuration may have: the fields of `Options`, those that only one part reads,
and Salt's.
"""

from __future__ import annotations

from functools import cache

from runner.model import diagnostics, text_tables
from runner.sources.config import unused_keys
from runner.sources.config.options import KEYS_OF_OPTIONS, Options, keyed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from runner.sources.config.options import Key


class PartSettings:
    """Settings that one part of the program reads, from `Options.raw`; as in `Options`. The values
    are what templates find in `opts`.
    """

    include: Key[list[str] | str]
    default_include: Key[str] = "minion.d/*.conf"
    tree: Key[Mapping[str, Any]]
    environment: Key[str]
    file_ignore_glob: Key[list[str] | str] = []
    file_ignore_regex: Key[list[str] | str] = []
    fileserver_followsymlinks: Key[bool] = True
    fileserver_ignoresymlinks: Key[bool] = False
    module_dirs: Key[list[str]] = []
    states_dirs: Key[list[str]] = []
    grains_dirs: Key[list[str]]
    render_dirs: Key[list[str]]
    utils_dirs: Key[list[str]]
    master_tops: Key[str | list[Any] | Mapping[str, Any]]
    master_tops_first: Key[bool]
    renderer_whitelist: Key[list[str]] = []
    renderer_blacklist: Key[list[str]] = []
    jinja_trim_blocks: Key[bool]
    jinja_lstrip_blocks: Key[bool]
    render_limit: Key[int | None] = None
    sls_size_limit: Key[int]
    edit_size_limit: Key[int]
    foresee: Key[Mapping[str, Any]]
    backup_mode: Key[Any] = ""
    x509_signing_policies: Key[Mapping[str, Any]]
    pillarenv_from_saltenv: Key[bool] = False
    pillar_opts: Key[bool] = False
    pillar_raise_on_missing: Key[bool] = False
    ext_pillar: Key[Any] = []
    ext_pillar_first: Key[bool]
    age_identities: Key[list[str]]
    age_recipients: Key[list[str]]
    gpg_keydir: Key[str]
    gpg_recipients: Key[list[str]]
    gpg_decrypt_must_succeed: Key[bool]
    vault: Key[Mapping[str, Any]]
    decrypt_pillar: Key[list[Any] | Mapping[str, Any]] = []
    decrypt_pillar_default: Key[str] = "gpg"
    decrypt_pillar_delimiter: Key[str] = ":"
    decrypt_pillar_renderers: Key[list[str]]
    report: Key[Any]
    always: Key[str | list[Any]]
    on_change: Key[str | list[Any]]
    on_failure: Key[str | list[Any]]
    on_success: Key[str | list[Any]]
    otel_endpoint: Key[str]
    otel_headers: Key[Mapping[str, Any]]
    prometheus_textfile: Key[str]
    html_report: Key[str]
    log_level_logfile: Key[str]
    log_granular_levels: Key[Mapping[str, Any]]
    log_fmt_console: Key[str]
    log_fmt_logfile: Key[str]
    log_datefmt: Key[str]
    log_datefmt_console: Key[str]
    log_datefmt_logfile: Key[str]
    plan_allowed_signers: Key[str]
    providers: Key[Any] = {}
    offline: Key[Literal["auto"] | bool] = "auto"
    hash_type: Key[Any] = "sha256"
    fleet: Key[Mapping[str, Any]]
    fileserver_backend: Key[Any] = ["roots"]
    gitfs_remotes: Key[Any]
    git_pillar_includes: Key[Any]
    gitfs_saltenv: Key[Any]


# what templates find in `opts` of Salt's keys when the configuration does not say otherwise
_OF_SALT: Mapping[str, Any] = {
    "autoload_dynamic_modules": True,
    "clean_dynamic_modules": True,
    "cmd_safe": True,
    "disable_modules": [],
    "disable_returners": [],
    "features": {},
    "file_buffer_size": 262144,
    "file_client": "local",
    "global_state_conditions": None,
    "ipv6": None,
    "local": True,
    "lock_saltenv": False,
    "master": "salt",
    "mine_functions": {},
    "pillar_cache": False,
    "root_dir": "/",
    "schedule": {},
    "state_output": "full",
    "state_verbose": True,
    "__cli": "salt-call",
    "__role": "minion",
}
# and of those that are fields of Options
_IN_OPTIONS = """
    default_top env_order failhard jinja_env jinja_sls_env log_level nodegroups pillar
    pillar_includes_override_sls pillar_merge_lists pillar_source_merging_strategy pillarenv
    renderer saltenv state_aggregate state_auto_order state_top state_top_saltenv strict test
    top_file_merging_strategy unknown_states
"""
_USUAL = Options()
DEFAULTS: Mapping[str, Any] = {
    **_OF_SALT,
    **{name: value for name, value in vars(PartSettings).items() if name[0] != "_"},
    **{name: getattr(_USUAL, name) for name in _IN_OPTIONS.split()},
    "env_order": [],  # a list, in YAML
}
# the keys that have an effect, and their types
SETTINGS: Mapping[str, str] = {**KEYS_OF_OPTIONS, **keyed(PartSettings)}

MAPPING, TEXT, FLAG, LIST, NUMBER = (
    "a mapping",
    "a text",
    "true or false",
    "a list",
    "a whole number",
)
KINDS: Mapping[str, tuple[type, ...]] = {
    MAPPING: (dict,),
    TEXT: (str,),
    FLAG: (bool,),
    LIST: (list,),
    NUMBER: (int,),
}
# commands that a run calls at its end
NOTIFYING = ("on_success", "on_failure", "on_change", "always")
WATCH_EVENT = "watch_event"  # why `runner watch` runs states, among what the configuration says
# types of Python, as a configuration has them
_WORDS = {
    "bool": FLAG,
    "str": TEXT,
    "Literal": TEXT,
    "int": NUMBER,
    "float": NUMBER,
    "Mapping": MAPPING,
    "tuple": LIST,
    "list": LIST,
}


def _kinds(names: str) -> list[str]:
    """The types of an annotation: bool and tuple of `bool | tuple[str, ...]`."""
    while (at := names.rfind("[")) >= 0:
        names = names[:at] + names[names.index("]", at) + 1 :]
    return names.split(" | ")


def _type(key: str) -> str:
    """The Python type of a setting, as its annotation has it; empty for none."""
    return SETTINGS.get(key, "")


def types(key: str) -> tuple[str, ...]:
    """What a key of the configuration has to be; empty where its own part checks that."""
    return _words(_type(key))


def entries(key: str) -> tuple[str, ...]:
    """What each entry of a list has to be; empty where that is checked elsewhere."""
    if _type(key).startswith("list["):
        return _words(_type(key).removeprefix("list[").partition("]")[0])
    before, _, inside = _type(key).partition("tuple[")
    return () if before.startswith("Mapping") else _words(inside.removesuffix(", ...]"))


def _words(types: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORDS[kind] for kind in _kinds(types) if kind in _WORDS))


def choices(key: str) -> tuple[str, ...]:
    """The texts that a key may be; empty where it may be any."""
    texts = _type(key).partition("Literal[")[2].partition("]")[0]
    return tuple(text.strip(" '") for text in texts.split(",") if text)


def may_be_odd(key: str) -> bool:
    """Return whether a text that is no choice is taken, as Salt takes it for the first one."""
    return "str" in _kinds(_type(key))


@cache
def salt_keys() -> frozenset[str]:
    """A Salt minion's keys: those that mean nothing here are taken without a word."""
    rows = text_tables.rows("runner.sources.config", "salt_keys.txt")
    return frozenset(name for _, (name,) in rows)


def is_known(key: object) -> bool:
    """Return whether a key needs no warning; `mysql.host` and `gpg:x` configure modules."""
    return (
        key in SETTINGS
        or key in DEFAULTS
        or key in salt_keys()
        or key in unused_keys.instead()
        or "." in str(key)
        or ":" in str(key)
    )


def nearest(key: object) -> str | None:
    """The key that was probably meant."""
    ours = diagnostics.similar(str(key), [*SETTINGS, *DEFAULTS], 1, 0.75)
    return next(iter(ours or diagnostics.similar(str(key), salt_keys(), 1, 0.8)), None)
