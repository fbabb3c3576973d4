# SPDX-License-Identifier: Apache-2.0
"""How values of XML files are tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laws import Scenario, scenario

TEXT = """<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE app SYSTEM "app.dtd">
<n:app xmlns:n="urn:app"  note="a > b">
  <port id='1' >80<!-- web --></port>
  <empty/>
  <data><![CDATA[x < y]]></data>
</n:app>
"""
BOMB = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a><port>&c;</port></a>'


def on(xpath: str, value: str, text: str = TEXT, **given: Any) -> Scenario:
    def setup(folder: Path) -> None:
        (folder / "app.xml").write_text(text)

    usual = {"name": "{tmp}/app.xml", "xpath": xpath, "value": value}
    return scenario("xml.value_present", setup, **usual, **given)


SCENARIOS = [
    on("port[@id='1']", "90"),
    on("port", "80", plans=False),
    on("empty", "é € & <x>"),
    on("data", "]]>"),
    on("data", "x < y", plans=False),
    on("empty", "", plans=False),
    on("nowhere", "1", fails="xpath query nowhere not found"),
    on("a[[(", "1", fails="is no xpath that ElementTree understands"),
    on("port", "\x01", fails="a control character, which XML cannot hold"),
    on("port", "1", fails="declares the entity b", text=BOMB),
    on("port", "1", fails="is not XML", text="port = 80"),
    on("port", "1", fails="has more than 1000 levels", text="<a>" * 2000 + "</a>" * 2000),
]
