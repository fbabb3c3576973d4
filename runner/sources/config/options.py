# SPDX-License-Identifier: Apache-2.0
"""The settings of a run: each is said here, and read where it matters.

A field is a setting's name, type and default. Its annotation has the page of its key
(`KeyDescription`), which only the manual evaluates; `flag` makes it an option of command lines.
The check of configurations, their reference, `--help`, completion and the man pages follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.model.diagnostics import Diagnostic
from runner.model.records import Record
from runner.support.redaction.keys import KEYS

if TYPE_CHECKING:
    from typing import Annotated, Literal, TypeVar

    from runner.sources.config.key_descriptions import (
        COMPILING,
        FILES,
        MACHINE,
        PILLAR,
        REPORTS,
        RUNNING,
        SECRETS,
        TOP_FILES,
        TREE,
        Key,
    )
    from runner.sources.config.report import Destination
    from runner.sources.gitfs import PillarFolder
    from runner.sources.trees import Tree
    from runner.sources.trees.source import TreeSource

    Default = TypeVar("Default")


class Flag(Record):
    """An option of command lines that makes a setting. of: which commands have it: `reading` (all),
    `rooted` (those that can be about an image), `building` (those that make one), `running`,
    `choosing` (states).
    """

    names: tuple[str, ...]
    of: str
    about: dict[str, Any]  # help, metavar and the like, of `cli/parsing/option_spec.py`


FLAGS: dict[str, Flag] = {}  # by the names of their settings


def flag(default: Default, *names: str, of: str, **about: Any) -> Default:
    """The default of a setting that is an option, too: its long name is the setting's own."""
    (setting,) = (name[2:].replace("-", "_") for name in names if name.startswith("--"))
    FLAGS[setting] = Flag(names, of, about)
    return default


