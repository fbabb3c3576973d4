# SPDX-License-Identifier: Apache-2.0
"""Files that runner itself reads and writes: size limits, who else can write them, folders of its
own.
"""
