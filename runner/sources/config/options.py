# SPDX-License-Identifier: Apache-2.0
"""The settings of a run, with their types and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.model.diagnostics import Diagnostic
from runner.model.records import Record
from runner.support.redaction.keys import KEYS

if TYPE_CHECKING:
    from runner.sources.config.report import Destination
    from runner.sources.trees import Tree
    from runner.sources.trees.source import TreeSource


class Options(Record):
    """The checked configuration; `raw` is what templates see as `opts`.

    This is the table of settings: a field that is not COMPUTED is set by the key of its name in the
    configuration (but for those that only a command line makes), whose type and default it says.
    """

    id: str
    file_roots: Mapping[str, tuple[str, ...]]
    pillar_roots: Mapping[str, tuple[str, ...]]
    cachedir: str
    state_dir: str
    raw: Mapping[str, Any]
    grains: Mapping[str, Any] = {}  # static ones
    own_grains: Mapping[str, Any] = {}  # those of the configuration itself
    tree_grains: Mapping[str, Any] = {}  # those that a pulled tree brings
    tree_source: TreeSource | None = None  # where `runner pull` gets the tree from
    tree: Tree | None = None  # the pulled tree that is used
    awaits_tree: bool = False  # there is none yet
    pillar: Mapping[str, Any] = {}  # from --pillar, merged last
    pillar_of_file: Mapping[str, Any] = {}  # from the configuration file
    whole_pillar: Mapping[str, Any] | None = None  # in place of all that would be compiled
    nodegroups: Mapping[str, Any] = {}
    jinja_env: Mapping[str, Any] = {}
    jinja_sls_env: Mapping[str, Any] = {}
    saltenv: str | None = None
    pillarenv: str | None = None
    renderer: str = "jinja|yaml"
    state_top: str = "top.sls"
    topfn: str | None = None  # the top file of the states alone
    state_top_saltenv: str | None = None
    top_file_merging_strategy: str = "merge"
    default_top: str = "base"
    env_order: tuple[str, ...] = ()
    state_auto_order: bool = True
    state_aggregate: bool | tuple[str, ...] = False
    state_max_parallel: int = 0  # how many `parallel` states at once; 0: 32
    failhard: bool = False
    pillar_source_merging_strategy: str = "smart"
    pillar_merge_lists: bool = False
    pillar_includes_override_sls: bool = False
    test: bool = False
    real: bool = False  # no dry run, whatever the configuration and the pillar say
    mock: bool = False  # a dry run in which no state function is called
    strict: bool = False
    unknown_states: str = "error"  # or "fail"
    wait: float = 0.0  # seconds to wait for another run; negative: as long as it takes
    timeout: float | None = None  # seconds for a whole run
    durable: str = "wanted"  # or "required": no change without its reactions written down
    history_runs: int = 500  # how many runs, and how many days, the history keeps; 0: all
    history_days: int = 180
    auto_relationships: bool = True
    noop: bool = False
    defaults: Mapping[str, Mapping[str, Any]] = {}  # of arguments: state or function -> values
    vars: Mapping[str, Any] = {}  # variables of all SLS files
    secret_keys: tuple[str, ...] = KEYS  # keys of the pillar whose values are secrets (globs)
    report: Destination | None = None  # where reports go; `raw` has it without the password
    strict_permissions: bool = False  # refuse a tree or a configuration that others can write
    shuffle: str | None = None  # the seed of a random order
    quiet: bool = False  # no warnings about the tree in a run that changes nothing
    verify: bool = False  # look again after each change
    only: tuple[str, ...] = ()  # the states to run, and which to leave out: pipeline/selection
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    with_requisites: bool = False
    start_at: str = ""
    typed: frozenset[str] = frozenset()  # the settings that the command line made
    files: tuple[str, ...] = ()  # that the configuration was read from
    formula_folder: str = ""  # where the formulas.yml is that is used; empty without one
    formula_roots: tuple[str, ...] = ()  # those of file_roots that are its formulas
    formula_problems: tuple[Diagnostic, ...] = ()  # what keeps formulas from being used
    # IDs or SLS files, or only one of both: {id: NAME}, {sls: NAME}
    exclude: tuple[str | Mapping[str, str], ...] = ()


# what is made of several settings, or of the places where they stand
COMPUTED = frozenset(
    [
        "file_roots",
        "pillar_roots",
        "raw",
        "own_grains",
        "tree_grains",
        "tree_source",
        "tree",
        "awaits_tree",
        "pillar",
        "pillar_of_file",
        "whole_pillar",
        "state_aggregate",
        "secret_keys",
        "report",
        "typed",
        "files",
        "formula_folder",
        "formula_roots",
        "formula_problems",
    ]
)
# fields that no key of a configuration makes
_NO_KEYS = COMPUTED.difference(
    ["file_roots", "pillar_roots", "pillar", "state_aggregate", "secret_keys"]
).union(["topfn", "real", "mock", "shuffle", "quiet", "start_at"])
_ANNOTATIONS: Mapping[str, str] = Options.__annotations__
LISTS = frozenset(name for name in _ANNOTATIONS if _ANNOTATIONS[name].startswith("tuple["))


def kinds() -> dict[str, tuple[str, ...]]:
    """The keys of a configuration that are fields of Options: the names of their Python types."""
    return {
        name: tuple(kind for kind in _bare(annotation).split(" | ") if kind != "None")
        for name, annotation in _ANNOTATIONS.items()
        if name not in _NO_KEYS
    }


def _bare(annotation: str) -> str:
    """`bool | tuple` of `bool | tuple[str, ...]`."""
    before, _, inside = annotation.partition("[")
    return before + inside.rpartition("]")[2]
