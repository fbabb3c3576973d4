# SPDX-License-Identifier: Apache-2.0
"""Apache's sites that are enabled."""

from __future__ import annotations

from states.web._resources._apache import enabled

resources = enabled("site", "apache_site.enabled")
