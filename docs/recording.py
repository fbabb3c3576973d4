# SPDX-License-Identifier: Apache-2.0
"""Draws the recording of docs/first-look.md, an SVG that moves, from the page's own commands and
outputs, which a test runs: `python docs/recording.py > docs/recording.svg`.

Each block of the page is a scene. Who wants no motion sees the dry run.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent
SECONDS = (3.5, 4.5, 3.5, 3.5)  # of each scene
STILL = 1  # the scene without motion
WIDTH, LINE, MARGIN, BAR = 820, 18, 16, 30  # in pixels
STYLE = """
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
text { fill: #d8dee9; white-space: pre; }
.prompt { fill: #8fbcbb; } .typed { fill: #fff; font-weight: bold; }
.bad, .minus { fill: #ff7b85; } .good, .plus { fill: #a3d977; }
.warm { fill: #f0c674; } .cool { fill: #88c0d0; }
.scene { opacity: 0; animation: ALLs linear infinite; }
@media (prefers-reduced-motion: reduce) {
  .scene { animation: none; } .still { opacity: 1; } }
"""
COLOURS = (  # of the first that fits at the start of a line
    (r"\$ ", "prompt"),
    (r" *(failed|error)\b", "bad"),
    (r" *(would change|changed)\b", "warm"),
    (r" +(hint|@@)", "cool"),
    (r" +\+(?!\+\+ )", "plus"),
    (r" +-(?!-- )", "minus"),
    (r"\d+ states?: .*(changed|change)", "good"),
    (r"Restored", "good"),
)


def drawn(page: str) -> str:
    """The recording of a page."""
    scenes = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
    scenes = [scene.replace("$ echo $?\n1\n", "") for scene in scenes]
    total = sum(SECONDS)
    most = max(scene.count("\n") for scene in scenes)
    height = BAR + 2 * MARGIN + most * LINE
    style, groups, at = STYLE.replace("ALL", f"{total:g}"), list[str](), 0.0
    for number, (scene, seconds) in enumerate(zip(scenes, SECONDS, strict=True)):
        start, end = (100 * moment / total for moment in (at, at + seconds))
        style += (
            f"@keyframes scene{number} {{ 0%, {start:.2f}% {{ opacity: 0; }} {start + 0.01:.2f}%,"
            f" {end:.2f}% {{ opacity: 1; }} {end + 0.01:.2f}%, 100% {{ opacity: 0; }} }}\n"
        )
        still = " still" if number == STILL else ""
        lines = "".join(
            _line(line, BAR + MARGIN + row * LINE) for row, line in enumerate(scene.splitlines(), 1)
        )
        name = f'class="scene{still}" style="animation-name: scene{number}"'
        groups.append(f"<g {name}>\n{lines}</g>")
        at += seconds
    dots = "".join(
        f'<circle cx="{18 + 18 * number}" cy="15" r="5.5" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    title = "runner names a mistake, foresees a run, does it, and takes it back"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" height="{height}" role="img">',
            f"<title>{title}</title>\n<style>{style}</style>",
            f'<rect width="{WIDTH}" height="{height}" rx="9" fill="#1d2330"/>\n{dots}',
            *groups,
            "</svg>\n",
        ]
    )


def _line(text: str, y: int) -> str:
    colour = next((name for pattern, name in COLOURS if re.match(pattern, text)), "")
    if colour == "prompt":
        typed = f'<tspan class="typed">{escape(text[2:])}</tspan>'
        return f'<text x="{MARGIN}" y="{y}" class="prompt">$ {typed}</text>\n'
    if not text:
        return ""
    name = f' class="{colour}"' if colour else ""
    return f'<text x="{MARGIN}" y="{y}"{name} xml:space="preserve">{escape(text)}</text>\n'


if __name__ == "__main__":
    sys.stdout.write(drawn((FOLDER / "first-look.md").read_text()))
