#!/bin/sh
# Installs runner into .venv and applies the example tree below ./scratch, twice: the second time nothing is left to do.
# Needs python3 with its venv module; no root.
set -eu
cd "$(dirname "$0")/.."
echo "== runner is installed into .venv (pip may take a minute)"
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check .
scratch=$PWD/scratch
apply() {
    .venv/bin/runner highstate --config sls_examples/runner.yaml --cachedir "$scratch/runner" \
        --pillar "{\"scratch\": \"$scratch\"}" "$@"
}
echo "== what would be done (nothing is changed)"
apply --test
echo "== the first run"
apply
echo "== the second run: nothing is left to do"
apply --detailed-exitcodes
