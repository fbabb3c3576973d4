# SPDX-License-Identifier: Apache-2.0
"""Where boxes and arrows go: layers from left to right, few crossings, each group of connected
boxes by itself.

The classic way (Sugiyama): turn back edges round, layer by longest path, bend long edges at each
layer, order each layer by the middle of its neighbours, then shift boxes towards them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from graphlib import TopologicalSorter
from itertools import pairwise
from operator import or_

from runner.model.records import Record

GAP_X, GAP_Y = 70.0, 14.0
WIDE = 1080.0  # boxes without arrows are set in rows of about this width
SWEEPS = 6

Point = tuple[float, float]
Pair = tuple[int, int]


class Box(Record):
    x: float
    y: float
    width: float
    height: float


class Layout(Record):
    """boxes: one for each size given. routes: for each pair the points that its arrow passes, ends
    included.
    """

    boxes: list[Box]
    routes: dict[Pair, list[Point]]
    width: float
    height: float


def arranged(sizes: Sequence[tuple[float, float]], pairs: Iterable[Pair]) -> Layout:
    """Places for boxes of these sizes and for the arrows between them."""
    edges = list(dict.fromkeys((a, b) for a, b in pairs if a != b))
    boxes: dict[int, Box] = {}
    routes: dict[Pair, list[Point]] = {}
    top = width = 0.0
    groups = _components(len(sizes), edges)
    group_of = {number: group[0] for group in groups for number in group}
    inside: dict[int, list[Pair]] = {}
    for edge in edges:
        inside.setdefault(group_of[edge[0]], []).append(edge)
    for members in (group for group in groups if len(group) > 1):
        placed, lines, right, bottom = _Layers(members, inside[members[0]], sizes)(top)
        boxes |= placed
        routes |= lines
        width, top = max(width, right), bottom + 2 * GAP_Y
    alone = [group[0] for group in groups if len(group) == 1]
    right, top = _rows(alone, sizes, top, boxes)
    width = max(width, right)
    return Layout(
        [boxes[number] for number in range(len(sizes))], routes, width, max(top - GAP_Y, 0.0)
    )


def telling(count: int, pairs: Iterable[Pair]) -> set[Pair]:
    """The arrows without those that a way over other boxes tells, too. Those that lead back are
    kept.
    """
    forward = _without_cycles(range(count), list(dict.fromkeys((a, b) for a, b in pairs if a != b)))
    after: dict[int, list[int]] = {node: [] for node in range(count)}
    for a, b in (edge for edge, turned in forward.items() if edge == turned):
        after[a].append(b)
    beyond: dict[int, int] = {}  # what can be reached, as a set of bits
    for node in TopologicalSorter(after).static_order():
        beyond[node] = reduce(or_, (beyond[other] | 1 << other for other in after[node]), 0)
    implied = {
        (a, b) for a in after for b in after[a] if any(beyond[other] >> b & 1 for other in after[a])
    }
    return set(forward) - implied


def _components(count: int, edges: Sequence[Pair]) -> list[list[int]]:
    """The groups of connected boxes, by their first members."""
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    seen: set[int] = set()
    groups = []
    for number in range(count):
        stack, group = [number] if number not in seen else [], []
        seen.add(number)
        while stack:
            group.append(stack.pop())
            fresh = dict.fromkeys(other for other in near[group[-1]] if other not in seen)
            seen.update(fresh)
            stack += fresh
        if group:
            groups.append(sorted(group))
    return groups


def _rows(
    members: Sequence[int], sizes: Sequence[tuple[float, float]], top: float, boxes: dict[int, Box]
) -> tuple[float, float]:
    """Boxes without arrows side by side; (right, bottom)."""
    x = right = 0.0
    height = max((sizes[number][1] for number in members), default=0.0)
    for number in members:
        if x and x + sizes[number][0] > WIDE:
            x, top = 0.0, top + height + GAP_Y
        boxes[number] = Box(x, top, *sizes[number])
        x += sizes[number][0] + GAP_Y
        right = max(right, x - GAP_Y)
    return right, top + (height + GAP_Y if members else 0.0)


class _Layers:
    """One group of connected boxes; bends of long edges are nodes, too, without height."""

    def __init__(
        self, members: Sequence[int], edges: Sequence[Pair], sizes: Sequence[tuple[float, float]]
    ) -> None:
        self._sizes = sizes
        self._forward = _without_cycles(members, edges)
        self._layer = _longest(members, list(self._forward.values()))
        self._next = len(sizes)
        self._paths = {edge: self._bent(*forward) for edge, forward in self._forward.items()}
        self._left: dict[int, list[int]] = {node: [] for node in self._layer}
        self._right: dict[int, list[int]] = {node: [] for node in self._layer}
        for path in self._paths.values():
            for a, b in pairwise(path):
                self._right[a].append(b)
                self._left[b].append(a)
        self._columns: list[list[int]] = [[] for _ in range(max(self._layer.values()) + 1)]
        for node in sorted(self._layer):
            self._columns[self._layer[node]].append(node)

    def _bent(self, first: int, then: int) -> list[int]:
        path = [first]
        for layer in range(self._layer[first] + 1, self._layer[then]):
            self._layer[self._next] = layer
            path.append(self._next)
            self._next += 1
        return [*path, then]

    def __call__(self, top: float) -> tuple[dict[int, Box], dict[Pair, list[Point]], float, float]:
        """(boxes, routes, right, bottom), from a height on."""
        self._order()
        middle = self._heights()
        shift = top - min(middle[node] - self._tall(node) / 2 for node in middle)
        boxes: dict[int, Box] = {}
        left: dict[int, Point] = {}
        right: dict[int, Point] = {}
        x = 0.0
        for column in self._columns:
            wide = max(self._sizes[node][0] for node in column if node < len(self._sizes))
            for node in column:
                y = middle[node] + shift
                # as wide as the column, so that no arrow passes behind a neighbour
                if node < len(self._sizes):
                    boxes[node] = Box(x, y - self._tall(node) / 2, wide, self._tall(node))
                left[node], right[node] = (x, y), (x + wide, y)
            x += wide + GAP_X
        routes = {edge: self._route(edge, path, left, right) for edge, path in self._paths.items()}
        bottom = max(middle[node] + shift + self._tall(node) / 2 for node in middle)
        return boxes, routes, x - GAP_X, bottom

    def _route(
        self, edge: Pair, path: Sequence[int], left: dict[int, Point], right: dict[int, Point]
    ) -> list[Point]:
        points = [right[path[0]]]
        for node in path[1:-1]:
            points += [left[node], right[node]]
        points.append(left[path[-1]])
        return points if self._forward[edge] == edge else points[::-1]

    def _tall(self, node: int) -> float:
        return self._sizes[node][1] if node < len(self._sizes) else 2.0

    def _order(self) -> None:
        """Each layer by the mean place of the neighbours, alternately from the left and from the
        right.
        """
        place = {node: index for nodes in self._columns for index, node in enumerate(nodes)}
        for sweep in range(SWEEPS):
            forward = sweep % 2 == 0
            near = self._left if forward else self._right
            for column in self._columns if forward else self._columns[::-1]:
                weight = {
                    node: sum(place[n] for n in near[node]) / len(near[node])
                    if near[node]
                    else place[node]
                    for node in column
                }
                column.sort(key=weight.__getitem__)
                place.update((node, index) for index, node in enumerate(column))

    def _heights(self) -> dict[int, float]:
        """The middle of each node: as near to its neighbours as the order and the gaps allow."""
        middle: dict[int, float] = {}
        for column in self._columns:
            self._settle(column, dict.fromkeys(column, 0.0), middle)
        for sweep in range(SWEEPS):
            for column in self._columns if sweep % 2 == 0 else self._columns[::-1]:
                wanted = {}
                for node in column:
                    near = [*self._left[node], *self._right[node]]
                    wanted[node] = sum(middle[n] for n in near) / len(near)
                self._settle(column, wanted, middle)
        return middle

    def _settle(
        self, column: Sequence[int], wanted: dict[int, float], middle: dict[int, float]
    ) -> None:
        """The least squares of the wishes under the order: neighbours that would overlap move as
        one block.
        """
        blocks: list[tuple[float, int]] = []  # (mean of the wishes less the room before, how many)
        room, rooms = 0.0, []
        for index, node in enumerate(column):
            if index:
                room += (self._tall(column[index - 1]) + self._tall(node)) / 2 + GAP_Y
            rooms.append(room)
            blocks.append((wanted[node] - room, 1))
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (a, m), (b, n) = blocks[-2:]
                blocks[-2:] = [((a * m + b * n) / (m + n), m + n)]
        starts = [start for start, count in blocks for _ in range(count)]
        for node, start, own in zip(column, starts, rooms, strict=True):
            middle[node] = start + own


def _without_cycles(members: Sequence[int], edges: Sequence[Pair]) -> dict[Pair, Pair]:
    """Each edge with its direction for layering: one that leads back is turned round."""
    after: dict[int, list[int]] = {node: [] for node in members}
    for a, b in edges:
        after[a].append(b)
    state: dict[int, int] = {}  # 1: on the way, 2: done
    back: set[Pair] = set()
    for root in members:
        stack = [(root, iter(after[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state.get(following) == 1:
                back.add((node, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(after[following])))
    return {(a, b): (b, a) if (a, b) in back else (a, b) for a, b in edges}


def _longest(members: Sequence[int], edges: Sequence[Pair]) -> dict[int, int]:
    """The layer of each node: after all before it; one with nothing before it right before what
    comes next.
    """
    before: dict[int, list[int]] = {node: [] for node in members}
    after: dict[int, list[int]] = {node: [] for node in members}
    for a, b in dict.fromkeys(edges):
        before[b].append(a)
        after[a].append(b)
    layer: dict[int, int] = {}
    for node in TopologicalSorter(before).static_order():
        layer[node] = max((layer[n] + 1 for n in before[node]), default=0)
    for node in members:
        if not before[node]:
            layer[node] = min(layer[n] for n in after[node]) - 1
    return layer
