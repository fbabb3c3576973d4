# SPDX-License-Identifier: Apache-2.0
"""The keys that a configuration may have: the fields of `Options`, those that only one part reads,
and Salt's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from runner.model import text_tables
from runner.model.diagnostics import similar
from runner.sources.config.options import KEYS_OF_OPTIONS, Options, keyed
from runner.sources.config.unused_keys import INSTEAD

if TYPE_CHECKING:
    from typing import Annotated, Literal

    from runner.sources.config.key_descriptions import (
        COMPILING,
        FILES,
        FLEET,
        MODULES,
        PILLAR,
        REPORTS,
        REPOSITORIES,
        RUNNING,
        SECRETS,
        TOP_FILES,
        TREE,
        Key,
    )


class PartSettings:
    """Settings that one part of the program reads, from `Options.raw`; as in `Options`. The values
    are what templates find in `opts`.
    """

    include: Annotated[
        list[str] | str,
        Key(
            FILES,
            "Further files of the configuration, relative to this one; globs are allowed. A"
            " later file wins over an earlier one, key by key.",
            "include:\n  - site.yaml\n  - conf.d/*.yaml",
        ),
    ]
    default_include: Annotated[
        str,
        Key(
            FILES,
            "A glob of files that are included by themselves, relative to this file.",
            "default_include: conf.d/*.yaml",
            default="runner.d/*.yaml; minion.d/*.conf in a Salt minion file",
        ),
    ] = "minion.d/*.conf"
    tree: Annotated[
        Mapping[str, Any],
        Key(
            TREE,
            "The git repository that `runner pull` gets the tree from (docs/pull.md).",
            "tree:\n  remote: https://git.example.org/ops/site.git\n  ref: main",
        ),
    ]
    environment: Annotated[str, Key(TREE, "An older name of `saltenv`.", "environment: base")]
    file_ignore_glob: Annotated[
        list[str] | str,
        Key(
            TREE,
            "Files that `salt://` does not serve, as globs of their paths.",
            "file_ignore_glob:\n  - '*.swp'\n  - '*/.git/*'",
        ),
    ] = []
    file_ignore_regex: Annotated[
        list[str] | str,
        Key(
            TREE,
            "Files that `salt://` does not serve, as regular expressions that are searched in"
            " their paths.",
            "file_ignore_regex:\n  - '/\\.svn($|/)'",
        ),
    ] = []
    fileserver_followsymlinks: Annotated[
        bool,
        Key(
            TREE,
            "Whether `salt://` follows symbolic links to folders.",
            "fileserver_followsymlinks: false",
        ),
    ] = True
    fileserver_ignoresymlinks: Annotated[
        bool,
        Key(
            TREE, "Whether `salt://` leaves out symbolic links.", "fileserver_ignoresymlinks: true"
        ),
    ] = False
    module_dirs: Annotated[
        list[str],
        Key(
            TREE,
            "Further folders of execution modules, beside `_modules/` of the tree.",
            "module_dirs:\n  - /srv/more/_modules",
        ),
    ] = []
    states_dirs: Annotated[
        list[str],
        Key(
            TREE,
            "Further folders of state modules, beside `_states/` of the tree.",
            "states_dirs:\n  - /srv/more/_states",
        ),
    ] = []
    grains_dirs: Annotated[
        list[str],
        Key(
            TREE,
            "Further folders of grains, beside `_grains/` of the tree.",
            "grains_dirs:\n  - /srv/more/_grains",
            default="[]",
        ),
    ]
    render_dirs: Annotated[
        list[str],
        Key(
            TREE,
            "Further folders of renderers, beside `_renderers/` of the tree.",
            "render_dirs:\n  - /srv/more/_renderers",
            default="[]",
        ),
    ]
    utils_dirs: Annotated[
        list[str],
        Key(
            TREE,
            "Further folders of what modules share (`__utils__`), beside `_utils/` of the tree.",
            "utils_dirs:\n  - /srv/more/_utils",
            default="[]",
        ),
    ]
    master_tops: Annotated[
        str | list[Any] | Mapping[str, Any],
        Key(
            TOP_FILES,
            "A command that is called with the ID of this machine and prints SLS names or"
            " classes as YAML: a node classifier.",
            "master_tops: /etc/runner/classify",
        ),
    ]
    master_tops_first: Annotated[
        bool,
        Key(
            TOP_FILES,
            "Whether SLS files of `master_tops` come before those of the top file.",
            "master_tops_first: true",
            default="false",
        ),
    ]
    renderer_whitelist: Annotated[
        list[str],
        Key(COMPILING, "The only renderers that may be used.", "renderer_whitelist: [jinja, yaml]"),
    ] = []
    renderer_blacklist: Annotated[
        list[str], Key(COMPILING, "Renderers that may not be used.", "renderer_blacklist: [py]")
    ] = []
    jinja_trim_blocks: Annotated[
        bool,
        Key(
            COMPILING,
            "An older form of `trim_blocks: true` in both `jinja_env` and `jinja_sls_env`.",
            "jinja_trim_blocks: true",
            default="false",
        ),
    ]
    jinja_lstrip_blocks: Annotated[
        bool,
        Key(
            COMPILING,
            "An older form of `lstrip_blocks: true` in both `jinja_env` and `jinja_sls_env`.",
            "jinja_lstrip_blocks: true",
            default="false",
        ),
    ]
    render_limit: Annotated[
        int | None,
        Key(
            COMPILING,
            "How long one file, with all that it imports, may be rendered; 0 is without"
            " limit. To parse what it renders to, it may take as long again for each million"
            " characters.",
            "render_limit: 60",
            unit="seconds of the processor",
            default="5",
        ),
    ] = None
    sls_size_limit: Annotated[
        int,
        Key(
            COMPILING,
            "How large a file may be that is compiled: SLS, pillar, top file, template; 0 is"
            " without limit.",
            "sls_size_limit: 64",
            unit="MiB",
            default="16",
        ),
    ]
    edit_size_limit: Annotated[
        int,
        Key(
            COMPILING,
            "How large a file may be that is read whole to be edited or searched"
            " (`file.replace`, `file.line`); 0 is without limit.",
            "edit_size_limit: 512",
            unit="MiB",
            default="128",
        ),
    ]
    foresee: Annotated[
        Mapping[str, Any],
        Key(
            RUNNING,
            "What a dry run finds out for what it plans (docs/dry-run.md).",
            "foresee:\n  packages: never",
            default="{}",
        ),
    ]
    backup_mode: Annotated[
        Any,
        Key(
            RUNNING,
            "`minion` keeps a copy of each file that a state replaces, in `state_dir`.",
            "backup_mode: minion",
            default="no copies",
            type="a text",
        ),
    ] = ""
    x509_signing_policies: Annotated[
        Mapping[str, Any],
        Key(
            RUNNING,
            "Policies of certificates that `x509.certificate_managed` makes with `signing_policy`.",
            "x509_signing_policies:\n  www:\n    days_valid: 90",
            default="{}",
        ),
    ]
    pillarenv_from_saltenv: Annotated[
        bool,
        Key(PILLAR, "Whether `pillarenv` is what `saltenv` is.", "pillarenv_from_saltenv: true"),
    ] = False
    pillar_opts: Annotated[
        bool,
        Key(
            PILLAR,
            "Whether the configuration is in the pillar, under `master`.",
            "pillar_opts: true",
        ),
    ] = False
    pillar_raise_on_missing: Annotated[
        bool,
        Key(
            PILLAR,
            "Whether `pillar.get` without a default fails for a key that does not exist.",
            "pillar_raise_on_missing: true",
        ),
    ] = False
    ext_pillar: Annotated[
        Any,
        Key(
            PILLAR,
            "Pillar data from elsewhere, each source laid over those before it.",
            "ext_pillar:\n  - cmd_yaml: /etc/runner/pillar-of-this-machine",
            type="a list",
        ),
    ] = []
    ext_pillar_first: Annotated[
        bool,
        Key(
            PILLAR,
            "Whether pillar files win over external data; otherwise external data win.",
            "ext_pillar_first: true",
            default="false",
        ),
    ]
    age_identities: Annotated[
        list[str],
        Key(
            SECRETS,
            "Files with the age or ssh keys that decrypt, relative to the configuration.",
            "age_identities:\n  - /etc/runner/age.key",
            default="[/etc/ssh/ssh_host_ed25519_key, /etc/ssh/ssh_host_rsa_key]",
        ),
    ]
    age_recipients: Annotated[
        list[str],
        Key(
            SECRETS,
            "The keys for which `runner secret` encrypts.",
            "age_recipients:\n  - age1tz0ql5p4uf5q0q9jlfn0tzvr0e0hq6w5m8d6q3sz2n4l6k3v8xsq9ghsm2",
        ),
    ]
    gpg_keydir: Annotated[
        str,
        Key(
            SECRETS,
            "The home directory of gpg, with the keys that decrypt.",
            "gpg_keydir: /etc/runner/gpgkeys",
            default="/etc/runner/gpgkeys, else /etc/salt/gpgkeys",
        ),
    ]
    gpg_recipients: Annotated[
        list[str],
        Key(
            SECRETS,
            "The keys for which `runner secret --with gpg` encrypts.",
            "gpg_recipients: [ops@example.org]",
        ),
    ]
    gpg_decrypt_must_succeed: Annotated[
        bool,
        Key(
            SECRETS,
            "Whether a value that gpg cannot decrypt is an error; otherwise it stays as it is.",
            "gpg_decrypt_must_succeed: true",
            default="true",
        ),
    ]
    vault: Annotated[
        Mapping[str, Any],
        Key(
            SECRETS,
            "The server of Vault or OpenBao, and who asks it: for `ext_pillar: vault`,"
            " `vault.*` and the driver vault of sdb. See secrets.md for its keys.",
            "vault:\n  server:\n    url: https://vault.example.org:8200\n  auth:\n"
            "    token_file: /etc/runner/vault-token",
        ),
    ]
    decrypt_pillar: Annotated[
        list[Any] | Mapping[str, Any],
        Key(
            SECRETS,
            "Parts of the pillar to decrypt when it is compiled; `none` leaves one as it is.",
            "decrypt_pillar:\n  - secrets:passwords\n  - tokens: age\n  - backup:key: none",
        ),
    ] = []
    decrypt_pillar_default: Annotated[
        str,
        Key(
            SECRETS,
            "The renderer of `decrypt_pillar` where it names none.",
            "decrypt_pillar_default: age",
        ),
    ] = "gpg"
    decrypt_pillar_delimiter: Annotated[
        str,
        Key(
            SECRETS,
            "What separates the keys in the paths of `decrypt_pillar`.",
            "decrypt_pillar_delimiter: '|'",
        ),
    ] = ":"
    decrypt_pillar_renderers: Annotated[
        list[str],
        Key(
            SECRETS,
            "The renderers that `decrypt_pillar` may name.",
            "decrypt_pillar_renderers: [gpg]",
            default="[age, gpg]",
        ),
    ]
    report: Annotated[
        Any,
        Key(
            REPORTS,
            "Where the report of each run is delivered (docs/reports.md).",
            "report:\n  to: ssh://reports@collector.example.org/srv/reports",
            default="none",
            type="a mapping",
        ),
    ]
    always: Annotated[
        str | list[Any],
        Key(
            REPORTS,
            "Commands, each a list of words, or a text for a shell, that each run calls at its end;"
            " they read its report from standard input.",
            "always: 'curl -fsS -m 10 \"https://hc-ping.com/UUID/$RUNNER_EXIT_CODE\"'",
        ),
    ]
    on_change: Annotated[
        str | list[Any],
        Key(
            REPORTS,
            "Commands, each a list of words, or a text for a shell, that a run calls at its end if"
            " it changed something; they read its report from standard input.",
            "on_change:\n  - [logger, -t, runner, changed]",
        ),
    ]
    on_failure: Annotated[
        str | list[Any],
        Key(
            REPORTS,
            "Commands, each a list of words, or a text for a shell, that a run calls at its end if"
            " a state failed; they read its report from standard input.",
            "on_failure:\n  - [mail, -s, runner failed, root]",
        ),
    ]
    on_success: Annotated[
        str | list[Any],
        Key(
            REPORTS,
            "Commands, each a list of words, or a text for a shell, that a run calls at its end if"
            " no state failed; they read its report from standard input.",
            "on_success:\n  - [curl, -fsS, -m, '10', 'https://hc-ping.com/UUID']",
        ),
    ]
    otel_endpoint: Annotated[
        str,
        Key(
            REPORTS,
            "The OpenTelemetry collector that each run sends its trace to, by OTLP over HTTP"
            " (docs/output.md).",
            "otel_endpoint: http://127.0.0.1:4318",
            default="what the variables OTEL_* of the environment say",
        ),
    ]
    otel_headers: Annotated[
        Mapping[str, Any],
        Key(
            REPORTS,
            "Headers that the collector asks for. The values are secrets.",
            "otel_headers:\n  authorization: Bearer 1234567890",
        ),
    ]
    prometheus_textfile: Annotated[
        str,
        Key(
            REPORTS,
            "A file that each run writes its metrics to, for node_exporter.",
            "prometheus_textfile: /var/lib/prometheus/node-exporter/runner.prom",
        ),
    ]
    html_report: Annotated[
        str,
        Key(
            REPORTS,
            "A folder that each run writes its page to, for a browser, and the index of all"
            " (docs/run-page.md).",
            "html_report: /var/www/runs",
        ),
    ]
    log_level_logfile: Annotated[
        str,
        Key(
            REPORTS,
            "The same for `log_file`.",
            "log_level_logfile: debug",
            default="that of `log_level`",
        ),
    ]
    log_granular_levels: Annotated[
        Mapping[str, Any],
        Key(
            REPORTS,
            "Levels of single loggers, such as that of a module of the tree.",
            "log_granular_levels:\n  runner.pkg: info",
        ),
    ]
    log_fmt_console: Annotated[
        str,
        Key(
            REPORTS,
            "The form of a line on standard error: fields of Python's `logging`, and Salt's.",
            "log_fmt_console: '%(asctime)s %(colorlevel)s %(message)s'",
            default="'[%(levelname)-8s] %(message)s'",
        ),
    ]
    log_fmt_logfile: Annotated[
        str,
        Key(
            REPORTS,
            "The form of a line in `log_file`; the journal and syslog note the time themselves.",
            "log_fmt_logfile: '%(asctime)s %(levelname)s %(message)s'",
            default="'%(asctime)s [%(name)s][%(levelname)-8s] %(message)s'",
        ),
    ]
    log_datefmt: Annotated[
        str,
        Key(
            REPORTS,
            "The form of times in the log, as strftime takes it.",
            "log_datefmt: '%H:%M:%S'",
            default="as in 2026-01-31 12:00:00,123",
        ),
    ]
    log_datefmt_console: Annotated[
        str,
        Key(
            REPORTS,
            "The same for standard error.",
            "log_datefmt_console: '%H:%M:%S'",
            default="that of `log_datefmt`",
        ),
    ]
    log_datefmt_logfile: Annotated[
        str,
        Key(
            REPORTS,
            "The same for `log_file`.",
            "log_datefmt_logfile: '%Y-%m-%dT%H:%M:%S%z'",
            default="that of `log_datefmt`",
        ),
    ]
    plan_allowed_signers: Annotated[
        str,
        Key(
            REPORTS,
            "The file of those whose signature a plan needs to be applied (docs/saved-plans.md).",
            "plan_allowed_signers: /etc/runner/allowed_signers",
            default="no signature is needed",
        ),
    ]
    providers: Annotated[
        Any,
        Key(
            MODULES,
            "Which provider of a module does its work, for states that do not name one with"
            " `provider`.",
            "providers:\n  pkg: apt",
            type="a mapping",
        ),
    ] = {}
    offline: Annotated[
        Literal["auto"] | bool,
        Key(
            RUNNING,
            "Whether the system does not run (docs/images.md): what is kept is changed there, and"
            " nothing is started, loaded or mounted. `auto` goes by the grain `booted`.",
            "offline: true",
        ),
    ] = "auto"
    hash_type: Annotated[
        Any,
        Key(MODULES, "The digest that `cp.hash_file` takes.", "hash_type: sha512", type="a text"),
    ] = "sha256"
    fleet: Annotated[
        Mapping[str, Any],
        Key(
            FLEET,
            "Settings of `runner fleet` (docs/fleet.md).",
            "fleet:\n  inventory: hosts.yaml\n  forks: 20",
        ),
    ]
    fileserver_backend: Annotated[
        Any,
        Key(
            REPOSITORIES,
            "What serves files, the first wins: `roots` (file_roots) and `gitfs`.",
            "fileserver_backend: [roots, gitfs]",
            type="a list",
        ),
    ] = ["roots"]
    gitfs_remotes: Annotated[
        Any,
        Key(
            REPOSITORIES,
            "Git repositories whose branches and tags are environments (docs/gitfs.md); with"
            " settings of their own below them.",
            "fileserver_backend: [gitfs]\ngitfs_remotes:\n"
            "  - https://git.example.org/salt.git:\n      - root: states",
            default="none",
            type="a list",
        ),
    ]
    git_pillar_includes: Annotated[
        Any,
        Key(
            REPOSITORIES,
            "Whether a pillar file may include one of another repository.",
            "git_pillar_includes: false",
            default="true",
            type="true or false",
        ),
    ]
    gitfs_saltenv: Annotated[
        Any,
        Key(
            REPOSITORIES,
            "The ref, root and mountpoint of single environments, for all repositories.",
            "gitfs_saltenv:\n  - prod:\n    - ref: v1",
            default="none",
            type="a list",
        ),
    ]


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
# the keys that have an effect, and their annotations
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
LONGEST = 10**9  # seconds that something may take: more than 30 years
# commands that a run calls at its end
NOTIFYING = ("on_success", "on_failure", "on_change", "always")
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
    return SETTINGS.get(key, "").removeprefix("Annotated[").partition(", Key(")[0]


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
        or key in INSTEAD
        or "." in str(key)
        or ":" in str(key)
    )


def nearest(key: object) -> str | None:
    """The key that was probably meant."""
    ours = similar(str(key), [*SETTINGS, *DEFAULTS], 1, 0.75)
    return next(iter(ours or similar(str(key), salt_keys(), 1, 0.8)), None)
