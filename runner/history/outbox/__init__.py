# SPDX-License-Identifier: Apache-2.0
"""Reports of runs: written into the outbox of this machine, delivered, and collected on a server.

`document` is what a report says, `store` the folder in which reports wait, `delivery` takes them to
their destination by `https`, `ssh`, `local_folder` or `postgresql`; `collecting` brings those that
were delivered as files into PostgreSQL.
"""
