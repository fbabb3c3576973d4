# SPDX-License-Identifier: Apache-2.0
"""What the conditions of a version mean, of packages and of pip's requirements."""

from __future__ import annotations

import pytest

from modules import pkg
from modules.pkg.rpm import packages as rpm
from states.languages._requirements import met
from states.pkg._selection import fits


@pytest.mark.parametrize(
    ("present", "want", "expected"),
    [
        ("1.2.5", "1.2*", True),
        ("1.3", "1.2*", False),
        ("1.3", "!=1.2*", True),
        ("1.2.5", "!=1.2*", False),
        ("1.3", ">=1.2*", True),
        ("1.2.5", ">=1.2*", True),
        ("1.1", ">=1.2*", False),
        ("1.2", ">=1.2.*", False),
        ("1.2.5", ">1.2*", False),
        ("1.1", "<1.2*", True),
        ("1.0,2.0", ">=1.5,<3", True),
        ("1.0,2.0", ">=1.0,<1.0", False),
        (None, "", False),
    ],
)
def test_an_installed_version_meets_conditions(
    monkeypatch: pytest.MonkeyPatch, present: str | None, want: str, expected: bool
) -> None:
    monkeypatch.setattr(pkg, "provider", lambda: rpm)
    assert fits(present, want) is expected


@pytest.mark.parametrize(
    ("want", "expected"),
    [
        ("app", True),
        ("app==1.2.*", True),
        ("app!=1.2.*", False),
        ("app!=1.3.*", True),
        ("app==1.2.5", True),
        ("app===1.2.5", True),
        ("app~=1.2.1", True),
        ("app~=1.3.0", False),
        ("app>=1.2,<1.3", True),
        ("app>1.2.5", False),
        ("other", False),
    ],
)
def test_a_requirement_of_pip_is_met(want: str, expected: bool) -> None:
    assert met(want, {"App": "1.2.5"}) is expected
