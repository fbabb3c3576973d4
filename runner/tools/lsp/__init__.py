# SPDX-License-Identifier: Apache-2.0
"""The language server: what an editor shows of a tree while it is written.

One way: texts (`documents`) -> a check in a child process (`workers`, `analysis`) -> diagnostics;
texts -> what stands where in them (`outline`) -> answers to requests (`completion`, `hover`,
`navigation`, `renaming`, `actions`, `formatting`). `server` speaks the protocol.
"""
