# SPDX-License-Identifier: Apache-2.0
"""Archives: what is in them, and how they are unpacked without leaving their folder.

What the archive state uses comes first, then Salt's functions.
"""

from __future__ import annotations

from modules.archive._checksum import keep_sum, kept_sum
from modules.archive._extract import Unpacked, discard, place, shortage, unpack
from modules.archive._members import Member, kind_of, members, strip_of
from modules.archive._salt import gunzip, gzip, is_encrypted, list_, tar, unzip, zip_

__func_alias__ = {"list_": "list", "zip_": "zip"}
