#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes docs/reference anew, from signatures and docstrings, docs/differences-from-salt.md, from its register,
# the tables of docs/coming-from-*.md, from that of other tools' words, and the index that `runner doc WORDS` searches.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
[ -x $python ] || python=python3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/empty"
PYTHONPATH=. $python -c 'from runner.cli import main; main()' doc --reference "$work/reference" \
    --state-tree "$work/empty" --cachedir "$work/empty"
rm -rf docs/reference
cp -r "$work/reference" docs/reference
$python docs/differences.py > docs/differences-from-salt.md
PYTHONPATH=. $python docs/other_tools.py
$python docs/search_index.py > runner/tools/queries/manual_index.txt
