# SPDX-License-Identifier: Apache-2.0
"""Variables that a loop of a template sets for what comes after it: Jinja forgets them there."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from jinja2 import nodes

from runner.model.diagnostics import Diagnostic
from runner.model.places import Source
from runner.pipeline.session import Session

OWN_SCOPES = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.Block)


def warnings(session: Session, sls: str, saltenv: str) -> Iterator[Diagnostic]:
    """A warning where a loop sets a variable that is set before it, and read after it or by the
    SLS that imports it.
    """
    path = session.tree.sls_path(sls, saltenv)
    template = session.renderer.syntax(path, saltenv) if path else None
    if not path or not template:
        return
    yield from _lost(template, path)
    for statement in template.find_all(nodes.FromImport):
        if isinstance(statement.template, nodes.Const):
            file = session.tree.find(str(statement.template.value), saltenv)
            imported = session.renderer.syntax(file, saltenv) if file else None
            names = {name if isinstance(name, str) else name[0] for name in statement.names}
            if file and imported:
                yield from _lost(imported, file, names)


def _lost(
    template: nodes.Template, path: str, exported: Collection[str] = ()
) -> Iterator[Diagnostic]:
    """exported: what an importer reads."""
    all_names = list(template.find_all(nodes.Name))
    for loop in (each for each in template.find_all(nodes.For) if any(_set(each.body))):
        apart = _never_with(loop, template)
        names = [name for name in all_names if id(name) not in apart]
        inside = {id(name) for name in loop.find_all(nodes.Name)}
        before = {
            name.name
            for name in names
            if name.ctx == "store" and id(name) not in inside and name.lineno <= loop.lineno
        }
        after = names[max(i for i, name in enumerate(names) if id(name) in inside) + 1 :]
        own = {name.name for name in loop.target.find_all(nodes.Name)}
        own |= {loop.target.name} if isinstance(loop.target, nodes.Name) else set()
        for target in _set(loop.body):
            name = target.name
            if name in before - own and _is_read(name, after, name in exported):
                message = f"what comes after the loop does not see that it sets {name!r}"
                hint = (
                    f"`{{% set ns = namespace({name}=...) %}}` before the loop, `ns.{name}` in it"
                    " and behind"
                )
                yield Diagnostic(message, Source(path, target.lineno), hint, "loop-set", "warning")


def _never_with(loop: nodes.For, template: nodes.Template) -> set[int]:
    """What stands in branches that are not taken where the loop is."""
    apart: set[int] = set()
    for choice in template.find_all(nodes.If):
        others: list[list[nodes.Node]] = [[other] for other in choice.elif_]
        branches = [choice.body, *others, choice.else_]
        found = [
            {id(node) for top in branch for node in (top, *top.find_all(nodes.Node))}
            for branch in branches
        ]
        if own := next((nodes_of for nodes_of in found if id(loop) in nodes_of), None):
            apart |= set[int]().union(*found) - own
    return apart


def _set(body: list[nodes.Node]) -> Iterator[nodes.Name]:
    """The variables that are set in the scope of a loop's body."""
    for node in body:
        if isinstance(node, nodes.Assign | nodes.AssignBlock):
            targets = [node.target, *node.target.find_all(nodes.Name)]
            yield from (target for target in targets if isinstance(target, nodes.Name))
        elif not isinstance(node, (nodes.For, *OWN_SCOPES)):
            yield from _set(list(node.iter_child_nodes()))


def _is_read(name: str, after: list[nodes.Name], exported: bool) -> bool:
    """Return whether the first use of a variable reads it."""
    return next((use.ctx == "load" for use in after if use.name == name), exported)
