# SPDX-License-Identifier: Apache-2.0
"""The picture for a person: one HTML file with everything in it, folded by SLS, readable with
hundreds of states.

On top the cycles and a map of the SLS files; below it each SLS with its states, what they wait for,
and the SLS files that they touch as dashed boxes. Works without scripts and on paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.model.requisite_kinds import FAMILIES, KINDS
from runner.support.drawing import MANY, Picture, by_sls, folded, label, single
from runner.support.drawing.layout import telling
from runner.support.drawing.svg import ENDS, Arrow, Node, drawing, escape

UNFOLDED = 60  # so many states are all shown from the start
MOST_TOLD = 300  # relationships of a cycle; of one with more its SLS files are drawn
FEW = 3  # so many states of another SLS are drawn; of more only the SLS

State = Mapping[str, Any]


def html(drawn: Picture, title: str) -> str:
    """The whole page."""
    drawn = single(drawn)
    states, groups = drawn["states"], by_sls(drawn["states"])
    anchors = {sls: f"sls-{number}" for number, sls in enumerate(groups)}
    counted = (
        _many(len(states), "state"),
        _many(len(groups), "SLS file"),
        _many(len(drawn["edges"]), "relationship"),
    )
    summary = "{} in {}, {}".format(*counted)
    touching: dict[str, list[Mapping[str, Any]]] = {sls: [] for sls in groups}
    for edge in drawn["edges"]:
        for sls in dict.fromkeys(states[edge[end]]["sls"] for end in ("first", "then")):
            touching[sls].append(edge)
    few = folded(drawn)
    how = "An arrow leads from a state to what depends on it. A box leads to its states."
    how += (
        " Arrows that follow from others are left out."
        if len(_telling(few)) < len(few["edges"])
        else ""
    )
    opens = " open" * (len(states) <= UNFOLDED or len(groups) == 1)
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(title)}</title>\n<style>{style_sheet()}{_asset('page_only.css')}</style>",
            f'</head>\n<body>\n<h1>{escape(title)}</h1>\n<p class="soft">{summary}.</p>',
            _legend(),
            *_cycles(drawn),
            *(
                ["<h2>The SLS files</h2>", f'<p class="soft">{how}</p>']
                + [_framed(overview(drawn, anchors))]
                if len(groups) > 1
                else []
            ),
            (
                '<h2>The states</h2>\n<p class="tools"><input type="search" placeholder="Words: an'
                ' ID, a function, a file" aria-label="Find states"> <button type="button">Open or'
                " close all</button></p>"
            ),
            *(
                _section(sls, members, touching[sls], states, anchors, opens)
                for sls, members in groups.items()
            ),
            f"<script>{_asset('page.js')}</script>\n</body>\n</html>",
        ]
    )


def svg(drawn: Picture) -> str:
    """One picture in a file: all states, or of many only the SLS files."""
    style = _plain_colours(style_sheet())
    if len(drawn["states"]) > MANY:
        return overview(drawn, {}, style)
    drawn = single(drawn)
    nodes = [_state_node(state, f" in {state['sls']}") for state in drawn["states"]]
    return drawing(
        nodes, [_arrow(edge, edge["first"], edge["then"]) for edge in drawn["edges"]], style
    )


def style_sheet() -> str:
    """The style sheet of pictures, with the lines of the kinds of requisites."""
    light, dark = (
        " ".join(f"--{kind}: {kind.colours[ground]};" for kind in FAMILIES) for ground in (0, 1)
    )
    rules = (
        f".arrow.{kind} path {{ stroke: var(--{kind});"
        f"{f' stroke-dasharray: {kind.dashes};' if kind.dashes else ''} }}"
        f" marker.{kind} path {{ fill: var(--{kind}); }}"
        for kind in FAMILIES
    )
    parts = {"light": light, "dark": dark, "rules": "\n".join(rules)}
    return re.sub(r"/\* kinds: (\w+) \*/", lambda part: parts[part[1]], _asset("page.css"))


def _plain_colours(style: str) -> str:
    """The style sheet without variables and dark colours: not every program that draws SVG knows
    them.
    """
    colours = dict(re.findall(r"(--\w+): ([^;]+);", style.partition("@media")[0]))
    rules = style[style.index("svg text") :]
    return re.sub(r"var\((--\w+)\)", lambda variable: colours[variable[1]], rules)


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"


def _framed(picture: str) -> str:
    return f'<div class="picture">{picture}</div>'


def _legend() -> str:
    def sample(style: str, text: str) -> str:
        line = f'<g class="arrow {style}"><path d="M0 6H34"/></g>'
        return f'<span><svg width="34" height="12">{line}</svg>{text}</span>'

    samples = (sample(style, "part of a cycle" if style == "cycle" else style) for style in ENDS)
    return f'<p class="legend">{"".join(samples)}</p>'


def _cycles(drawn: Picture) -> Iterator[str]:
    """Each group of states that depend on each other, drawn and in words."""
    for knot in drawn["cycles"]:
        members = set(knot)
        index = {number: place for place, number in enumerate(knot)}
        edges = [
            edge
            for edge in drawn["edges"]
            if edge["cycle"] and {edge["first"], edge["then"]} <= members
        ]
        states = [drawn["states"][number] for number in knot]
        inner = [{**edge, **{end: index[edge[end]] for end in ("first", "then")}} for edge in edges]
        told = edges[:MOST_TOLD]
        items = "".join(f"<li>{escape(_in_words(edge, drawn['states']))}</li>" for edge in told)
        if len(edges) > MOST_TOLD:
            items += f"<li>and {len(edges) - MOST_TOLD} more</li>"
            shown = overview({"states": states, "edges": inner}, {})
        else:
            nodes = [_state_node(state, f" in {state['sls']}") for state in states]
            shown = drawing(nodes, [_arrow(edge, edge["first"], edge["then"]) for edge in inner])
        yield (
            f'<section class="cycles"><h2>A cycle: {len(knot)} states depend on each'
            " other</h2><p>Nothing can run before one of these relationships is"
            f" removed.</p>{_framed(shown)}<ul>{items}</ul></section>"
        )


def _in_words(edge: Mapping[str, Any], states: Sequence[State]) -> str:
    first, then = label(states[edge["first"]]), label(states[edge["then"]])
    at = f" ({edge['place']})" if edge["place"] else ""
    return f"{then} depends on {first}: {edge['kind']}{at}"


def overview(drawn: Picture, anchors: Mapping[str, str], style: str = "", name: str = "") -> str:
    """The SLS files of a run. anchors: where a click on one leads. style: the style sheet of a file
    of its own. name: what a screen reader calls the picture.
    """
    few = folded(drawn)
    nodes = []
    for state in few["states"]:
        count = _many(state["count"], "state")
        begins = f", from number {state['position']} on" if state["position"] else ""
        link = f"#{anchors[state['sls']]}" if anchors else ""
        tied = "cycle" if state["cycle"] else ""
        nodes.append(Node(state["sls"], count, f"{state['sls']}: {count}{begins}", tied, link))
    arrows = []
    for edge in _telling(few):
        tip = f"{_many(edge['count'], 'relationship')}: {', '.join(edge['kinds'])}"
        arrows.append(Arrow(edge["first"], edge["then"], tip, _style(edge, edge["kinds"][0])))
    return drawing(nodes, arrows, style, name)


def _telling(few: Picture) -> list[Mapping[str, Any]]:
    """The arrows of the map; where they are many, without those that others imply."""
    edges: list[Mapping[str, Any]] = few["edges"]
    if len(edges) <= MANY:
        return edges
    pairs = telling(len(few["states"]), [(edge["first"], edge["then"]) for edge in edges])
    return [edge for edge in edges if edge["cycle"] or (edge["first"], edge["then"]) in pairs]


def _style(edge: Mapping[str, Any], kind: str) -> str:
    style = "automatic" if edge["automatic"] else KINDS[kind].family
    return f"{style} cycle" if edge["cycle"] else style


def _arrow(edge: Mapping[str, Any], first: int, then: int) -> Arrow:
    at = f" ({edge['place']})" if edge["place"] else ""
    return Arrow(first, then, f"{edge['kind']}{at}", _style(edge, edge["kind"]))


def _state_node(state: State, where: str = "", style: str = "", link: str = "") -> Node:
    number = f"{state['position']}  " if state["position"] else ""
    tip = f"{label(state)}\nname {state['name']}\ndeclared at {state['place']}"
    tied = " cycle" if state["cycle"] else ""
    return Node(state["title"], f"{number}{state['function']}{where}", tip, style + tied, link)


# ---------------------------------------------------------------- one SLS


def _section(
    sls: str,
    members: Sequence[int],
    edges: Sequence[Mapping[str, Any]],
    states: Sequence[State],
    anchors: Mapping[str, str],
    opens: str,
) -> str:
    tied = (
        ' <span class="tied">in a cycle</span>'
        if any(states[number]["cycle"] for number in members)
        else ""
    )
    count = _many(len(members), "state")
    picture = _framed(_of_sls(members, edges, states, anchors))
    return (
        f'<details id="{anchors[sls]}"{opens}><summary><code>{escape(sls)}</code> <span'
        f' class="soft">{count}</span>{tied}'
        f"</summary>\n{picture}\n{_table(members, edges, states)}</details>"
    )


def _of_sls(
    members: Sequence[int],
    edges: Sequence[Mapping[str, Any]],
    states: Sequence[State],
    anchors: Mapping[str, str],
) -> str:
    """The states of an SLS with their neighbours of others."""
    nodes = [_state_node(states[number]) for number in members]
    index = {number: place for place, number in enumerate(members)}
    outside: dict[str, set[int]] = {}
    for edge in edges:
        for number in (edge["first"], edge["then"]):
            if number not in index:
                outside.setdefault(states[number]["sls"], set()).add(number)
    for sls, numbers in outside.items():
        link = f"#{anchors[sls]}"
        if len(numbers) <= FEW:
            for number in sorted(numbers):
                index[number] = len(nodes)
                nodes.append(_state_node(states[number], f" in {sls}", "other", link))
        else:
            index |= dict.fromkeys(numbers, len(nodes))
            tip = "\n".join(label(states[number]) for number in sorted(numbers))
            nodes.append(Node(sls, f"{len(numbers)} states", tip, "other", link))
    arrows: dict[tuple[int, int, str], Arrow] = {}
    for edge in edges:
        arrow = _arrow(edge, index[edge["first"]], index[edge["then"]])
        arrows.setdefault((arrow.first, arrow.then, arrow.style), arrow)
    return drawing(nodes, _of_all(list(arrows.values()), len(members), nodes))


def _of_all(arrows: list[Arrow], own: int, nodes: list[Node]) -> list[Arrow]:
    """An arrow between a box of another SLS and each of the first `own` ones becomes one, to a box
    for all of them.
    """
    ends: dict[tuple[int, bool, str], list[Arrow]] = {}
    for arrow in arrows:
        if (arrow.first < own) != (arrow.then < own):
            outgoing = arrow.first < own
            ends.setdefault(
                (arrow.then if outgoing else arrow.first, outgoing, arrow.style), []
            ).append(arrow)
    whole = {key: group for key, group in ends.items() if own > FEW and len(group) == own}
    if not whole:
        return arrows
    gone = {id(arrow) for group in whole.values() for arrow in group}
    remaining = [arrow for arrow in arrows if id(arrow) not in gone]
    for outgoing in (True, False):
        others = [
            (other, style, group[0].tip)
            for (other, out, style), group in whole.items()
            if out is outgoing
        ]
        if others:
            nodes.append(Node(f"each of these {own} states", "all of this SLS"))
            box = len(nodes) - 1
            remaining += [
                Arrow(*((box, other) if outgoing else (other, box)), tip, style)
                for other, style, tip in others
            ]
    return remaining


def _table(
    members: Sequence[int], edges: Iterable[Mapping[str, Any]], states: Sequence[State]
) -> str:
    waits: dict[int, list[tuple[str, State]]] = {}
    for edge in edges:
        waits.setdefault(edge["then"], []).append((edge["kind"], states[edge["first"]]))
    rows = []
    for number in members:
        state = states[number]
        lines = "<br>".join(escape(text) for text in dict.fromkeys(_waits(waits.get(number, ()))))
        rows.append(
            f'<tr><td>{state["position"] or ""}</td><td class="state">{escape(label(state))}</td>'
            f'<td>{lines}</td><td class="soft">{escape(state["place"])}</td></tr>'
        )
    head = "<tr><th></th><th>State</th><th>Depends on</th><th>Declared at</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _waits(waits: Iterable[tuple[str, State]]) -> Iterator[str]:
    """The states that a state depends on; many of one SLS are only counted."""
    groups: dict[tuple[str, str], list[State]] = {}
    for kind, state in waits:
        groups.setdefault((kind, state["sls"]), []).append(state)
    for (kind, sls), members in groups.items():
        if len(members) > FEW:
            yield f"{kind} {len(members)} states of {sls}"
        else:
            yield from (f"{kind} {label(state)}" for state in members)
