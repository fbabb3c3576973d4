# SPDX-License-Identifier: Apache-2.0
"""The picture in the languages DOT (Graphviz) and Mermaid: an arrow from what runs first to what
waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.support.drawing import MANY, Picture, by_sls, folded, label, single


def dot(drawn: Picture) -> str:
    """All states, in a box for each SLS; automatic relationships dotted, cycles red. What states
    have on the same others goes by way of a point.
    """
    lines = ["digraph states {", "  rankdir=LR;", "  node [shape=box];"]
    for cluster, (sls, members) in enumerate(by_sls(drawn["states"]).items()):
        lines += [f"  subgraph cluster_{cluster} {{", f"    label={_quoted(sls)};"]
        lines += [f"    n{number} [{_dot_state(drawn['states'][number])}];" for number in members]
        lines.append("  }")
    last = {edge["then"] for edge in drawn["edges"]}
    for number, members in enumerate(drawn.get("sets", ())):
        point = _dot_node(-1 - number)
        lines.append(f"  {point} [shape=point];")
        if -1 - number in last:
            lines += [f"  {point} -> n{member};" for member in members]
        else:
            lines += [f"  n{member} -> {point} [arrowhead=none];" for member in members]
    lines += [
        f"  {_dot_node(edge['first'])} -> {_dot_node(edge['then'])} [{_dot_edge(edge)}];"
        for edge in drawn["edges"]
    ]
    return "\n".join([*lines, "}"])


def _dot_node(number: int) -> str:
    return f"n{number}" if number >= 0 else f"set{-1 - number}"


def _dot_state(state: Mapping[str, Any]) -> str:
    return f"label={_quoted(label(state))}" + (", color=red" if state["cycle"] else "")


def _dot_edge(edge: Mapping[str, Any]) -> str:
    style = ", style=dotted" if edge["automatic"] else ""
    return f"label={_quoted(edge['kind'])}{style}" + (
        ", color=red, fontcolor=red, penwidth=2" if edge["cycle"] else ""
    )


def _quoted(text: str) -> str:
    return '"' + _visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _visible(text: str) -> str:
    """A text that steers no terminal and no direction of writing."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


# ---------------------------------------------------------------- Mermaid


def mermaid(drawn: Picture) -> str:
    """All states, in a box for each SLS; of many states only the SLS files."""
    few = len(drawn["states"]) <= MANY
    lines = list(_whole(single(drawn)) if few else _by_sls(folded(drawn), len(drawn["states"])))
    return "\n".join(["flowchart LR", *(f"  {line}" for line in lines)])


def _whole(drawn: Picture) -> Iterator[str]:
    for cluster, (sls, members) in enumerate(by_sls(drawn["states"]).items()):
        yield f"subgraph s{cluster}[{_text(sls)}]"
        for number in members:
            yield f"  n{number}[{_text(label(drawn['states'][number]))}]"
        yield "end"
    yield from _arrows(drawn, lambda edge: edge["kind"])


def _by_sls(drawn: Picture, states: int) -> Iterator[str]:
    yield (
        f"%% {states} states, folded by SLS; `runner show graph SLS --out mermaid` shows the states"
        " of one"
    )
    for number, sls in enumerate(drawn["states"]):
        text = f"{sls['sls']} ({sls['count']})"
        yield f"n{number}[{_text(text)}]"
    yield from _arrows(drawn, lambda edge: ", ".join(edge["kinds"]))


def _arrows(drawn: Picture, kind: Any) -> Iterator[str]:
    for edge in drawn["edges"]:
        arrow = "-.->" if edge["automatic"] else "-->"
        yield f"n{edge['first']} {arrow}|{_text(kind(edge))}| n{edge['then']}"
    red = ",".join(f"n{number}" for number, state in enumerate(drawn["states"]) if state["cycle"])
    if red:
        yield "classDef cycle stroke:#c00,stroke-width:3px"
        yield f"class {red} cycle"
        tied = ",".join(str(number) for number, edge in enumerate(drawn["edges"]) if edge["cycle"])
        yield f"linkStyle {tied} stroke:#c00,stroke-width:3px"


def _text(text: str) -> str:
    """Quoted as Mermaid wants it: what it could take for markup becomes entities."""
    return (
        '"'
        + "".join(char if char not in '"#<>&`|\n' else f"#{ord(char)};" for char in _visible(text))
        + '"'
    )
