# SPDX-License-Identifier: Apache-2.0
"""salt.serializers.X: `serialize` and `deserialize` of one form of data."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from runner.api import here
from runner.language.salt.exceptions import SaltException
from runner.language.salt.utils import json, yaml

KINDS = ("configparser", "json", "toml", "tomlmod", "yaml", "yamlex")


class SerializationError(SaltException, RuntimeError):
    """A value that the form cannot hold."""


class DeserializationError(SaltException, RuntimeError):
    """A text that is none of this form."""


def of(kind: str) -> ModuleType:
    """The module of one form."""
    name = kind.removesuffix("mod")

    def serialize(obj: Any, **options: Any) -> Any:
        try:
            if name in ("yaml", "yamlex"):
                return yaml.safe_dump(obj, **{"default_flow_style": True, **options}).rstrip("\n")
            if name == "json":
                return json.dumps(obj, **options)
            return here.call("slsutil.serialize", name, obj, **options)
        except (TypeError, ValueError, yaml.YAMLError) as error:
            raise SerializationError(error) from None

    def deserialize(stream_or_string: Any, **options: Any) -> Any:
        text = stream_or_string.read() if hasattr(stream_or_string, "read") else stream_or_string
        text = text.decode() if isinstance(text, bytes) else text
        try:
            if name == "yaml":
                return yaml.safe_load(text)
            if name == "json":
                return json.loads(text, **options)
            return here.call("slsutil.deserialize", name, text, **options)
        except (ValueError, yaml.YAMLError) as error:
            raise DeserializationError(error) from None

    module = ModuleType(f"salt.serializers.{kind}", f"Data as {name}.")
    module.__dict__.update(serialize=serialize, deserialize=deserialize, available=True)
    return module
