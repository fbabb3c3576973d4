# SPDX-License-Identifier: Apache-2.0
"""Templates that render to the same as long as their variables, what they import, grains, pillar
and configuration are the same: nothing in them asks for the time, chance or the machine, nor
alters what it was given. What they made themselves they may alter.

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
# methods that alter, or (of dates, which YAML makes) tell the time or ask for the machine's zone
_OTHERWISE = frozenset(
    "add append astimezone clear difference_update discard extend fromtimestamp insert"
    " intersection_update move_to_end now pop popitem remove reverse setdefault sort strftime"
    " symmetric_difference_update timestamp today update utcnow".split()
)
# the methods of SaltTags that only read
_TAGS = frozenset(["_read", "_imported", "_loaded"])
# functions whose mappings and lists nobody else has
_MAKERS = frozenset(["grains.filter_by", "pillar.filter_by", "slsutil.merge"])
_IMPLIED = frozenset("loop caller varargs kwargs self super".split())


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
    own = _own(tree)
    waiting: list[nodes.Node] = [tree]
    while waiting:
        node = waiting.pop()
        if function := _function(node):
            functions.add(function)
        elif not _fits(node, own):
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


def _own(tree: nodes.Template) -> frozenset[str]:
    """The names by which a template knows nothing but mappings and lists of its own: the first that
    is said of such a name is what it is, and nothing else is called so.
    """
    if tree.find(nodes.Block) or tree.find(nodes.Extends):  # whose order is another one
        return frozenset()
    own, more = frozenset[str](), _own_with(tree, ())
    while more != own:
        own, more = more, _own_with(tree, more)
    return own


def _own_with(tree: nodes.Template, own: Container[str]) -> frozenset[str]:
    """These names. own: those that are known already, which others may be other names of."""
    first: dict[str, bool] = {}  # whether the first statement with a name makes it
    for statement in tree.body:
        made = _made(statement, own)
        for name in statement.find_all(nodes.Name):
            first.setdefault(name.name, name.name == made)
    bound = [*_IMPLIED, *(name.name for name in tree.find_all(nodes.Name) if name.ctx != "load")]
    for assignment in tree.find_all(nodes.Assign):
        if made := _made(assignment, own):
            bound.remove(made)
    for node in tree.find_all((nodes.Import, nodes.FromImport, nodes.Macro)):
        if isinstance(node, nodes.FromImport):
            bound += [name if isinstance(name, str) else name[1] for name in node.names]
        elif isinstance(node, nodes.Import):
            bound.append(node.target)
        elif isinstance(node, nodes.Macro):
            bound.append(node.name)
    return frozenset(name for name, makes in first.items() if makes) - {*bound}


def _made(statement: nodes.Node, own: Container[str]) -> str:
    """The name that a statement gives to a new mapping or list; empty for another one."""
    if not isinstance(statement, nodes.Assign) or not isinstance(statement.target, nodes.Name):
        return ""
    value = statement.node
    is_new = isinstance(value, nodes.Dict | nodes.List)
    if isinstance(value, nodes.Name):
        is_new = value.name in own
    if isinstance(value, nodes.Call):
        is_new = _function(value.node) in _MAKERS or (
            isinstance(value.node, nodes.ExtensionAttribute) and value.node.name in _TAGS
        )
    return statement.target.name if is_new else ""


def _fits(node: nodes.Node, own: Container[str]) -> bool:
    """Return whether a node is the same for the same values, and alters only a template's own."""
    if isinstance(node, nodes.Call):
        if isinstance(node.node, nodes.ExtensionAttribute):
            return node.node.name in _TAGS
        # x[name]() may be any method
        return not isinstance(node.node, nodes.Getitem) or isinstance(node.node.arg, nodes.Const)
    if isinstance(node, nodes.Getattr):
        altered = node.node.name if isinstance(node.node, nodes.Name) else ""
        return not node.attr.startswith("_") and (altered in own or node.attr not in _OTHERWISE)
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
