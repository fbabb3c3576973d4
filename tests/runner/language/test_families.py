# SPDX-License-Identifier: Apache-2.0
"""Two functions of a family that take the same argument take the same: of the same type, with the
same default, both do something with it, and say the same of it.
"""

from __future__ import annotations

import re
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping

import pytest

from runner.api.argtypes import Alternatives
from runner.engine.loader.registry import Registry
from runner.language.arguments.schema import Parameter, schema_of
from runner.output.manual import descriptions

LIBRARY = Registry({})
SIBLINGS = ("docker", "mysql", "postgres", "rabbitmq")  # several state modules of one thing
FAMILIES = {"archive": "file"}  # where sources come from, and how they are verified

_OTHER = "another thing by the same name"
_SALT = "Salt's defaults"
_CRON = dict.fromkeys(
    ("cron minute", "cron hour", "cron daymonth", "cron month", "cron dayweek"),
    "ignored by cron.absent",
)
_WITHOUT = "without it something else goes, which Salt says so too"
TYPES = {
    **_CRON,
    "cmd args": "of a function of Python's, and of a script",
    "file contents_pillar": "one key of encoded data, or several of texts",
    "file file_mode": "`keep` is for what has a source",
    "file mode": "of file.line what to do, else `keep` is for what has a source",
    "file recurse": _OTHER,
    "file source": "one file, the first of several that is there, a folder of the tree",
    "file target": "a hard link has no relative target",
    "file text": "file.accumulated hands on what a template takes apart",
    "file user": "file.shortcut refuses all",
    "grains value": "what goes from a list is one or several, what is set is anything",
    "host ip": "what is no address may only go",
    "ini sections": "sections with options, and sections alone",
    "iptables position": "an appended rule has its place",
    "mysql database": "of a right with its tables",
    "nftables position": "an appended rule has its place",
    "postgres password": "initdb reads it as it is typed",
    "pip pkgs": "what is removed has no version",
}
DEFAULTS = {
    **_CRON,
    "file backup": _SALT,
    "file content": _SALT,
    "file count": _SALT,
    "file create": _SALT,
    "file follow_symlinks": _SALT,
    "file ignore_whitespace": _OTHER,
    "file makedirs": "file.recurse makes folders in any case",
    "file mode": "a new device is its owner's alone",
    "file recurse": _OTHER,
    "file options": "of tar, or of patch",
    "file text": "what file.accumulated is about",
    "file source": "file.copy and file.rename have nothing to do without one",
    "file template": _SALT,
    "git bare": "a repository to push to, and one to work in",
    "git rev": "what git.detached is about",
    "http wait_for": "what http.wait_for_successful_query is about",
    "iptables chain": _WITHOUT,
    "iptables position": "an appended rule has its place",
    "nftables position": "an appended rule has its place",
    "mount device": "mount.unmounted knows it by the folder",
    "mount persist": _SALT,
    "nftables chain": _WITHOUT,
    "pkg refresh": _SALT,
    "postgres encoding": _SALT,
    "postgres maintenance_db": "a language belongs to a database",
    "rabbitmq runas": _SALT,
    "selinux sel_type": "without it any entry goes",
    "test comment": "they succeed, or fail",
    "x509 mode": "a private key is its owner's alone",
    "x509 private_key": "a certificate may be for a public key",
    "x509 signing_private_key": "a certificate may have been signed elsewhere",
}
_ABSENT = "what is to be absent is found by its name"
_NOT_ASKED = "nothing is fetched"
WITHOUT_EFFECT = {
    "acl perms": _ABSENT,
    **dict.fromkeys(
        ("cron comment", "cron commented", "cron special"),
        "so that `present` can become `absent` in a file",
    ),
    **dict.fromkeys(
        ("cron minute", "cron hour", "cron daymonth", "cron month", "cron dayweek"),
        "so that `present` can become `absent` in a file",
    ),
    "cmd stateful": "the answer of a function says it",
    "docker driver": _ABSENT,
    "docker ignore_collisions": "options of a network have one name",
    "docker skip_translate": "options of a network have one form",
    "iptables position": "an appended rule has its place",
    "nftables position": "an appended rule has its place",
    **dict.fromkeys(
        ("file backupname", "file force", "file target", "file user"), "file.shortcut refuses all"
    ),
    "file follow_symlinks": "a link says what its target is, whatever that is",
    "file keep_source": "files of the tree are in no cache",
    "file makedirs": "file.recurse makes folders in any case, file.shortcut refuses all",
    "file mode": "file.recurse has file_mode and dir_mode",
    "ini separator": "a heading has none",
    "ipset family": "a set has it, its entries do not",
    "mount user": "who mounted it does not matter",
    "network require_reboot": "it is for routes of an interface that is up",
    "pip log": _NOT_ASKED,
    "pip proxy": _NOT_ASKED,
    "pip timeout": _NOT_ASKED,
    "pkg version": "a package is held, not a version",
    "pkgrepo aptkey": _ABSENT,
    "pkgrepo file": _ABSENT,
    **dict.fromkeys(("ssh_auth comment", "ssh_auth enc", "ssh_auth options"), _ABSENT),
    "x509 backup": "an old key is kept nowhere",
}
_DOES = "says what this function does with it"
_WHOSE = "says what is whose, or what is run as whom"
_WITHOUT_IT = "says what goes without it, which is another thing here"
_MORE = "takes more here, or less"
_WHY_NOT = "says why it does nothing here"
_BY_REASON = {
    _DOES: {
        "acl": "acl_names",
        "alternatives": "path",
        "cargo": "root",
        "cmd": "hide_output",
        "cron": "adopt",
        "docker": "client_timeout containers driver_opts force shutdown_timeout",
        "file": """append_if_not_found backup backupname clean content context count create defaults
            dir_mode exclude_pat file_mode follow_symlinks force ignore_whitespace mode
            options prepend_if_not_found regex saltenv show_changes source sources template""",
        "firewalld": "ports",
        "flatpak": "location",
        "git": "bare global",
        "grains": "force",
        "http": "wait_for",
        "ini": "sections",
        "iptables": "family table",
        "kmod": "persist",
        "lvm": "force",
        "mount": "config device mount persist",
        "mysql": "database grant_option host",
        "network": "enabled gateway hostname noifupdown search",
        "nftables": "table",
        "npm": "dir",
        "pip": "requirements",
        "pkg": "pkgs rename version",
        "pkgrepo": "keyid",
        "postgres": "encoding locale maintenance_db",
        "raid": "devices",
        "selinux": "sel_type",
        "service": "init_delay no_block runlevels runtime timeout",
        "ssh_auth": "comment enc options source",
        "x509": "private_key signing_private_key",
    },
    _WHOSE: {
        "cargo": "user",
        "file": "group user",
        "gem": "user",
        "git": "user",
        "npm": "user",
        "postgres": "owner user",
        "rabbitmq": "runas",
    },
    _WITHOUT_IT: {
        "cron": "identifier",
        "docker": "driver",
        "git": "branch rev",
        "iptables": "chain",
        "nftables": "chain",
        "pkg": "refresh",
        "x509": "days_remaining days_valid dir_mode mode",
    },
    _MORE: {
        "file": "encoding source_hash use_etag",
        "grains": "value",
        "lvm": "vgname",
        "mysql": "grant",
        "pkgrepo": "ppa refresh",
        "x509": "encoding",
    },
    _WHY_NOT: {"file": "makedirs", "gem": "ruby", "group": "local"},
}
SENTENCES = {
    (f"{family} {argument}", reason == _WHY_NOT): reason
    for reason, families in _BY_REASON.items()
    for family, listed in families.items()
    for argument in listed.split()
}
_SMALL_WORDS = frozenset(("a", "an", "the", "as", "or", "and", "of", "its", "their", "is", "are"))


