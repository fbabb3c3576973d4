# SPDX-License-Identifier: Apache-2.0
"""Pages as a browser takes them."""

from __future__ import annotations

from html.parser import HTMLParser

CLOSED = ("html", "head", "body", "title", "style", "script", "main", "section", "header", "nav")
CLOSED += ("ul", "ol", "li", "details", "summary", "pre", "p", "a", "b", "span", "svg", "g", "div")


class Parsed(HTMLParser):
    """A page as a browser takes it. wrong: tags that do not fit together."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.wrong: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in CLOSED:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(str(value))
            elif name == "href":
                self.links.append(str(value))

    def handle_endtag(self, tag: str) -> None:
        if tag in CLOSED and (not self.open or self.open.pop() != tag):
            self.wrong.append(f"{tag} at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)

    @property
    def shown(self) -> str:
        return "".join(self.text)
