#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Passes the fast part of the tests with each Python from 3.11 on that this machine has (pyenv's, too),
# or with those that are named: tests/pythons.sh [python3.14 ...]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- python3.11 python3.12 python3.13 python3.14 python3.15 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python3.[1-9][1-9]
status=0
done=
for python; do
    version=$("$python" --version 2>/dev/null) || continue
    case $done in *"$version;"*) continue ;; esac
    done="$done$version;"
    echo "== $version"
    environment=build/${python##*/}
    [ -x "$environment/bin/pip" ] || "$python" -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --editable '.[dev]'
    "$environment/bin/pytest" -q -p no:cacheprovider -n 2 --fast || status=1
done
exit $status
