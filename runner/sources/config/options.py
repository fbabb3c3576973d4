# SPDX-License-Identifier: Apache-2.0
"""The settings of a run: each is said here, and read where it matters.

A field is a setting's name, type and default; `Key` makes it a key of configurations, whose page
is in keys.txt, and `flag` an option of command lines.
The check of configurations, their reference, `--help`, completion and the man pages follow.
"""

from __future__ import annotations

from runner.model.errors import Diagnostic
from runner.model.records import Record
from runner.support.redaction.keys import KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Annotated, Any, Literal, TypeVar

    from runner.sources.config.report import Destination
    from runner.sources.gitfs import PillarFolder
    from runner.sources.trees import Tree
    from runner.sources.trees.source import TreeSource

    Default = TypeVar("Default")
    Setting = TypeVar("Setting")
    Key = Annotated[Setting, "a key of the configuration, which keys.txt describes"]


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

    id: Key[str] = flag("", "--id", of="reading", metavar="ID", help="This machine's ID.")
    root: Key[str] = flag(
        "", "--root", of="rooted", metavar="DIR", help="The image in this directory."
    )
    file_roots: Key[Mapping[str, tuple[str, ...]]] = {}
    pillar_roots: Key[Mapping[str, tuple[str, ...]]] = {}
    raw: Mapping[str, Any] = {}
    # static ones
    grains: Key[Mapping[str, Any]] = {}
    own_grains: Mapping[str, Any] = {}  # those of the configuration itself
    tree_grains: Mapping[str, Any] = {}  # those that a pulled tree brings
    tree_source: TreeSource | None = None  # where `runner pull` gets the tree from
    tree: Tree | None = None  # the pulled tree that is used
    awaits_tree: bool = False  # there is none yet
    # from --pillar, merged last
    pillar: Key[Mapping[str, Any]] = {}
    git_pillars: Mapping[str, tuple[PillarFolder, ...]] = {}  # `ext_pillar: git` of an image
    pillar_of_file: Mapping[str, Any] = {}  # from the configuration file
    whole_pillar: Mapping[str, Any] | None = None  # in place of all that would be compiled
    nodegroups: Key[Mapping[str, Any]] = {}
    jinja_env: Key[Mapping[str, Any]] = {}
    jinja_sls_env: Key[Mapping[str, Any]] = {}
    saltenv: Key[str | None] = flag(
        None, "--saltenv", of="reading", metavar="ENV", help="Environment of the states."
    )
    pillarenv: Key[str | None] = flag(
        None, "--pillarenv", of="reading", metavar="ENV", help="Environment of the pillar."
    )
    cachedir: Key[str] = flag(
        "",
        "--cachedir",
        of="reading",
        metavar="DIR",
        help="Keep runner's files below it; state_dir may say otherwise.",
    )
    state_dir: Key[str] = ""
    renderer: Key[str] = "jinja|yaml"
    state_top: Key[str] = "top.sls"
    topfn: str | None = None  # the top file of the states alone
    state_top_saltenv: Key[str | None] = None
    top_file_merging_strategy: Key[Literal["merge", "same", "merge_all"] | str] = "merge"
    default_top: Key[str] = "base"
    env_order: Key[tuple[str, ...]] = ()
    state_auto_order: Key[bool] = True
    state_aggregate: Key[bool | tuple[str, ...]] = False
    # how many `parallel` states at once; 0: 32
    state_max_parallel: Key[int] = 0
    failhard: Key[bool] = False
    pillar_source_merging_strategy: Key[
        Literal["smart", "recurse", "list", "aggregate", "overwrite", "none"] | str
    ] = "smart"
    pillar_merge_lists: Key[bool] = False
    pillar_includes_override_sls: Key[bool] = False
    image: Key[bool] = flag(
        False, "--image", of="building", help="Leave nothing of runner's own, for an image."
    )
    image_clean: Key[tuple[str, ...]] = ()
    test: Key[bool] = flag(
        False, "--test", of="running", help="Change nothing; show what would change."
    )
    real: bool = False  # no dry run, whatever the configuration and the pillar say
    mock: bool = False  # a dry run in which no state function is called
    strict: Key[bool] = False
    # or "fail"
    unknown_states: Key[Literal["error", "fail"]] = "error"
    # seconds to wait for another run; negative: as long as it takes
    wait: Key[float] = flag(
        0.0,
        "--wait",
        of="running",
        metavar="[SECONDS]",
        help="Wait for another run (without a value: forever).",
    )
    # seconds for a whole run
    timeout: Key[float | None] = flag(
        None, "--timeout", of="running", metavar="SECONDS", help="End the run after this time."
    )
    # or "required": no change without its reactions written down
    durable: Key[Literal["wanted", "required"] | bool] = "wanted"
    # how many runs, and how many days, the history keeps; 0: all
    history_runs: Key[int] = 500
    history_days: Key[int] = 180
    html_report_runs: Key[int] = 100
    auto_relationships: Key[bool] = True
    noop: Key[bool] = False
    # of arguments: state or function -> values
    defaults: Key[Mapping[str, Mapping[str, Any]]] = {}
    # variables of all SLS files
    vars: Key[Mapping[str, Any]] = {}
    # keys of the pillar whose values are secrets (globs)
    secret_keys: Key[tuple[str, ...]] = KEYS
    report: Destination | None = None  # where reports go; `raw` has it without the password
    # refuse a tree or a configuration that others can write
    strict_permissions: Key[bool] = False
    log_level: Key[str] = flag(
        "warning", "--log-level", "-l", of="reading", metavar="LEVEL", help="debug ... critical."
    )
    log_file: Key[str] = flag(
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
    only: Key[tuple[str, ...]] = flag(
        (), "--only", of="choosing", metavar="ID", help="Only this: ID, name, STATE:ID, sls:NAME."
    )
    exclude: Key[tuple[str | Mapping[str, str], ...]] = flag(
        (),
        "--exclude",
        of="choosing",
        metavar="ID",
        help="Leave this out: as --only, or an SLS.",
        may_be_empty=True,
    )
    tags: Key[tuple[str, ...]] = flag(
        (), "--tags", of="choosing", metavar="TAG[,TAG...]", help="Only states with such a tag."
    )
    skip_tags: Key[tuple[str, ...]] = flag(
        (),
        "--skip-tags",
        of="choosing",
        metavar="TAG[,TAG...]",
        help="No states with such a tag.",
        may_be_empty=True,
    )
    with_requisites: Key[bool] = flag(
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
    verify: Key[bool] = flag(
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
    """The fields of a table that are keys of a configuration: their types."""
    fields = table.__annotations__.items()
    return {name: text[4:-1] for name, text in fields if text.startswith("Key[")}


# the options of a run that leaves out nothing
EVERYTHING: Mapping[str, Any] = {
    "only": (),
    "exclude": (),
    "tags": (),
    "skip_tags": (),
    "start_at": "",
}
# those that say nothing about what states are
OF_THE_RUN = ("test", "real", "quiet", "verify", "wait", "timeout", "typed", "report")
DISABLED = "disabled.json"  # of the state folder: scheduled runs are stopped, and why
KEYS_OF_OPTIONS = keyed(Options)
LISTS = tuple(name for name, text in KEYS_OF_OPTIONS.items() if text.startswith("tuple["))
