# SPDX-License-Identifier: Apache-2.0
"""The options that commands share, and what they mean."""

from __future__ import annotations

import errno
import os
import random
import stat
import sys
import time
from contextlib import contextmanager

from runner.api import command_output
from runner.cli.parsing.option_spec import Annotated, Parameter, option, parameters_of, signature_of
from runner.cli.running import answers, image_build, logs, metrics, rooted, values
from runner.model import plain_values
from runner.model.errors import RunnerError, UsageError
from runner.model.records import Record
from runner.output import formats, text
from runner.sources.config import keys, load
from runner.sources.config.options import FLAGS, Options
from runner.support.files.text import LARGEST, MEBIBYTE
from runner.support.log import LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Literal, TextIO

    from runner.cli.running.logs import LogLevels
    from runner.sources.trees import Tree


HANDED_ON = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # descriptors of this process


class Common(Record):
    """The shared options of one command line, as typed."""

    config: str | None = None
    state_tree: list[str] = []
    pillar: str | None = None
    pillar_stdin: bool = False
    pillar_tree: list[str] = []
    id: str | None = None
    saltenv: str | None = None
    pillarenv: str | None = None
    cachedir: str | None = None
    test: bool = False
    form: formats.Form = formats.FORMS[0]
    verbose: bool = False
    color: str = "auto"
    quiet: bool = False
    log_level: str | None = None
    log_file: str | None = None
    detailed_exitcodes: bool = False
    events: str | None = None
    splay: float = 0.0
    plan: str | None = None
    sign_key: str | None = None
    ask: bool = False
    scheduled: bool = False
    pulled: str = ""  # what became of the newest tree; of `runner pull`
    pull_problem: str = ""  # why it is not used, without secrets
    step: bool = False
    diff: bool = False
    explain: bool = False
    indent: int | None = None  # of JSON
    pillar_given: str = "--pillar"  # where its text was given: @FILE or stdin, too
    whole_pillar: dict[str, Any] | None = None  # what `--pillar-stdin` read
    settings: dict[str, Any] = {}  # all that is read nowhere but in `Options`, under its name there
    more: dict[str, Any] = {}  # under the configuration's names

    @property
    def for_people(self) -> bool:
        """The answer is for a person, not for a program."""
        return self.form.listener is not None


# what options are, by the types of the settings that they make
_KINDS: dict[str, Any] = {
    "bool": bool,
    "str": str | None,
    "Literal": str | None,
    "float": float | None,
    "tuple": list[str],
}


def _flags(of: str) -> dict[str, Any]:
    """The options that make settings (`flag` of sources/config/options.py)."""
    return {
        name: Annotated[_kind(name), option(*flag.names, **flag.about)]
        for name, flag in FLAGS.items()
        if flag.of == of
    }


def _kind(setting: str) -> Any:
    """What an option is that makes a setting."""
    declared = Options.__annotations__[setting].removeprefix("Key[")
    return next(_KINDS[kind] for kind in _KINDS if declared.startswith(kind))


