# SPDX-License-Identifier: Apache-2.0
"""Units of systemd, from their files to what runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from modules import cmd, file, service
from modules.service import quadlets, systemd, unit_files
from modules.service.user_units import account, systemctl
from runner.api import (
    CommandFailed,
    Done,
    Line,
    Name,
    Plan,
    Planned,
    Record,
    ServiceName,
    StateFailed,
    here,
    planned_as,
)
from runner.api.claims import WHOLE, Claim, Trap
from runner.api.offline import at_boot, offline_as
from runner.api.opposite import Opposite
from states.file._diff import diff
from states.systemd import _declared, _setting
from states.systemd._declared import sysusers, sysusers_absent, tmpfiles, tmpfiles_absent
from states.systemd._setting import setting, setting_absent

DECIDES = {"unit": "enable running"}
TOLD_APART_BY = "user"
OPPOSITE = {
    "setting": Opposite("setting_absent", by=("daemon",)),
    "tmpfiles": Opposite("tmpfiles_absent"),
    "sysusers": Opposite("sysusers_absent"),
}


class Files(Record):
    """The files of a unit as they should be, and what differs.

    texts: by path. changes: the differences, by path. handled: the unit that is enabled and
    started: the timer where there is one. anew: whether it has to be restarted for the changes.
    made: what Podman's generator makes of a quadlet.
    """

    texts: Mapping[str, str]
    changes: Mapping[str, str]
    handled: str
    anew: bool
    made: quadlets.Generated | None


def _starting(
    name: str,
    contents: str | None = None,
    drop_ins: Mapping[str, str] | None = None,
    timer: str | None = None,
    enable: bool | None = None,
    user: str | None = None,
    **_: object,
) -> str:
    """What a unit leaves to the boot; nothing for one of a user, who may never log in."""
    if user:
        return ""
    full = name if quadlets.is_quadlet(name) else systemd.unit(name)
    files = _files(full, contents, drop_ins or {}, timer, "")
    if files.made and timer is None:
        enable = files.made.starts
    starts = systemd.enabled(files.handled, "") if enable is None else enable
    return f"Unit {files.handled} starts at boot" if starts else ""


@file.validated
@at_boot(_starting)
def unit(
    name: ServiceName,
    contents: str | None = None,
    drop_ins: dict[str, str] | None = None,
    timer: str | None = None,
    enable: bool | None = None,
    running: bool | None = None,
    restart: bool = True,
    user: Name | None = None,
) -> Planned:
    """Make sure that a unit of systemd has these files, is enabled and runs.

    `systemd-analyze verify` sees the files before they are written, also in a dry run; a unit that
    it refuses fails with its words. Then the files are written and systemd reads them anew.

    A quadlet of Podman (NAME.container, .pod, .volume, .network, .kube, .image, .build) lies below
    /etc/containers/systemd. Podman's generator judges it before it is written, and the service that
    it makes (NAME.service of a container, NAME-pod.service of a pod) is started and restarted.

    name: The unit; without a suffix a service.
    contents: The text of the unit, written below /etc/systemd/system; without it, the unit that is
      installed.
    drop_ins: Texts by name, of files in the folder NAME.d that change parts of it.
    timer: The text of a timer that starts the unit; enable and running are then the timer's.
    enable: Whether it starts with the machine; a quadlet says so itself, by `[Install]`.
    running: Whether the unit runs.
    restart: Restart it when its files changed and it runs.
    user: The user whose own systemd has the unit; its files are in ~/.config/systemd/user, quadlets
      in ~/.config/containers/systemd.

        backup:
          systemd.unit:
            - contents: |
                [Service]
                Type=oneshot
                ExecStart=/usr/bin/touch /run/backup
            - timer: |
                [Timer]
                OnCalendar=daily
                [Install]
                WantedBy=timers.target
            - enable: True
            - running: True

        web.container:
          systemd.unit:
            - contents: |
                [Container]
                Image=docker.io/library/nginx:1.27
                PublishPort=8080:80
                [Install]
                WantedBy=multi-user.target
            - running: True

    Salt has nothing like it.
    """
    if not systemd.suits():
        raise StateFailed("systemd.unit needs systemd, which does not run this machine")
    whose = user or ""
    as_unit = systemd.unit(name)  # which refuses what is the name of nothing
    full = name if quadlets.is_quadlet(name) else as_unit
    files = _files(full, contents, drop_ins or {}, timer, whose)
    if files.changes:
        _verify(full, contents, files, whose)
    elif not (files.made or systemd.available(full, whose)):
        raise StateFailed(f"There is no unit {full}", missing=[("service", name)])
    if files.made and timer is None:
        _refuse_to_enable(full, files.made, enable)
        enable = None
    steps = _steps(files, enable, running, restart, whose)
    changes = {**files.changes, **_changes(steps)}
    if not changes:
        return f"Unit {full} is in the desired state"
    facts = [("service", name), *(("file", path) for path in files.changes)]
    if files.made:
        facts.append(("service", files.made.service.removesuffix(".service")))
    yield Plan(changes, f"Unit {full} is set to be changed", provides=facts)
    _write(files, user)
    began = time.time()
    if files.changes and files.made:
        quadlets.read_anew(files.made.texts, whose)
    elif files.changes:
        service.systemctl_reload(user)
    _act(files.handled, steps, whose)
    if {"start", "restart"} & set(steps):
        ends = _ends(files.handled, whose)
        if not service.wait_until(files.handled, None, True, None, user) and not ends:
            why = service.log(files.handled, began, user)
            raise StateFailed(f"Unit {files.handled} is dead{why}")
        if files.handled.endswith(".service") and not ends:
            service.check_at_end(files.handled, None, began, user)
    return Done(f"Unit {full} was changed", changes)


def _write(files: Files, user: str | None) -> None:
    owner = account(user) if user else None
    ids: dict[str, Any] = {"user": owner.uid, "group": owner.gid} if owner else {}
    for path in files.changes:
        file.makedirs(path.rpartition("/")[0], **ids)
        file.write(path, files.texts[path].encode(), mode="0644", **ids)


REACTS = ("unit",)


@at_boot(lambda name, sfun, timer=None, user=None: _starting(name, timer=timer, user=user))
@offline_as(lambda name, sfun, **_: f"Unit {name} does not run")
def mod_watch(
    name: Name, sfun: Line, timer: str | None = None, user: Name | None = None
) -> Planned:
    """Restart a unit, or its timer, because something that it watches changed."""
    if sfun not in REACTS:
        return f"{name}: a watched change makes systemd.{sfun} look again, no more"
    if quadlets.is_quadlet(name):
        handled = _handled(quadlets.generated({}, name, user or "").service, timer)
    else:
        handled = _handled(systemd.unit(name), timer)
    if not systemd.status(handled, user or ""):
        return f"Unit {handled} does not run"
    yield Plan({handled: "restarted"}, f"Unit {handled} is set to be restarted")
    _act(handled, ["restart"], user or "")
    return f"Unit {handled} was restarted"


def _handled(full: str, timer: str | None) -> str:
    """The unit that is enabled and started: the timer where there is one."""
    return full if timer is None else f"{full.rpartition('.')[0]}.timer"


def _files(
    full: str, contents: str | None, drop_ins: Mapping[str, str], timer: str | None, user: str
) -> Files:
    """The files of a unit. Raises StateFailed for a quadlet that Podman refuses."""
    folder = account(user).folder() if user else unit_files.FOLDER
    is_quadlet = quadlets.is_quadlet(full)
    own = _texts(quadlets.folder(user) if is_quadlet else folder, full, contents, drop_ins)
    made = quadlets.generated(own, full, user) if is_quadlet else None
    handled = _handled(made.service if made else full, timer)
    texts = own if timer is None else own | {f"{folder}/{handled}": _ended(timer)}
    changes = {}
    for path, text in texts.items():
        old = file.whole(file.streamed(path)) if file.is_file(path) else None
        if old != text.encode():
            changes[path] = diff(old, text.encode())
    # what a timer starts is read when the timer starts it
    anew = any(timer is None or path not in own for path in changes)
    return Files(texts, changes, handled, anew, made)


def _texts(
    folder: str, full: str, contents: str | None, drop_ins: Mapping[str, str]
) -> dict[str, str]:
    texts = {} if contents is None else {f"{folder}/{full}": _ended(contents)}
    for drop_in, text in drop_ins.items():
        if "/" in drop_in or drop_in.startswith("."):
            raise StateFailed(f"drop_ins: {drop_in!r} is not the name of a file")
        texts[f"{folder}/{full}.d/{drop_in.removesuffix('.conf')}.conf"] = _ended(text)
    return texts


def _ended(text: str) -> str:
    return f"{text.rstrip()}\n"


def _verify(full: str, contents: str | None, files: Files, user: str) -> None:
    """Raise StateFailed for what systemd would not load."""
    folder = account(user).folder() if user else unit_files.FOLDER
    texts, made = dict(files.texts), files.made
    if made:
        texts = {path: text for path, text in texts.items() if path.startswith(f"{folder}/")}
        texts |= {f"{folder}/{name}": text for name, text in made.texts.items()}
    elif contents is None:
        present = unit_files.installed_text(full, user)
        if present is None:
            raise StateFailed(
                f"There is no unit {full} with a file of its own, and its contents are not given:"
                " systemd cannot judge the drop-ins alone (give `contents`, or, for a unit that"
                " systemd makes itself, as most slices, write the drop-ins with file.managed below"
                f" {folder}/{full}.d)",
                missing=[("service", full), ("service", full.removesuffix(".service"))],
            )
        texts[f"{folder}/{full}"] = present
    units = (made.service if made else full, files.handled)
    verdict = unit_files.verify(texts, tuple(dict.fromkeys(units)), folder, user)
    if verdict.errors:
        raise StateFailed(
            f"systemd refuses {full}:\n" + "\n".join(verdict.errors),
            missing=[("file", path) for path in verdict.programs],
        )
    for line in (*(made.warnings if made else ()), *verdict.warnings):
        here.warn(line)


def _refuse_to_enable(full: str, made: quadlets.Generated, enable: bool | None) -> None:
    """Raise StateFailed for `enable` that is not what a quadlet itself says."""
    if enable is not None and made.starts is not enable:
        how = "write `[Install]` with `WantedBy=multi-user.target` (of a user: `default.target`) to"
        raise StateFailed(
            f"systemd cannot {'enable' if enable else 'disable'} {made.service}, which is made of"
            f" {full}: {how if enable else 'leave `[Install]` out of'} its contents"
        )


def _steps_at_rest(
    files: Files, enable: bool | None, running: bool | None, restart: bool, user: str
) -> list[str]:
    """The actions that the unit of a system that does not run needs."""
    changes_it = enable is not None and systemd.enabled(files.handled, user) is not enable
    return ["enable" if enable else "disable"] if changes_it else []


@offline_as(_steps_at_rest)
def _steps(
    files: Files, enable: bool | None, running: bool | None, restart: bool, user: str
) -> list[str]:
    """The actions that the unit needs."""
    handled = files.handled
    steps = _steps_at_rest(files, enable, running, restart, user)
    runs = systemd.status(handled, user)
    if running is not None and runs is not running:
        steps.append("start" if running else "stop")
    elif runs and restart and files.anew:
        steps.append("restart")
    return steps


def _changes(steps: list[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "enable": {"enabled": {"old": False, "new": True}},
        "disable": {"enabled": {"old": True, "new": False}},
        "start": {"running": {"old": False, "new": True}},
        "stop": {"running": {"old": True, "new": False}},
        "restart": {"restarted": True},
    }
    return {key: value for step in steps for key, value in shown[step].items()}


def _act(handled: str, steps: list[str], user: str) -> None:
    for step in steps:
        try:
            systemd.act(handled, step, user=user)
        except CommandFailed as failure:
            raise StateFailed(failure.message) from None


@planned_as(unit_files.ends_by_itself)
def _ends(handled: str, user: str) -> bool:
    """Return whether a unit is one that ends by itself (a oneshot service that has worked)."""
    argv = systemctl(user, "show", "--property=Type,Result", "--", handled)
    return set(cmd.probe(argv).stdout.split()) >= {"Type=oneshot", "Result=success"}


def owns(
    fun: str, name: str, contents: object = None, user: object = None, daemon: str = "", **_: object
) -> Iterator[Claim]:
    """The file of a unit of the system, or of settings."""
    if fun == "setting":
        yield Claim(WHOLE, _setting.setting_path(daemon, name))
    if fun in ("tmpfiles", "sysusers"):
        yield Claim(WHOLE, _declared.rules_path(fun, name))
    if contents is not None and user is None:
        unit_name = name if "." in name else f"{name}.service"
        folder = quadlets.FOLDER if quadlets.is_quadlet(name) else unit_files.FOLDER
        yield Claim(WHOLE, f"{folder}/{unit_name}")


def traps(
    fun: str, name: str, daemon: object = None, settings: object = None, **_: object
) -> Iterator[Trap]:
    """Settings that no daemon of systemd knows."""
    if fun == "setting":
        yield from _setting.misspelt(daemon, settings)


def autorequire(
    name: str, contents: str | None = None, user: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A unit that is not written here comes after the package of its name, one of a user after the
    user; a quadlet after Podman and the quadlets that it names.
    """
    yield "pkg", name.partition("@")[0].partition(".")[0]
    if quadlets.is_quadlet(name):
        yield "pkg", "podman"
        yield from (("systemd", other) for other in quadlets.named_in(contents or ""))
    if user:
        yield "user", user
