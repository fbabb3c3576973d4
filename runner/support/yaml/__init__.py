# SPDX-License-Identifier: Apache-2.0
"""YAML as Salt reads it, with places; its limits, and what was probably meant by a mistake."""
