# SPDX-License-Identifier: Apache-2.0
"""Templates that render to the same as long as their variables, what they import, grains, pillar
and configuration are the same: nothing in them asks for the time, chance or the machine, nor
alters what it was given.

What is not known to be so is not repeatable: a new filter, a node of an extension.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.filters import FILTERS as DEFAULT_FILTERS
from jinja2.tests import TESTS as DEFAULT_TESTS

from runner.language.filters import REPEATABLE, TESTS
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_NODES = frozenset(
    getattr(nodes, name)
    for name in (
        "Template Output TemplateData Extends Block Include Import FromImport For If With Macro"
        " CallBlock FilterBlock Assign AssignBlock ExprStmt Break Continue Name NSRef Const Tuple"
        " List Dict Pair Keyword CondExpr Filter Test Call Getitem Getattr Slice Concat Compare"
        " Operand Mul Div FloorDiv Add Sub Mod Pow And Or Not Neg Pos InternalName"
        " ExtensionAttribute"
    ).split()
)
_FILTERS = ({*DEFAULT_FILTERS} | REPEATABLE) - {"attr", "random"}
_TESTS = ({*DEFAULT_TESTS} | {*TESTS}) - {"sameas"}
# what nothing but a variable of a repeatable template may be called
_NEVER = frozenset(["lipsum", "ifelse", "show_full_context", "opts"])
# methods that alter, or (of dates, which YAML makes) tell the time
_OTHERWISE = frozenset(
    "add append clear difference_update discard extend insert intersection_update move_to_end now"
    " pop popitem remove reverse setdefault sort symmetric_difference_update today update utcnow"
    "".split()
)
# our function that may ask another machine (sdb://...), and knows whether this is a dry run
_ASKS = "config.get"
# the methods of SaltTags that only read
_TAGS = frozenset(["_read", "_imported", "_loaded"])


class Uses(Record):
    """What templates look at beside their variables and imports. names: of what all templates
    have, which variables may hide.
    """

    names: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    def looks_around(self, variables: Container[str]) -> bool:
        """Return whether more is looked at than files, grains, pillar and functions, by templates
        that have these variables.
        """
        return any(name not in variables for name in self.names & _NEVER)

    def joined(self, other: Uses) -> Uses:
        return Uses(self.names | other.names, self.functions | other.functions)


def uses(tree: nodes.Template) -> Uses | None:
    """What a template itself looks at; None where it is not repeatable."""
    names: set[str] = set()
    functions: set[str] = set()
    waiting: list[nodes.Node] = [tree]
    while waiting:
        node = waiting.pop()
        if (function := _function(node)) and function != _ASKS:
            functions.add(function)
        elif not _fits(node):
            return None
        else:
            if isinstance(node, nodes.Name):
                names.add(node.name)
            waiting += node.iter_child_nodes()
    return Uses(frozenset(names), frozenset(functions)) if "salt" not in names else None


def _function(node: nodes.Node) -> str:
    """The execution function that `salt['x.y']` or `salt.x.y` names; empty for anything else."""
    if isinstance(node, nodes.Getitem) and _is_salt(node.node):
        name = node.arg
        return name.value if isinstance(name, nodes.Const) and type(name.value) is str else ""
    if isinstance(node, nodes.Getattr):
        module = node.node
        if isinstance(module, nodes.Getattr) and _is_salt(module.node):
            return f"{module.attr}.{node.attr}"
    return ""


def _is_salt(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "salt"


def _fits(node: nodes.Node) -> bool:
    """Return whether a node is the same for the same values, and alters none."""
    if isinstance(node, nodes.Call):
        if isinstance(node.node, nodes.ExtensionAttribute):
            return node.node.name in _TAGS
        # x[name]() may be any method
        return not isinstance(node.node, nodes.Getitem) or isinstance(node.node.arg, nodes.Const)
    if isinstance(node, nodes.Getattr):
        return node.attr not in _OTHERWISE and not node.attr.startswith("_")
    if isinstance(node, nodes.Const):
        text = node.value if isinstance(node.value, str) else ""
        return text not in _OTHERWISE and "__" not in text
    if isinstance(node, nodes.Filter):
        first = node.args[:1] if node.name == "map" else []  # the name of a filter
        named = {arg.value if isinstance(arg, nodes.Const) else None for arg in first}
        return {node.name, *named} <= _FILTERS and not node.dyn_args
    if isinstance(node, nodes.Test):
        return node.name in _TESTS
    return type(node) in _NODES