READING: dict[str, Any] = {
    "config": Annotated[
        str | None, option("--config", "-c", metavar="FILE", help="Configuration file.")
    ],
    "state_tree": Annotated[
        list[str], option("--state-tree", metavar="DIR", help="Directory of SLS files.")
    ],
    "pillar": Annotated[
        str | None,
        option(
            "--pillar",
            metavar="TEXT",
            help="Additional pillar, JSON or YAML; @FILE, or - for stdin.",
            may_be_empty=True,
        ),
    ],
    "pillar_stdin": Annotated[
        bool,
        option(
            "--pillar-stdin",
            help="The first line of stdin, a JSON object, is the pillar; none is compiled.",
        ),
    ],
    "pillar_tree": Annotated[
        list[str], option("--pillar-tree", metavar="DIR", help="Directory of pillar SLS files.")
    ],
    **_flags("reading"),
    "out": str,  # each kind of answer has forms of its own
    "verbose": Annotated[
        bool, option("-v", "--verbose", help="More output: unchanged states too.")
    ],
    "color": Annotated[
        str, option("--color", metavar="WHEN", help="always, never, or auto: as the terminal is.")
    ],
}
ROOTED: dict[str, Any] = _flags("rooted")
BUILDING: dict[str, Any] = _flags("building")
RUNNING: dict[str, Any] = _flags("running")
CHOOSING: dict[str, Any] = _flags("choosing")
CHANGING: dict[str, Any] = {
    **RUNNING,
    **CHOOSING,
    "diff": Annotated[bool, option("--diff", help="Show changes whole, however long.")],
    "explain": Annotated[
        bool, option("--explain", help="With --test: what decides each undecided state.")
    ],
    "splay": Annotated[
        float, option("--splay", metavar="SECONDS", help="Delay the start randomly, up to this.")
    ],
    "events": Annotated[
        str | None, option("--events", metavar="FILE|-", help="Events as JSON lines.")
    ],
    "detailed_exitcodes": Annotated[
        bool, option("--detailed-exitcodes", help="Exit 2 on changes, 4 on failures, 6 on both.")
    ],
}
PLANNING: dict[str, Any] = {
    "plan": Annotated[
        str | None,
        option("--plan", metavar="FILE", help="With --test: keep the plan for `runner apply`."),
    ],
    "sign_key": Annotated[
        str | None, option("--sign-key", metavar="KEY", help="Sign the plan with an SSH key.")
    ],
}
ASKING: dict[str, Any] = {
    "ask": Annotated[bool, option("--ask", help="Show the plan, ask, and apply it.")],
    "step": Annotated[bool, option("--step", help="Ask before each state.")],
}
SCHEDULED: dict[str, Any] = {
    "scheduled": Annotated[
        bool,
        option("--scheduled", help="Not while `runner disable` stops scheduled runs.", hidden=True),
    ]
}
DEFAULTS = Common()


def some_of(names: str) -> dict[str, Any]:
    """Return those of the options of reading and changing commands that have these names."""
    known = READING | CHANGING
    return {name: known[name] for name in names.split()}


class WithCommon:
    """A command that has the shared options beside its own; it receives them as one value,
    `common`.
    """

    def __init__(self, command: Callable[..., int], options: dict[str, Any], answer: str) -> None:
        self._command, self._options, self._answer = command, options, answer
        self.__doc__, self.__name__ = command.__doc__, command.__name__

    @property
    def forms(self) -> tuple[formats.Form, ...]:
        """The forms that its `--out` takes."""
        return formats.forms_of(self._answer)

    def parameters(self) -> dict[str, Parameter]:
        """Its own parameters and those of the shared options."""
        options = dict(self._options)
        if "out" in options:
            *names, last = (form.name for form in self.forms)
            forms = option("--out", metavar="FORM", help=f"{', '.join(names)} or {last}.")
            options["out"] = Annotated[str, forms]
        shared = {
            name: Parameter(kind, DEFAULTS.form.name if name == "out" else _default(name, kind))
            for name, kind in options.items()
        }
        own = parameters_of(self._command, leave_out="common")
        return own | shared

    @property
    def __signature__(self) -> inspect.Signature:
        """The same for typer, which looks for it here."""
        return signature_of(self.parameters())

    def __call__(self, **values: Any) -> int:
        shared = {name: values.pop(name) for name in self._options}
        text.choose_colour(shared.get("color", DEFAULTS.color))
        form = form_named(shared.pop("out", DEFAULTS.form.name), self._answer)
        settings = {name: shared.pop(name) for name in [*shared] if name not in Common._fields}
        common = Common(form=form, settings=settings, **shared)
        try:
            return self._command(common=_with_pillar(common), **values)
        except (Exception, KeyboardInterrupt) as error:
            return answers.failed(common, error)


def _default(name: str, kind: Any) -> Any:
    """Return what an option is that is not typed: of `Common`, else nothing, as its kind has it."""
    plain = {bool: False, list[str]: []}.get(kind[0])
    return getattr(DEFAULTS, name, plain)


def with_common(
    *groups: dict[str, Any], answer: str = formats.DATA
) -> Callable[[Callable[..., int]], WithCommon]:
    """Give a command the shared options. answer: what it prints, which has forms of its own."""
    options = {name: annotation for group in groups for name, annotation in group.items()}
    return lambda command: WithCommon(command, options, answer)


