# SPDX-License-Identifier: Apache-2.0
"""Errors of the rendering of templates, explained with places."""
