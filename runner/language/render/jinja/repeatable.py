# SPDX-License-Identifier: Apache-2.0
"""Templates that render to the same as long as their variables, what they import, grains, pillar
configuration and the answers of functions are the same: nothing else in them asks for the time,
chance or the machine. What functions answer, and what is altered, is noted while they are rendered.

What is not known to be so is not repeatable: a new filter, a node of an extension.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.filters import FILTERS as DEFAULT_FILTERS
from jinja2.tests import TESTS as DEFAULT_TESTS

from runner.language.filters import REPEATABLE, TESTS
from runner.language.render.jinja.shared_code import Lifted, own_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# what code asks for, but for its strings: names, and the numbers of the strings that name filters;
# None where it is not repeatable
Uses = tuple[tuple[str, ...], tuple[int, ...]] | None

_NODES = frozenset(
    getattr(nodes, name)
    for name in (
        "Template Output TemplateData Extends Block Include Import FromImport For If With Macro"
        " CallBlock FilterBlock Assign AssignBlock ExprStmt Break Continue NSRef Tuple"
        " List Dict Pair Keyword CondExpr Call Getitem Slice Concat Compare"
        " Operand Mul Div FloorDiv Add Sub Mod Pow And Or Not Neg Pos InternalName"
    ).split()
)
_FILTERS = ({*DEFAULT_FILTERS} | REPEATABLE) - {"attr", "random"}
_TESTS = ({*DEFAULT_TESTS} | {*TESTS}) - {"sameas"}
# what nothing but a variable of a repeatable template may be called
NEVER = frozenset(["lipsum", "ifelse", "show_full_context"])
# methods (of dates, which YAML makes) that tell the time or ask for the machine's zone
_OTHERWISE = frozenset("astimezone fromtimestamp now strftime timestamp today utcnow".split())
# methods that alter what they are of: whether that is more than what the template made itself is
# seen when they are called
ALTERING = frozenset(
    "add append clear difference_update discard extend insert intersection_update move_to_end pop"
    " popitem remove reverse setdefault sort symmetric_difference_update update".split()
)
# the methods of SaltTags that only read
_TAGS = frozenset(["_read", "_imported", "_loaded"])


class Seen:
    """What the nodes of a template ask for, as they are seen."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._filters: set[int] = set()
        self._fits = True

    def see(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Name):
            self._names.add(node.name)
        elif self._fits:
            self._fits = self._is_fit(node)

    def uses(self) -> Uses:
        return (tuple(self._names), tuple(self._filters)) if self._fits else None

    def _is_fit(self, node: nodes.Node) -> bool:
        """Return whether a node is the same for the same values, but for its strings."""
        if type(node) in _NODES:
            return True
        if isinstance(node, nodes.Getattr):
            return not node.attr.startswith("_") and node.attr not in _OTHERWISE
        if isinstance(node, nodes.Const):
            return type(node.value) is not str or node.value not in _OTHERWISE
        if isinstance(node, nodes.ExtensionAttribute):
            return node.name in _TAGS
        if isinstance(node, nodes.Filter):
            wanted: set[Any] = {node.name}
            for arg in node.args[:1] if node.name == "map" else ():  # the name of a filter
                named = arg.value if isinstance(arg, nodes.Const) else None
                if isinstance(named, Lifted):
                    self._filters.add(named.number)
                else:
                    wanted.add(named)
            return wanted <= _FILTERS and not node.dyn_args
        if isinstance(node, nodes.Test):
            return node.name in _TESTS or (
                node.name == "sameas" and all(map(_is_single, node.args))
            )
        return False


def names(
    uses: Uses, strings: tuple[str, ...], variables: tuple[str, ...]
) -> frozenset[str] | None:
    """The names in a template with these strings and variables (shared_code.py), which may be those
    of what all templates have; None where it is not repeatable.
    """
    if uses is None or not _OTHERWISE.isdisjoint(strings):
        return None
    if any(strings[number] not in _FILTERS for number in uses[1]):
        return None
    return frozenset(own_name(name, variables) for name in uses[0])


def _is_single(node: nodes.Node) -> bool:
    """Return whether there is one such object only."""
    return isinstance(node, nodes.Const) and type(node.value) in (bool, type(None))
