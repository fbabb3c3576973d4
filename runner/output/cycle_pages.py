# SPDX-License-Identifier: Apache-2.0
"""Pages of cycles: the graph drawn where a person can look at it, in the cache folder."""

from __future__ import annotations

import hashlib
import os

from runner.model.events import CycleFound
from runner.support.drawing import page
from runner.support.files.trusted_folder import trusted_folder

PAGES = 200  # pages that are kept


def draw(event: CycleFound, cachedir: str) -> None:
    """Write the page of a cycle and add its path to the event, where that is possible."""
    html = page.html(event.picture, event.title).encode("utf-8", "replace")
    name = f"{hashlib.sha256(html).hexdigest()[:12]}.html"  # a page of its own for each graph
    try:
        folder = trusted_folder(cachedir).below("graphs")
        folder.write(name, html)
        pages = [os.path.join(folder.path, file) for file in folder.names()]
        for old in sorted(pages, key=os.path.getmtime)[:-PAGES]:
            folder.remove(os.path.basename(old))
    except OSError:
        return
    event.drawn_in.append(os.path.join(folder.path, name))