def parameters() -> Iterator[tuple[str, str, Parameter]]:
    """The arguments in a family with their function: `file mode`, file.managed, ..."""
    for module in LIBRARY.state_modules():
        first = module.partition("_")[0]
        family = FAMILIES.get(module, first if first in SIBLINGS else module)
        for function in LIBRARY.state_functions(module):
            name = f"{module}.{function}"
            for key, parameter in schema_of(LIBRARY.state(name).function).parameters.items():
                if key != "name":
                    yield f"{family} {key}", name, parameter


def type_of(name: str, parameter: Parameter) -> Hashable:
    """The type, be it that it may be left away."""
    if isinstance(parameter.annotation, str) and "requires_feature" in parameter.annotation:
        return parameter.annotation  # each is an object of its own
    found = parameter.type
    union = isinstance(found, types.UnionType | Alternatives)
    several = union or typing.get_origin(found) is typing.Union
    return frozenset(found.__args__ if several else [found]) - {type(None)}


def default_of(name: str, parameter: Parameter) -> Hashable:
    return repr(parameter.default)


def sentence_of(name: str, parameter: Parameter) -> str:
    described = descriptions.describe(LIBRARY, name).arguments
    return described.get(parameter.name.rstrip("_"), "")


def effect_of(name: str, parameter: Parameter) -> Hashable:
    return sentence_of(name, parameter).lower().startswith(descriptions.WITHOUT_EFFECT)


@pytest.mark.parametrize(
    ("fact", "exceptions"),
    [(type_of, TYPES), (default_of, DEFAULTS), (effect_of, WITHOUT_EFFECT)],
    ids=["types", "defaults", "effects"],
)
def test_functions_of_a_family_take_the_same(
    fact: Callable[[str, Parameter], Hashable], exceptions: Mapping[str, str]
) -> None:
    found: dict[str, dict[Hashable, list[str]]] = defaultdict(lambda: defaultdict(list))
    for argument, name, parameter in parameters():
        found[argument][fact(name, parameter)].append(name)
    different = {
        argument: list(facts.values()) for argument, facts in found.items() if len(facts) > 1
    }
    assert len(found) > 500
    assert {key: different[key] for key in sorted(different.keys() - exceptions.keys())} == {}
    same = sorted(exceptions.keys() - different.keys())
    assert not same


def test_functions_of_a_family_say_the_same_of_the_same() -> None:
    """Of an argument with the same type and effect; `as of X.Y` is what that function says."""
    found: dict[tuple[Hashable, ...], dict[str, list[str]]] = {}
    for argument, name, parameter in parameters():
        key = (argument, type_of(name, parameter), effect_of(name, parameter))
        sentences = found.setdefault(key, defaultdict(list))
        sentences[sentence_of(name, parameter)].append(name)
    different = {
        (argument, without_effect)
        for (argument, _, without_effect), sentences in found.items()
        if len(sentences) > 1
    }
    assert len(found) > 500
    assert not different - SENTENCES.keys(), "say `as of X.Y`, or why another thing is said"
    assert not SENTENCES.keys() - different, "these say the same"
    by_accident = {
        argument: sentences
        for (argument, *_), sentences in found.items()
        if len({_important(sentence) for sentence in sentences}) < len(sentences)
    }
    assert by_accident == {}, "only small words differ: say `as of X.Y`"


def _important(sentence: str) -> str:
    """The words of a sentence but those that may differ by accident."""
    return " ".join(
        word for word in re.findall(r"[^\s.,:;]+", sentence.lower()) if word not in _SMALL_WORDS
    )
