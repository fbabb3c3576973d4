# SPDX-License-Identifier: Apache-2.0
"""The language of the trees: SLS files and their templates, targets, pillar, grains, arguments."""
