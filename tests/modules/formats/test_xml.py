# SPDX-License-Identifier: Apache-2.0
"""XML files: only what is set changes, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HarnessHere

from modules.formats import xml
from runner.api import StateFailed, changes_allowed, running

TEXT = """<?xml version="1.0" encoding="{encoding}"?>\r
<!-- keep <port> -->
<n:app xmlns:n="urn:app"  note="a > b">
  <port  id='1' >80<!-- web -->81</port>
  <empty a="1"
     />
  <n:parent>
     <child>ä</child>tail
  </n:parent>
</n:app>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "utf-16"])
def test_the_rest_of_a_file_stays(tmp_path: Path, encoding: str) -> None:
    text = TEXT.format(encoding=encoding.removesuffix("-sig"))
    path = tmp_path / "app.xml"
    path.write_bytes(text.encode(encoding))
    with running(HarnessHere()), changes_allowed():
        assert xml.get_value(str(path), "port") == "8081"
        assert xml.set_value(str(path), "port", "<90>")
        assert xml.set_value(str(path), "empty", "ö")
        assert xml.set_value(str(path), "{urn:app}parent/child", "2\r")
        assert xml.set_attribute(str(path), "port", "id", 'a"b')
        assert xml.set_attribute(str(path), "port", "new", "a\nb")
        assert not xml.set_attribute(str(path), "nowhere", "a", "b")
        assert xml.get_attribute(str(path), "port") == {"id": 'a"b', "new": "a\nb"}
        for xpath, value in (("port", "<90>"), ("empty", "ö"), ("{urn:app}parent/child", "2\r")):
            assert xml.get_value(str(path), xpath) == value
        for key in ("not:declared", "a b"):
            with pytest.raises(StateFailed):
                xml.set_attribute(str(path), "port", key, "x")
    expected = (
        text.replace("80<!-- web -->81", "&lt;90&gt;<!-- web -->")
        .replace('<empty a="1"\n     />', '<empty a="1">ö</empty>')
        .replace(">ä<", ">2&#13;<")
        .replace("id='1' >", 'id="a&quot;b" new="a&#10;b" >')
    )
    assert path.read_bytes() == expected.encode(encoding)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    for declared in (
        "<!ENTITY a 'x'>",
        "<!ENTITY a SYSTEM 'file:///etc/hostname'>",
        "<!ENTITY % a SYSTEM 'file:///etc/hostname'> %a;",
    ):
        path.write_text(f"<!DOCTYPE r [{declared}]><r>&a;</r>")
        with running(HarnessHere()), pytest.raises(StateFailed, match="declares the entity a"):
            xml.get_value(str(path), ".")
