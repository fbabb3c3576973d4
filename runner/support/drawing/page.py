# SPDX-License-Identifier: Apache-2.0
"""The picture for a person: one HTML file with everything in it, folded by SLS, readable with
hundreds of states.

On top the cycles and a map of the SLS files; below it each SLS with its states, what they wait for,
and the SLS files that they touch as dashed boxes. Works without scripts and on paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from runner.model.requisite_kinds import FAMILIES, KINDS
from runner.support.drawing import MANY, Picture, at, bundled, by_sls, folded, label, single
from runner.support.drawing.layout import telling
from runner.support.drawing.svg import ENDS, Arrow, Node, drawing, escape

UNFOLDED = 60  # so many states are all shown from the start
MOST_TOLD = 300  # relationships of a cycle; of one with more its SLS files are drawn
MANY_BOXES = 12  # other SLS files that all states have the same to do with: of more, one box
FEW = 3  # so many states of another SLS are drawn; of more only the SLS

State = Mapping[str, Any]


def html(drawn: Picture, title: str) -> str:
    """The whole page."""
    drawn = bundled(drawn)
    states, groups = drawn["states"], by_sls(drawn["states"])
    ends = _Ends(drawn)
    anchors = {sls: f"sls-{number}" for number, sls in enumerate(groups)}
    counted = (
        _many(len(states), "state"),
        _many(len(groups), "SLS file"),
        _many(sum(map(ends.count, drawn["edges"])), "relationship"),
    )
    summary = "{} in {}, {}".format(*counted)
    touching: dict[str, list[Mapping[str, Any]]] = {sls: [] for sls in groups}
    for edge in drawn["edges"]:
        for sls in dict.fromkeys((*ends.by_sls(edge["first"]), *ends.by_sls(edge["then"]))):
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
                _section(sls, members, touching[sls], ends, anchors, opens)
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


class _Ends:
    """The ends of edges: a state, or a set of states (`picture` says which)."""

    def __init__(self, drawn: Picture) -> None:
        self.drawn = drawn
        self.states: Sequence[State] = drawn["states"]
        self._by_sls: dict[int, dict[str, list[int]]] = {}

    def by_sls(self, end: int) -> dict[str, list[int]]:
        """The states at an end, by their SLS."""
        if end not in self._by_sls:
            numbers: dict[str, list[int]] = {}
            self._by_sls[end] = numbers
            for number in at(self.drawn, end):
                numbers.setdefault(self.states[number]["sls"], []).append(number)
        return self._by_sls[end]

    def count(self, edge: Mapping[str, Any]) -> int:
        """How many relationships an edge stands for."""
        return len(at(self.drawn, edge["first"])) * len(at(self.drawn, edge["then"]))


def _section(
    sls: str,
    members: Sequence[int],
    edges: Sequence[Mapping[str, Any]],
    ends: _Ends,
    anchors: Mapping[str, str],
    opens: str,
) -> str:
    tied = (
        ' <span class="tied">in a cycle</span>'
        if any(ends.states[number]["cycle"] for number in members)
        else ""
    )
    count = _many(len(members), "state")
    picture = _framed(_OfSls(sls, members, ends, anchors).drawn(edges))
    return (
        f'<details id="{anchors[sls]}"{opens}><summary><code>{escape(sls)}</code> <span'
        f' class="soft">{count}</span>{tied}'
        f"</summary>\n{picture}\n{_table(members, edges, ends)}</details>"
    )


class _OfSls:
    """The picture of the states of an SLS with their neighbours of others."""

    def __init__(
        self, sls: str, members: Sequence[int], ends: _Ends, anchors: Mapping[str, str]
    ) -> None:
        self._sls, self._members, self._ends, self._anchors = sls, members, ends, anchors
        self._nodes = [_state_node(ends.states[number]) for number in members]
        self._index = {number: place for place, number in enumerate(members)}
        self._boxes: dict[int, tuple[list[int], list[int]]] = {}
        self._sets: dict[int, int] = {}

    def drawn(self, edges: Sequence[Mapping[str, Any]]) -> str:
        self._add_others(edges)
        arrows: dict[tuple[int, int, str], Arrow] = {}
        done: set[tuple[int, int, str]] = set()
        for edge in edges:
            arrow = _arrow(edge, self._key(edge["first"]), self._key(edge["then"]))
            if arrow[:2] + arrow[3:] in done:
                continue
            done.add((arrow.first, arrow.then, arrow.style))
            for first, then in self._pairs(edge["first"], edge["then"]):
                between = arrow._replace(first=first, then=then)
                arrows.setdefault((first, then, arrow.style), between)
        own = len(self._members)
        drawn = _of_all([*arrows.values()], own, self._nodes)
        return drawing(*_few_others(self._nodes, drawn))

    def _key(self, end: int) -> int:
        """The box of a state, or the number of a set."""
        return end if end < 0 else self._index[end]

    def _add_others(self, edges: Iterable[Mapping[str, Any]]) -> None:
        """Add the boxes of other SLS files."""
        outside: dict[str, dict[int, None]] = {}
        seen: set[int] = set()
        for edge in edges:
            pair = edge["first"], edge["then"]
            for end, other in (pair, pair[::-1]):
                if end not in seen and self._sls in self._ends.by_sls(other):
                    seen.add(end)
                    for sls, numbers in self._ends.by_sls(end).items():
                        if sls != self._sls:
                            outside.setdefault(sls, {}).update(dict.fromkeys(numbers))
        for sls, found in outside.items():
            link, numbers = f"#{self._anchors[sls]}", sorted(found)
            if len(numbers) <= FEW:
                for number in numbers:
                    self._index[number] = len(self._nodes)
                    node = _state_node(self._ends.states[number], f" in {sls}", "other", link)
                    self._nodes.append(node)
            else:
                self._index |= dict.fromkeys(numbers, len(self._nodes))
                tip = "\n".join(label(self._ends.states[number]) for number in numbers)
                self._nodes.append(Node(sls, f"{len(numbers)} states", tip, "other", link))

    def _pairs(self, first: int, then: int) -> Iterator[tuple[int, int]]:
        """The boxes with an arrow between them, one of which at least belongs to this SLS."""
        (own, others), (own_then, others_then) = self._boxes_of(first), self._boxes_of(then)
        yield from product(own, others_then)
        yield from product(others, own_then)
        if own and own_then:
            yield from product(self._together(first, own), self._together(then, own_then))

    def _boxes_of(self, end: int) -> tuple[list[int], list[int]]:
        """The boxes of the states at an end: those of this SLS, and others."""
        if end not in self._boxes:
            numbers = self._ends.by_sls(end)
            own = [self._index[number] for number in numbers.get(self._sls, ())]
            others = (
                self._index[number]
                for sls, of_sls in numbers.items()
                for number in of_sls
                if sls != self._sls and number in self._index
            )
            self._boxes[end] = own, [*dict.fromkeys(others)]
        return self._boxes[end]

    def _together(self, end: int, own: Sequence[int]) -> Sequence[int]:
        """The boxes of states of this SLS for arrows among them: many have one box."""
        if len(own) <= FEW:
            return own
        if end not in self._sets:
            self._sets[end] = len(self._nodes)
            tip = "\n".join(self._nodes[number].title for number in own)
            self._nodes.append(Node(f"{len(own)} of these states", "of this SLS", tip))
        return [self._sets[end]]


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


def _few_others(nodes: Sequence[Node], arrows: Sequence[Arrow]) -> tuple[list[Node], list[Arrow]]:
    """The same with one box for many other SLS files that have the same arrows."""
    arrows = list(arrows)
    of_box: dict[int, set[tuple[int, bool, str]]] = {}
    for first, then, _, style in arrows:
        for box, other, leads in ((first, then, True), (then, first, False)):
            if nodes[box].style == "other":
                of_box.setdefault(box, set()).add((other, leads, style))
    alike: dict[frozenset[tuple[int, bool, str]], list[int]] = {}
    for box, ends in of_box.items():
        alike.setdefault(frozenset(ends), []).append(box)
    index = {box: box for box in range(len(nodes))}
    drawn = list(nodes)
    for boxes in alike.values():
        if len(boxes) > MANY_BOXES:
            index |= dict.fromkeys(boxes, boxes[0])
            tip = "\n".join(f"{nodes[box].title}: {nodes[box].below}" for box in boxes)
            drawn[boxes[0]] = Node(f"{len(boxes)} others", "SLS files and states", tip, "other")
    kept = [box for box, shown in index.items() if box == shown]
    place = {box: number for number, box in enumerate(kept)}
    few: dict[tuple[int, int, str], Arrow] = {}
    for arrow in arrows:
        first, then = place[index[arrow.first]], place[index[arrow.then]]
        few.setdefault((first, then, arrow.style), arrow._replace(first=first, then=then))
    return [drawn[box] for box in kept], [*few.values()]


def _table(members: Sequence[int], edges: Iterable[Mapping[str, Any]], ends: _Ends) -> str:
    sls = ends.states[members[0]]["sls"]
    waits: dict[int, list[tuple[str, Mapping[str, list[int]]]]] = {}
    of_sets: dict[tuple[str, int], dict[str, list[int]]] = {}
    for edge in edges:
        kind, then, firsts = edge["kind"], edge["then"], ends.by_sls(edge["first"])
        if then >= 0:
            waits.setdefault(then, []).append((kind, firsts))
            continue
        if (kind, then) not in of_sets:
            of_sets[kind, then] = {}
            for number in ends.by_sls(then).get(sls, ()):
                waits.setdefault(number, []).append((kind, of_sets[kind, then]))
        for first, numbers in firsts.items():
            of_sets[kind, then].setdefault(first, []).extend(numbers)
    lines = [dict.fromkeys(_waits(waits.get(number, ()), ends.states)) for number in members]
    common = [line for line in lines[0] if all(line in others for others in lines)]
    common = common if min(len(members), len(common)) > FEW else []
    rows = []
    for number, told in zip(members, lines, strict=True):
        state = ends.states[number]
        own = "<br>".join(escape(line) for line in told if line not in common)
        rows.append(
            f'<tr><td>{state["position"] or ""}</td><td class="state">{escape(label(state))}</td>'
            f'<td>{own}</td><td class="soft">{escape(state["place"])}</td></tr>'
        )
    each = f"<p>Each of these states: {escape(', '.join(common))}</p>\n" if common else ""
    head = "<tr><th></th><th>State</th><th>Depends on</th><th>Declared at</th></tr>"
    return f"{each}<table>{head}{''.join(rows)}</table>"


def _waits(
    waits: Iterable[tuple[str, Mapping[str, list[int]]]], states: Sequence[State]
) -> Iterator[str]:
    """The states that a state depends on; many of one SLS are only counted, and so are many SLS
    files.
    """
    groups: dict[tuple[str, str], list[list[int]]] = {}
    for kind, firsts in waits:
        for sls, numbers in firsts.items():
            groups.setdefault((kind, sls), []).append(numbers)
    many: dict[str, list[int]] = {}
    for (kind, sls), parts in groups.items():
        count = sum(map(len, parts))
        if count > FEW and len(many.setdefault(kind, [])) >= MANY_BOXES:
            many[kind].append(count)
        elif count > FEW:
            many[kind].append(0)
            yield f"{kind} {count} states of {sls}"
        else:
            yield from (f"{kind} {label(states[number])}" for part in parts for number in part)
    for kind, counts in many.items():
        rest = [count for count in counts if count]
        if rest:
            yield f"{kind} {sum(rest)} states of {_many(len(rest), 'other SLS file')}"
