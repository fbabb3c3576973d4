# SPDX-License-Identifier: Apache-2.0
"""Apache's modules that are enabled."""

from __future__ import annotations

from states.web._resources._apache import enabled

resources = enabled("mod", "apache_module.enabled")
