#!/bin/sh
# Makes docs/reference anew, from signatures and docstrings.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
[ -x $python ] || python=python3
empty=$(mktemp -d)
trap 'rm -r "$empty"' EXIT
rm -rf docs/reference
PYTHONPATH=. $python -c 'from runner.cli import main; main()' doc --reference docs/reference --state-tree "$empty" --cachedir "$empty"
