# SPDX-License-Identifier: Apache-2.0
"""`Record`: a typing.NamedTuple that costs a start nothing.

For a type checker it is typing.NamedTuple. That one, and a dataclass, writes the text of methods
for each class and compiles it at every start: 0.2 to 0.5 ms a class, as much for eighty of them as
all the rest of a small run. A Record has its few methods ready, and costs 0.01 ms a class. One that
is made often gets a constructor of its own then, which is twice as fast.
"""

from __future__ import annotations

__all__ = ["Record"]

OFTEN = 10  # from then on a constructor of its own pays: to make it costs so many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from _collections import _tuplegetter as getter  # what namedtuple reads its fields with
    from functools import partial
    from itertools import count
    from types import FunctionType

    _new = tuple.__new__
    # what reads a field, by its place: the same for all classes, as it knows no more than that
    _GETTERS = [getter(place, f"Field {place}") for place in range(24)]

    # Constructors of one field, two, ...: a class gets a copy of that of its number, with its own
    # names; one of more fields has none. To compile a text would cost as much as 200 calls.
    _SHAPES = (
        lambda _, a: _new(_, (a,)),
        lambda _, a, b: _new(_, (a, b)),
        lambda _, a, b, c: _new(_, (a, b, c)),
        lambda _, a, b, c, d: _new(_, (a, b, c, d)),
        lambda _, a, b, c, d, e: _new(_, (a, b, c, d, e)),
        lambda _, a, b, c, d, e, f: _new(_, (a, b, c, d, e, f)),
        lambda _, a, b, c, d, e, f, g: _new(_, (a, b, c, d, e, f, g)),
        lambda _, a, b, c, d, e, f, g, h: _new(_, (a, b, c, d, e, f, g, h)),
        lambda _, a, b, c, d, e, f, g, h, i: _new(_, (a, b, c, d, e, f, g, h, i)),
        lambda _, a, b, c, d, e, f, g, h, i, j: _new(_, (a, b, c, d, e, f, g, h, i, j)),
        lambda _, a, b, c, d, e, f, g, h, i, j, k: _new(_, (a, b, c, d, e, f, g, h, i, j, k)),
    )

    class _Maker(type):
        """Makes the annotations of a Record's body its fields, in their order; what they are set to
        its defaults.
        """

        def __new__(maker, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            if fields:
                defaults = [body[field] for field in fields if field in body]
                body["_fields"] = body["__match_args__"] = fields
                body["__places__"] = dict(zip(fields, count(), strict=False))
                body["__needed__"] = fields[: len(fields) - len(defaults)]
                body["__blank__"] = (None,) * len(body["__needed__"]) + (*defaults,)
                body["__times__"] = count(1)
                body["__often__"] = OFTEN if len(fields) <= len(_SHAPES) else 0
                body["__new__"] = maker.first
                while len(_GETTERS) < len(fields):
                    _GETTERS.append(getter(len(_GETTERS), f"Field {len(_GETTERS)}"))
                body.update(zip(fields, _GETTERS, strict=False))
            body["__slots__"] = ()
            made = super().__new__(maker, name, bases, body)
            # of a row of all values, unchecked: what hot loops take
            made._make = staticmethod(partial(_new, made))
            return made

        def first(cls, *values, **named):
            """Make one of a class that has no constructor of its own yet."""
            if next(cls.__times__) == cls.__often__:
                cls.__new__ = cls.__copied__()
            if not named and len(cls.__needed__) <= len(values) <= len(cls._fields):
                return _new(cls, values + cls.__blank__[len(values) :])
            if not values and (*named,) == cls._fields:
                return _new(cls, named.values())
            given, lacking = len(values), cls.__needed__[len(values) :]
            if given > len(cls._fields) or (lacking and not named.keys() >= {*lacking}):
                raise TypeError(
                    f"{cls.__name__} needs {', '.join(cls.__needed__)} of {', '.join(cls._fields)}"
                )
            values += cls.__blank__[given:]
            return cls.__with__(values, named, given) if named else _new(cls, values)

        def __copied__(cls):
            """A constructor with these fields as its parameters."""
            code = _SHAPES[len(cls._fields) - 1].__code__
            code = code.replace(co_varnames=("_class", *cls._fields))
            constructor = FunctionType(code, globals())
            constructor.__qualname__ = cls.__qualname__  # of messages
            constructor.__defaults__ = cls.__blank__[len(cls.__needed__) :]
            return constructor

    class Record(tuple, metaclass=_Maker):
        """Named values that do not change; the body of the class names them, as that of a
        typing.NamedTuple does.
        """

        _fields, __places__, __needed__, __blank__ = (), {}, (), ()
        __times__, __often__ = count(1), 0
        __new__ = _Maker.first

        @classmethod
        def __with__(cls, values, named, given=0):
            """Some values with others of these names in their places, none of them among the first
            that are given.
            """
            row = [*values]
            for name, value in named.items():
                place = cls.__places__.get(name, -1)
                if place < given:
                    raise TypeError(
                        f"{cls.__name__}: {name} is not a field, or given twice:"
                        f" {', '.join(cls._fields)}"
                    )
                row[place] = value
            return _new(cls, row)

        def _replace(self, **named):
            """A copy with other values for some fields."""
            row, places = [*self], self.__places__
            try:
                for name, value in named.items():
                    row[places[name]] = value
            except KeyError:
                return self.__with__(self, named)  # which says what is wrong
            return _new(type(self), row)

        def _asdict(self):
            """The values by their names."""
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"
