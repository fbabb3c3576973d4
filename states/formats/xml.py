# SPDX-License-Identifier: Apache-2.0
"""Values in XML files."""

from __future__ import annotations

from modules import file
from modules.formats import xml
from runner.api import FilePath, Line, Plan, Planned, StateFailed
from runner.api.claims import edits
from runner.api.kinds import comes_after

DECIDES = {"value_present": "value"}
TOLD_APART_BY = "xpath"
owns = edits()


@file.validated
def value_present(name: FilePath, xpath: Line, value: str) -> Planned:
    """Make sure that an element of an XML file has a value.

    name: The file.
    xpath: Finds the element, as far as Python's ElementTree understands it; the first one counts.
    value: The text of the element.

        /etc/app/server.xml:
          xml.value_present:
            - xpath: .//connector[@id='web']/port
            - value: 8080

    Behaviour: Salt 3008's xml.value_present; the rest of the file stays as it is written, and an
    element may be empty.
    """
    if not file.is_file(name):
        raise StateFailed(f"{name} is not there", missing=("file", name))
    current = xml.get_value(name, xpath)
    if current is False:
        raise StateFailed(f"xpath query {xpath} not found in {name}", missing=("file", name))
    if current == value:
        return f"{name} is already present"
    new = xml.with_value(name, xpath, value)
    file.refuse_rewrite(file.real_path(name))
    yield Plan({name: {"old": current, "new": value}}, f"{name} will be updated")
    file.write(name, new)
    return f"{name} updated"


autorequire = comes_after("A value comes after its file.", name="file")
