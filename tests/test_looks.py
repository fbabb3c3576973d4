# SPDX-License-Identifier: Apache-2.0
"""The check of looks (tests/support/looks.py), which tests/test_architecture.py makes of all files,
sees what it is to see.
"""

from __future__ import annotations

import pytest
from looks import unmarked


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.path.exists('/x')",
        "import os\nlist(filter(os.path.isdir, ['/x']))",
        "from os.path import exists as there\n",
        "from os import stat\n",
        "def lazy():\n    import glob as _glob\n    return _glob.glob('*')",
        "import shutil\nshutil.which('x')",
        "with open('/x') as file: pass",
        "from pathlib import Path\n",
        "from runner.api import here\nhere.tree.fetch('/x', 'base')",
        "import os\nos.path.exists('/proc/x')  # os: the kernel's",
        "import pwd\npwd.getpwnam('root')",
        "import os\nos.path.join('/x')  # os: no reason",
        "# os in this file: it is the view\n",
    ],
)
def test_the_test_of_looks_sees_it(text: str) -> None:
    assert unmarked(text)


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.path.exists('/proc/x')\nopen(f'/sys/{x}')\nopen(copy, 'xb')",
        "import os\nos.path.exists('/cache/x')  # os: the cache",
        "import os\nos.path.join('/x')",
        "# os in this file: it is the view\nimport os\nos.stat('/')",
        "from modules import _paths\n_paths.open_text('/x')",
        "import os\nos.path.exists(  # os: a cache\n    '/x'\n)",
    ],
)
def test_the_test_of_looks_leaves_what_is_marked(text: str) -> None:
    assert unmarked(text) == []
