# SPDX-License-Identifier: Apache-2.0
"""Rehearsals: the real run on a copy of this machine that is thrown away afterwards.

`sandbox` is the copy, seen from outside; `holder` is the process that makes and holds it, with
`namespaces` (system calls) and `file_systems` (what the copy sees). `observation` finds what a run
really changed, `comparison` where a dry run had said otherwise.

`image` makes the tree below a folder the machine of this process (`--root`), `python_of_host` keeps
this Python usable in it.
"""