def form_named(name: str, answer: str) -> formats.Form:
    """The form that `--out` names. Raises UsageError where answers of that kind have none."""
    form = formats.named(name, answer)
    if form is None:
        known = ", ".join(form.name for form in formats.forms_of(answer))
        raise UsageError(f"--out {name}: there is no such form", hint=f"one of {known}")
    return form


@contextmanager
def metrics_of_failed_start(textfile: Callable[[], str | None], dry: bool) -> Iterator[None]:
    """Write what keeps a run from its start into its metrics, and let the error go on.

    textfile: gives the `prometheus_textfile` as far as it is known.
    """
    try:
        yield
    except RunnerError as error:
        if path := textfile():
            metrics.note_failed_start(path, error, dry)
        raise


TOLD_ONCE = ("config-unused", "unused-key")  # codes of warnings about the configuration


def options_of(
    common: Common,
    running: bool = False,
    tree: Tree | Literal["current"] | None = "current",
    **more: Any,
) -> Any:
    """The configuration: file, environment and command line together. Warnings go to stderr.

    running: for what applies states; other commands say less of what the configuration lacks. tree:
    the pulled tree to use, where it is not the current one.
    """

    def textfile() -> str | None:
        return load.find_metrics_file(common.config, os.environ) if running else None

    with metrics_of_failed_start(textfile, bool(common.test)):
        options, warnings = loaded(common, tree, **more)
    # a configuration of Salt's asks for a log on the terminal
    silent = common.quiet and common.log_level is None
    if any(
        str(key).startswith("log_") and value != keys.DEFAULTS.get(key)
        for key, value in options.raw.items()
    ):
        levels = logs.set_up(options.raw, bool(common.log_file), silent)
        if levels.lowest <= logs.LEVELS["info"]:
            _log(options, levels)
    warnings = tuple(
        warning
        for warning in warnings
        if warning.code not in TOLD_ONCE or _is_news(common, options, running)
    )
    if warnings and not common.quiet:
        answers.show_problems(warnings)
    return options


def _log(options: Any, levels: LogLevels) -> None:
    """Begin the log of what runner itself does, if a level asks for it."""
    roots = [
        root
        for roots in (options.raw["file_roots"], options.pillar_roots)
        for folders in roots.values()
        for root in folders
    ]
    LOG.start(roots, command_output.is_silent)
    LOG.on_terminal = logs.stderr_has(levels)
    LOG.info(f"configuration: {options.raw.get('conf_file') or 'none'}; trees: {', '.join(roots)}")


def _is_news(common: Common, options: Any, running: bool) -> bool:
    """Return whether to say what is said once: in runs, until one is in the history since the
    configuration was written.
    """
    if common.verbose or not running:
        return common.verbose
    try:
        last = os.stat(os.path.join(options.state_dir, "history.sqlite")).st_mtime
        file = options.raw.get("conf_file")
        return bool(file) and os.stat(file).st_mtime > last
    except OSError:
        return True


def options_of_tree(common: Common) -> Any:
    """The configuration for what is about the tree alone, whatever image that may name."""
    return options_of(common, root="")


def options_without_tree(common: Common, running: bool = False) -> Any:
    """The configuration for what needs no tree: no repository is fetched."""
    return options_of(common, running, gitfs_remotes=[], ext_pillar=[])


def loaded(
    common: Common,
    tree: Tree | Literal["current"] | None = "current",
    inside: bool = True,
    **more: Any,
) -> tuple[Any, tuple[Any, ...]]:
    """The configuration, and what is odd about it. tree: the pulled tree to use; None for none.

    Where it names an image (`--root`), the command goes on in a process that is in it, unless
    inside is False.
    """
    options, warnings = load.load(
        common.config, {**overrides(common), **more}, os.environ, tree=tree
    )
    if options.root and inside:
        options = rooted.entered(common, options)
    if options.image and "image" in common.settings:
        options = image_build.without_traces(options)
    return options, warnings


def overrides(common: Common) -> dict[str, Any]:
    """The settings that the command line sets, under the configuration's names."""
    made = {name: getattr(common, name) for name in FLAGS if name in Common._fields}
    settings: dict[str, Any] = {
        **{name: _setting(name, value) for name, value in (made | common.settings).items()},
        "whole_pillar": common.whole_pillar,
        **common.more,
    }
    if common.state_tree:
        settings["file_roots"] = {
            common.saltenv or "base": [os.path.abspath(folder) for folder in common.state_tree]
        }
    if common.pillar_tree:
        settings["pillar_roots"] = {
            common.pillarenv or "base": [os.path.abspath(folder) for folder in common.pillar_tree]
        }
    if common.pillar is not None:
        settings["pillar"] = values.mapping(common.pillar, common.pillar_given)
    return {name: value for name, value in settings.items() if value is not None}