class Options(Record):
    """The checked configuration; `raw` is what templates see as `opts`.

    What only one part of the program reads from there is in `PartSettings` (keys.py). Fields
    without a `Key` are no keys of a configuration.
    """

    id: Annotated[
        str,
        Key(
            MACHINE,
            "The name of this machine: top files, `grains.id` and reports use it.",
            "id: web1.example.org",
            default="the contents of the file `minion_id` beside the configuration, else the"
            " host name",
        ),
    ] = flag("", "--id", of="reading", metavar="ID", help="This machine's ID.")
    root: Annotated[
        str,
        Key(
            MACHINE,
            "The machine is the tree of files below this folder: an image that does not run"
            " (docs/images.md). `id` is then the name in its /etc/hostname, `cachedir` and"
            " `state_dir` lie in it.",
            "root: /srv/images/web",
            default="this machine",
        ),
    ] = flag("", "--root", of="rooted", metavar="DIR", help="The image in this directory.")
    file_roots: Annotated[
        Mapping[str, tuple[str, ...]],
        Key(
            TREE,
            "The folders of SLS files and of what `salt://` names, by environment. Earlier"
            " folders win. Globs are allowed; relative paths start at the configuration file.",
            "file_roots:\n  base:\n    - /srv/salt\n    - /srv/formulas/*",
            default="those of /srv/runner/states and /srv/salt that exist, as `base`",
        ),
    ] = {}
    pillar_roots: Annotated[
        Mapping[str, tuple[str, ...]],
        Key(
            TREE,
            "The folders of the pillar's SLS files, by environment. `__env__` stands for"
            " every environment that has no folders of its own.",
            "pillar_roots:\n  base:\n    - /srv/pillar",
            default="those of /srv/runner/pillar and /srv/pillar that exist, as `base`",
        ),
    ] = {}
    raw: Mapping[str, Any] = {}
    # static ones
    grains: Annotated[
        Mapping[str, Any],
        Key(
            MACHINE,
            "Static grains. They win over those that are gathered and over the file `grains`"
            " beside the configuration.",
            "grains:\n  role: web\n  datacentre: fra1",
            default="{}",
        ),
    ] = {}
    own_grains: Mapping[str, Any] = {}  # those of the configuration itself
    tree_grains: Mapping[str, Any] = {}  # those that a pulled tree brings
    tree_source: TreeSource | None = None  # where `runner pull` gets the tree from
    tree: Tree | None = None  # the pulled tree that is used
    awaits_tree: bool = False  # there is none yet
    # from --pillar, merged last
    pillar: Annotated[
        Mapping[str, Any],
        Key(
            PILLAR,
            "Pillar data of the configuration itself, below what the pillar's files say.",
            "pillar:\n  port: 8080",
        ),
    ] = {}
    git_pillars: Mapping[str, tuple[PillarFolder, ...]] = {}  # `ext_pillar: git` of an image
    pillar_of_file: Mapping[str, Any] = {}  # from the configuration file
    whole_pillar: Mapping[str, Any] | None = None  # in place of all that would be compiled
    nodegroups: Annotated[
        Mapping[str, Any],
        Key(
            MACHINE,
            "Names for compound targets; a top file uses one as `N@NAME`, or with `match:"
            " nodegroup`.",
            "nodegroups:\n  front: 'web* and G@os:Debian'",
        ),
    ] = {}
    jinja_env: Annotated[
        Mapping[str, Any],
        Key(
            COMPILING,
            "Options of Jinja for templates (`file.managed`, `file.recurse`): its switches"
            " and its marks.",
            "jinja_env:\n  trim_blocks: true\n  lstrip_blocks: true",
        ),
    ] = {}
    jinja_sls_env: Annotated[
        Mapping[str, Any],
        Key(
            COMPILING,
            "Options of Jinja for SLS files, of the states and of the pillar.",
            "jinja_sls_env:\n  line_statement_prefix: '%'",
        ),
    ] = {}
    saltenv: Annotated[
        str | None,
        Key(
            TREE,
            "The only environment whose states are run.",
            "saltenv: production",
            default="all that the top files name",
        ),
    ] = flag(None, "--saltenv", of="reading", metavar="ENV", help="Environment of the states.")
    pillarenv: Annotated[
        str | None,
        Key(
            PILLAR,
            "The only environment whose pillar is read.",
            "pillarenv: production",
            default="all environments",
        ),
    ] = flag(None, "--pillarenv", of="reading", metavar="ENV", help="Environment of the pillar.")
    cachedir: Annotated[
        str,
        Key(
            FILES,
            "Where compiled templates, downloads and repositories are kept. In a"
            " configuration of runner's own, `state_dir` lies below it.",
            "cachedir: /srv/cache/runner",
            default="/var/cache/runner; for others than root $XDG_CACHE_HOME/runner",
        ),
    ] = flag(
        "",
        "--cachedir",
        of="reading",
        metavar="DIR",
        help="Keep runner's files below it; state_dir may say otherwise.",
    )
    state_dir: Annotated[
        str,
        Key(
            FILES,
            "Where the history, pending reactions, file backups and pulled trees are kept.",
            "state_dir: /srv/runner/state",
            default="/var/lib/runner (for others than root $XDG_STATE_HOME/runner); `state` in"
            " `cachedir` where that is set",
        ),
    ] = ""
    renderer: Annotated[
        str,
        Key(
            COMPILING,
            "The renderers of files without a `#!` line, one after the other.",
            "renderer: jinja|yaml",
        ),
    ] = "jinja|yaml"
    state_top: Annotated[str, Key(TOP_FILES, "The name of the top file.", "state_top: top.sls")] = (
        "top.sls"
    )
    topfn: str | None = None  # the top file of the states alone
    state_top_saltenv: Annotated[
        str | None,
        Key(
            TOP_FILES,
            "The only environment whose top file is read.",
            "state_top_saltenv: base",
            default="all environments",
        ),
    ] = None
    top_file_merging_strategy: Annotated[
        Literal["merge", "same", "merge_all"] | str,
        Key(
            TOP_FILES,
            "How the top files of several environments come together: `merge` takes an"
            " environment's lines from `base` first, `same` only from its own top file,"
            " `merge_all` from all of them.",
            "top_file_merging_strategy: same",
        ),
    ] = "merge"
    default_top: Annotated[
        str,
        Key(
            TOP_FILES,
            "The environment whose top file decides under `top_file_merging_strategy: same`"
            " for environments that have none.",
            "default_top: base",
        ),
    ] = "base"
    env_order: Annotated[
        tuple[str, ...],
        Key(
            TOP_FILES,
            "The order in which the top files of the environments are merged.",
            "env_order: [base, dev]",
        ),
    ] = ()
    state_auto_order: Annotated[
        bool,
        Key(
            RUNNING,
            "Whether states run in the order of their definition, as far as requisites allow;"
            " otherwise in that of their names.",
            "state_auto_order: false",
        ),
    ] = True
    state_aggregate: Annotated[
        bool | tuple[str, ...],
        Key(
            RUNNING,
            "Whether several states of one kind do their work at once; a list names the state"
            " modules.",
            "state_aggregate: [pkg]",
        ),
    ] = False
    # how many `parallel` states at once; 0: 32
    state_max_parallel: Annotated[
        int,
        Key(
            RUNNING,
            "How many states with `parallel: true` run at once; 0 is the usual number, 32.",
            "state_max_parallel: 4",
            unit="states",
        ),
    ] = 0
    failhard: Annotated[bool, Key(RUNNING, "End the run when a state fails.", "failhard: true")] = (
        False
    )
    pillar_source_merging_strategy: Annotated[
        Literal["smart", "recurse", "list", "aggregate", "overwrite", "none"] | str,
        Key(
            PILLAR,
            "How the data of several pillar files come together.",
            "pillar_source_merging_strategy: recurse",
        ),
    ] = "smart"
    pillar_merge_lists: Annotated[
        bool,
        Key(
            PILLAR,
            "Whether lists are joined when pillar data are merged; otherwise the later list wins.",
            "pillar_merge_lists: true",
        ),
    ] = False
    pillar_includes_override_sls: Annotated[
        bool,
        Key(
            PILLAR,
            "Whether an included pillar file wins over the one that includes it.",
            "pillar_includes_override_sls: true",
        ),
    ] = False
    image: Annotated[
        bool,
        Key(
            RUNNING,
            "The run makes an image, or a layer of a container: it leaves no history, lock, cache"
            " or other file of its own, and nothing that it changed is younger than"
            " `$SOURCE_DATE_EPOCH` where that is set (docs/images.md).",
            "image: true",
        ),
    ] = flag(False, "--image", of="building", help="Leave nothing of runner's own, for an image.")
    image_clean: Annotated[
        tuple[str, ...],
        Key(
            RUNNING,
            "The package managers whose caches and logs a run with `image` empties at its end:"
            " apk, apt, dnf, pacman, pip, zypper; and `ssh` for the machine's own keys of ssh.",
            "image_clean: [apt, pip]",
        ),
    ] = ()
    test: Annotated[
        bool, Key(MACHINE, "Every run is a dry run, as with `--test`.", "test: true")
    ] = flag(False, "--test", of="running", help="Change nothing; show what would change.")
    real: bool = False  # no dry run, whatever the configuration and the pillar say
    mock: bool = False  # a dry run in which no state function is called
    strict: Annotated[
        bool,
        Key(
            COMPILING,
            "Whether doubtful things in the tree, such as an argument that a state does not"
            " have, are errors instead of warnings.",
            "strict: true",
        ),
    ] = False
    # or "fail"
    unknown_states: Annotated[
        Literal["error", "fail"],
        Key(
            COMPILING,
            "Whether a state function that does not exist is an error before the run, or"
            " fails in it as with Salt.",
            "unknown_states: fail",
        ),
    ] = "error"
    # seconds to wait for another run; negative: as long as it takes
    wait: Annotated[
        float,
        Key(
            RUNNING,
            "How long a run waits for another one to end; -1 is without limit.",
            "wait: 300",
            unit="seconds",
        ),
    ] = flag(
        0.0,
        "--wait",
        of="running",
        metavar="[SECONDS]",
        help="Wait for another run (without a value: forever).",
    )
    # seconds for a whole run
    timeout: Annotated[
        float | None,
        Key(
            RUNNING,
            "How long a whole run may take.",
            "timeout: 3600",
            unit="seconds",
            default="no limit",
        ),
    ] = flag(
        None, "--timeout", of="running", metavar="SECONDS", help="End the run after this time."
    )
    # or "required": no change without its reactions written down
    durable: Annotated[
        Literal["wanted", "required"] | bool,
        Key(
            RUNNING,
            "Whether a change is made although its reactions cannot be recorded (`wanted`),"
            " or not (`required`).",
            "durable: required",
        ),
    ] = "wanted"
    # how many runs, and how many days, the history keeps; 0: all
    history_runs: Annotated[
        int,
        Key(
            REPORTS, "How many runs the history keeps; 0 is all.", "history_runs: 2000", unit="runs"
        ),
    ] = 500
    history_days: Annotated[
        int,
        Key(
            REPORTS,
            "For how long the history keeps runs; 0 is for ever.",
            "history_days: 365",
            unit="days",
        ),
    ] = 180
    html_report_runs: Annotated[
        int,
        Key(
            REPORTS,
            "How many runs `html_report` and `runner history --html` keep pages of; 0 is all.",
            "html_report_runs: 1000",
            unit="runs",
        ),
    ] = 100
    auto_relationships: Annotated[
        bool,
        Key(
            RUNNING,
            "Whether a state comes after what it obviously needs: a file after its folder, a"
            " service after its package.",
            "auto_relationships: false",
        ),
    ] = True
    noop: Annotated[
        bool,
        Key(
            MACHINE,
            "Only plan: no state is changed unless it (or its `defaults`) says `noop: false`.",
            "noop: true",
        ),
    ] = False
    # of arguments: state or function -> values
    defaults: Annotated[
        Mapping[str, Mapping[str, Any]],
        Key(
            COMPILING,
            "Default arguments of states, by state module or function.",
            "defaults:\n  file.managed:\n    user: root\n    mode: '0644'",
        ),
    ] = {}
    # variables of all SLS files
    vars: Annotated[
        Mapping[str, Any],
        Key(COMPILING, "Variables that every SLS file and template has.", "vars:\n  port: 8080"),
    ] = {}
    # keys of the pillar whose values are secrets (globs)
    secret_keys: Annotated[
        tuple[str, ...],
        Key(
            SECRETS,
            "Keys whose values are never shown: globs; the last one that fits decides, `!` shows.",
            "secret_keys: ['*password*', 'api_*', '!api_version']",
        ),
    ] = KEYS
    report: Destination | None = None  # where reports go; `raw` has it without the password
    # refuse a tree or a configuration that others can write
    strict_permissions: Annotated[
        bool,
        Key(
            FILES,
            "Refuse a configuration or a tree that other users can write, instead of warning.",
            "strict_permissions: true",
        ),
    ] = False
    log_level: Annotated[
        str,
        Key(
            REPORTS,
            "The least important messages that are shown: all, garbage, trace, debug,"
            " profile, info, warning, error, critical or quiet.",
            "log_level: info",
        ),
    ] = flag(
        "warning", "--log-level", "-l", of="reading", metavar="LEVEL", help="debug ... critical."
    )
    log_file: Annotated[
        str,
        Key(
            REPORTS,
            "Where the log goes, beside standard error: a file, `journald`, `syslog`, or"
            " Salt's `file:///dev/log/FACILITY` and `udp://HOST:PORT/FACILITY`"
            " (docs/output.md).",
            "log_file: /var/log/runner.log",
            default="none",
        ),
    ] = flag(
        "",
        "--log-file",
        of="reading",
        metavar="FILE",
        help="Where the log goes: a file, journald, syslog.",
    )
    # no warnings about the tree in a run that changes nothing
    quiet: bool = flag(
        False, "-q", "--quiet", of="reading", help="Silence unless something changed or failed."
    )
    # the states to run, and which to leave out: pipeline/selection
    only: Annotated[
        tuple[str, ...],
        Key(
            RUNNING,
            "Run only these states: IDs, names, `state: name`, `sls:NAME`, globs; as `--only`.",
            "only: ['sls:web.*']",
        ),
    ] = flag(
        (), "--only", of="choosing", metavar="ID", help="Only this: ID, name, STATE:ID, sls:NAME."
    )
    exclude: Annotated[
        tuple[str | Mapping[str, str], ...],
        Key(
            RUNNING,
            "Leave these states out: as `--exclude`, or `{id: NAME}` and `{sls: NAME}`.",
            "exclude:\n  - nginx\n  - sls: legacy",
        ),
    ] = flag(
        (),
        "--exclude",
        of="choosing",
        metavar="ID",
        help="Leave this out: as --only, or an SLS.",
        may_be_empty=True,
    )
    tags: Annotated[
        tuple[str, ...],
        Key(RUNNING, "Run only states that have one of these tags; as `--tags`.", "tags: [web]"),
    ] = flag(
        (), "--tags", of="choosing", metavar="TAG[,TAG...]", help="Only states with such a tag."
    )
    skip_tags: Annotated[
        tuple[str, ...],
        Key(
            RUNNING,
            "Leave out states that have one of these tags; as `--skip-tags`.",
            "skip_tags: [slow]",
        ),
    ] = flag(
        (),
        "--skip-tags",
        of="choosing",
        metavar="TAG[,TAG...]",
        help="No states with such a tag.",
        may_be_empty=True,
    )
    with_requisites: Annotated[
        bool,
        Key(
            RUNNING,
            "What the selected states require is run, too; as `--with-requisites`.",
            "with_requisites: true",
        ),
    ] = flag(
        False,
        "--with-requisites",
        of="choosing",
        help="What is selected, and all that it requires.",
    )
    start_at: str = flag(
        "",
        "--start-at",
        of="choosing",
        metavar="ID",
        help="From this state on, in the order of the run.",
    )
    shuffle: str | None = flag(
        None,
        "--shuffle",
        of="choosing",
        metavar="[SEED]",
        help="Random order where nothing fixes it.",
        may_be_empty=True,
    )  # the seed of a random order
    # look again after each change
    verify: Annotated[
        bool,
        Key(
            RUNNING,
            "Check each state again after its change; one that would change something again"
            " has failed.",
            "verify: true",
        ),
    ] = flag(
        False,
        "--verify",
        of="choosing",
        help="Check again after each change; fail what did not converge.",
    )
    typed: frozenset[str] = frozenset()  # the settings that the command line made
    files: tuple[str, ...] = ()  # that the configuration was read from
    formula_folder: str = ""  # where the formulas.yml is that is used; empty without one
    formula_roots: tuple[str, ...] = ()  # those of file_roots that are its formulas
    formula_problems: tuple[Diagnostic, ...] = ()  # what keeps formulas from being used


def keyed(table: type) -> dict[str, str]:
    """The fields of a table that are keys of a configuration: their annotations."""
    annotations: dict[str, str] = table.__annotations__
    return {name: text for name, text in annotations.items() if text.startswith("Annotated[")}


KEYS_OF_OPTIONS = keyed(Options)
LISTS = tuple(name for name, text in KEYS_OF_OPTIONS.items() if text.startswith("Annotated[tuple["))
