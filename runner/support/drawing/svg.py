# SPDX-License-Identifier: Apache-2.0
"""Boxes and arrows as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape as escaped
from itertools import pairwise

from runner.model.records import Record
from runner.model.requisite_kinds import FAMILIES
from runner.support.drawing.layout import Box, Pair, Point, arranged

PAD = 12.0
LETTER = 7.3  # the width of a letter of the 12 pixel font, a little too much
LONG = 40  # letters; longer texts lose their middle
ENDS = (*FAMILIES, "automatic", "cycle")  # an arrow head for each colour


class Node(Record):
    """A box: two lines of text, what a pointer on it tells, its style and where a click on it
    leads.
    """

    title: str
    below: str
    tip: str = ""
    style: str = ""
    link: str = ""


class Arrow(Record):
    first: int
    then: int
    tip: str
    style: str


def drawing(
    nodes: Sequence[Node], arrows: Iterable[Arrow], standalone: str = "", name: str = ""
) -> str:
    """The picture. standalone: the style sheet of a file of its own. name: what a screen reader
    calls it, which then reads what is in it too.
    """
    arrows = list(arrows)
    size = [(LETTER * max(len(short(node.title)), len(node.below)) + 20, 42.0) for node in nodes]
    layout = arranged(size, [(arrow.first, arrow.then) for arrow in arrows])
    width, height = layout.width + 2 * PAD, layout.height + 2 * PAD
    role = f'role="group" aria-label="{escape(name)}"' if name else 'role="img"'
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{-PAD:.0f} {-PAD:.0f} {width:.0f} {height:.0f}" {role}>'
        ),
        *([f"<style>{standalone}</style>", _ground(width, height)] if standalone else []),
        "<defs>" + "".join(_head(end) for end in ENDS) + "</defs>",
        *_lines(arrows, layout.routes),
        *(
            _box(node, box, number)
            for number, (node, box) in enumerate(zip(nodes, layout.boxes, strict=True))
        ),
        "</svg>",
    ]
    return "\n".join(lines)


def _ground(width: float, height: float) -> str:
    """A white sheet below a picture that stands alone."""
    return f'<path d="M{-PAD:.0f} {-PAD:.0f}h{width:.0f}v{height:.0f}h-{width:.0f}z" fill="#fff"/>'


def _head(style: str) -> str:
    return (
        f'<marker id="end-{style}" class="{style}" viewBox="0 0 8 8" refX="8" refY="4"'
        ' markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
    )


def _lines(arrows: Iterable[Arrow], routes: dict[Pair, list[Point]]) -> Iterator[str]:
    beside: dict[Pair, int] = {}
    for arrow in arrows:
        pair = (arrow.first, arrow.then)
        if pair not in routes:
            continue  # from a box to itself
        # several arrows between two boxes run side by side
        nth = beside[pair] = beside.get(pair, -1) + 1
        path = _curve([(x, y + 6 * nth) for x, y in routes[pair]])
        end = arrow.style.split()[-1]
        yield (
            f'<g class="arrow {arrow.style}" data-a="{arrow.first}"'
            f' data-b="{arrow.then}"><title>{escape(arrow.tip)}</title><path class="near"'
            f' d="{path}"/><path d="{path}" marker-end="url(#end-{end})"/></g>'
        )


def _curve(points: Sequence[Point]) -> str:
    """Level where it meets a box or passes a layer, bent between two layers."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (x + to_x) / 2
        parts.append(f"C{half:.1f} {y:.1f} {half:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
    return "".join(parts)


def _box(node: Node, box: Box, number: int) -> str:
    inner = (
        f"<title>{escape(node.tip or node.title)}</title>"
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
        ' rx="5"/>'
        f'<text x="{box.x + 10:.1f}" y="{box.y + 18:.1f}">{escape(short(node.title))}</text>'
        f'<text class="below" x="{box.x + 10:.1f}" y="{box.y + 34:.1f}">{escape(node.below)}</text>'
    )
    linked = f'<a href="{escape(node.link)}">{inner}</a>' if node.link else inner
    return f'<g class="box {node.style}" data-n="{number}">{linked}</g>'


def escape(text: str) -> str:
    """Text for SVG and HTML; what cannot be printed (and XML refuses) becomes a mark."""
    return escaped(
        "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
    )


def short(text: str) -> str:
    """The text, or its two ends when it is long."""
    text = " ".join(text.split())
    return text if len(text) <= LONG else f"{text[: LONG // 2 - 1]}…{text[-LONG // 2 :]}"
