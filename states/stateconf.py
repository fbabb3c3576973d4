# SPDX-License-Identifier: Apache-2.0
"""States that carry the parameters of an SLS written for the stateconf renderer; they do nothing
themselves.
"""

from __future__ import annotations

from typing import Any

from runner.api import Done


def set(name: str, **parameters: Any) -> str | Done:
    """Parameters of an SLS, which an SLS that includes it may extend.

    Any other argument is what the SLS finds in the variable that is named like the ID.

    name: The ID.

        #!stateconf
        .params:
          stateconf.set:
            - port: 80
        # --- end of state config ---
        .conf:
          file.managed:
            - name: /tmp/port
            - contents: {{ params.port }}
    """
    return ""


def context(name: str, **parameters: Any) -> str | Done:
    """The same under another name.

    Any other argument is what the SLS finds in the variable that is named like the ID.

    name: The ID.

        .params:
          stateconf.context:
            - port: 80
    """
    return ""