def _setting(name: str, value: Any) -> Any:
    """Return what an option sets; None where it is not typed. Raises UsageError."""
    if value is None or value is False or value == []:
        return None
    return _READ[name](value) if name in _READ else value


def _log_level(name: str) -> str:
    logs.level_of(name)
    return name


def _seconds(option: str, least: int) -> Callable[[float], float]:
    """Reads the seconds of an option. Raises UsageError for what no clock can measure."""

    def read(seconds: float) -> float:
        most = plain_values.LONGEST_TIME
        if not least <= seconds <= most:
            raise UsageError(f"{option} {seconds:g}: expected seconds, from 0 to {most}")
        return seconds

    return read


def wait_randomly(common: Common) -> None:
    """Wait for a part of `--splay`, so that not all machines begin at once. Raises UsageError."""
    if common.splay:
        time.sleep(random.uniform(0, _seconds("--splay", 0)(common.splay)))


def words(texts: Iterable[str]) -> list[str]:
    """The words of an argument or option that takes several, parted by commas."""
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]


def _tags(texts: list[str]) -> list[str]:
    """Those of `--tags`. With none of them all states are not what was meant."""
    tags = words(texts)
    if not tags:
        raise UsageError("--tags: no tag is named")
    return tags


# how the values of options are read that a command line has in another form than a configuration
_READ: dict[str, Callable[[Any], Any]] = {
    "tags": _tags,
    "skip_tags": lambda texts: words(texts) or None,
    "log_level": _log_level,
    "wait": _seconds("--wait", -1),
    "timeout": _seconds("--timeout", 0),
}


def _with_pillar(common: Common) -> Common:
    """The options with the text of `--pillar @FILE` or `-`, and with what `--pillar-stdin` means,
    before anything else reads stdin.
    """
    if common.pillar_stdin:
        whole = values.mapping(values.line_of_stdin("--pillar-stdin"), "--pillar-stdin")
        common = common._replace(whole_pillar=whole)
    if common.pillar is None:
        return common
    elsewhere = common.pillar == "-" or common.pillar.startswith("@")
    given = f"--pillar {common.pillar}" if elsewhere else "--pillar"
    return common._replace(pillar=_given(common.pillar), pillar_given=given)


def _given(text: str) -> str:
    """The text of `--pillar`: itself, or what `@FILE` or stdin (`-`) has, which the list of
    processes does not show.
    """
    if text == "-":
        try:
            return _bounded(sys.stdin, "--pillar -")
        except UnicodeDecodeError:
            raise UsageError("--pillar -: stdin is not UTF-8") from None
    if not text.startswith("@"):
        return text
    hint = "--pillar @FILE reads the pillar from a file, `--pillar -` from stdin"
    return text_of_file(text[1:], f"--pillar {text}", hint)


def text_of_file(path: str, option: str, hint: str | None = None) -> str:
    """The text of a file that an option names. Raises UsageError."""
    try:
        with open(_opened(path), encoding="utf-8") as file:
            return _bounded(file, option)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{option}: {why}", hint=hint) from None


def _opened(path: str) -> int:
    """Open a regular file, or what the caller has handed on (`@<(command)`): nobody is waited for
    who would write to a pipe. Raises OSError.
    """
    if path.startswith(HANDED_ON):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(handle).st_mode) or os.path.realpath(path) == os.devnull:
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "it is not a regular file")


def _bounded(file: TextIO, option: str) -> str:
    """The text of a file or a pipe. Raises UsageError for more than a compiled file may have."""
    text = file.read(LARGEST * MEBIBYTE + 1)
    if len(text) > LARGEST * MEBIBYTE:
        hint = "is it the right file?"
        if option.startswith("--pillar"):
            hint += " more belongs in a pillar SLS (`sls_size_limit`) or an external pillar"
        raise UsageError(f"{option}: this is larger than {LARGEST} MiB", hint=hint)
    return text
