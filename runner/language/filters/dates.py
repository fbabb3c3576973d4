# SPDX-License-Identifier: Apache-2.0
"""The filter strftime, and the ways to write a moment that it understands."""

from __future__ import annotations

import email.utils
import re
from datetime import datetime, timedelta
from typing import Any

# what people write beside ISO 8601
_DAYS = (
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m/%d/%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d %Y",
    "%B %d %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%Y-%m",
    "%b %Y",
    "%B %Y",
)
_TIMES = ("%H:%M:%S", "%H:%M", "%I:%M:%S%p", "%I:%M%p", "%I%p", "%I:%M %p", "%I %p")
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = r"(second|sec|minute|min|hour|day|week|fortnight|month|year)s?"
_RELATIVE = re.compile(rf"(?<![\w:.-])([+-]?)\s*(\d+|next|last|this)\s*{_UNITS}(\s+ago)?\b", re.I)
_NAMED = re.compile(rf"^(?:(next|last|this)\s+)?({'|'.join(_WEEK)})$", re.I)


def strftime(date: Any = None, format: str = "%Y-%m-%d") -> str:
    """A date (now without one; seconds since 1970; a text: `2026-11-21 10:00`, `tomorrow`, `+2
    weeks`) in a form.
    """
    if date is None:
        moment = datetime.now()
    elif isinstance(date, int | float):
        moment = datetime.fromtimestamp(date)
    elif hasattr(date, "strftime"):
        moment = date
    else:
        moment = _moment(str(date).strip())
    return str(moment.strftime(format))


def _moment(text: str) -> datetime:
    digits = text.removeprefix("@")
    if digits.isdigit() and (text != digits or len(digits) not in (4, 8)):
        return datetime.fromtimestamp(int(digits))
    moment = _absolute(text) or _relative(text)
    if moment is None and re.fullmatch(r"\d+\.\d+", text):
        return datetime.fromtimestamp(float(text))
    if moment is None:
        raise ValueError(
            f"{text!r} is not a known form of a date; write 2026-11-21 or 2026-11-21 05:47:00"
        )
    return moment


def _absolute(text: str) -> datetime | None:
    now = datetime.now()
    if text.isdigit() and len(text) == 4:
        return _read(text, "%H%M", now)
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        pass
    for form in _TIMES:
        if moment := _read(text, form, now):
            return moment
    for day in _DAYS:
        for form in (day, *(f"{day} {time}" for time in _TIMES)):
            if moment := _read(text, form):
                return moment
    return _mail(text)


def _read(text: str, form: str, day: datetime | None = None) -> datetime | None:
    try:
        moment = datetime.strptime(text, form)
    except ValueError:
        return None
    return moment.replace(year=day.year, month=day.month, day=day.day) if day else moment


def _mail(text: str) -> datetime | None:
    """A date as the headers of a mail write it."""
    if not re.match(r"(\w{3}, )?\d{1,2} \w{3} \d{4} ", text):
        return None
    parts = email.utils.parsedate(text)
    return datetime(*parts[:6]) if parts else None


def _relative(text: str) -> datetime | None:
    steps = _RELATIVE.findall(text)
    rest = _RELATIVE.sub("", text).strip()
    start = _start(rest) if rest else datetime.now()
    for sign, count, unit, ago in steps:
        if start is not None:
            amount = (
                {"next": 1, "last": -1, "this": 0}.get(count.lower())
                if not count.isdigit()
                else int(count)
            )
            back = (sign == "-") != bool(ago)
            start = _moved(start, -(amount or 0) if back else amount or 0, unit.lower())
    return start if steps or rest else None


def _start(word: str) -> datetime | None:
    today = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    known = {
        "now": datetime.now(),
        "today": today,
        "midnight": today,
        "noon": today + timedelta(hours=12),
    }
    known |= {"tomorrow": today + timedelta(days=1), "yesterday": today - timedelta(days=1)}
    if word.lower() in known:
        return known[word.lower()]
    named = _NAMED.match(word)
    if named is None:
        return _absolute(word)
    away = (_WEEK.index(named[2].lower()) - today.weekday()) % 7
    if (named[1] or "").lower() == "last":
        return today + timedelta(days=away - 7)
    return today + timedelta(days=away or (7 if named[1] else 0))


def _moved(start: datetime, amount: int, unit: str) -> datetime:
    if unit in ("month", "year"):
        months = start.year * 12 + start.month - 1 + amount * (12 if unit == "year" else 1)
        return start.replace(year=months // 12, month=months % 12 + 1, day=1) + timedelta(
            days=start.day - 1
        )
    seconds = {
        "sec": 1,
        "second": 1,
        "min": 60,
        "minute": 60,
        "hour": 3600,
        "day": 86400,
        "week": 604800,
    }
    return start + timedelta(seconds=amount * seconds.get(unit, 1209600))
