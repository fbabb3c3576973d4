# SPDX-License-Identifier: Apache-2.0
"""Saved plans: what a dry run has shown, in a file that is reviewed and then applied.

A plan keeps what the dry run showed, without secrets, and beside it keyed hashes of what it was
made from: each argument, each change, what was there before. Who applies it compiles the same tree
again, plans again, and compares; so the file needs no secret, and gives nobody one to guess.
"""
