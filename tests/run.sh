#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs runner with its test tools into .venv, then ruff, mypy and the fast part of the tests, which
# says what it leaves out. Further words go to pytest: `--rest` for what the fast part leaves out
# (without ruff and mypy), `--all` for everything.
set -eu
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE # each process of pytest would compile all tests anew
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]'
case " $* " in
*" --rest "*) exec .venv/bin/pytest "$@" ;;
*" --all "*) shift ;;
*) set -- --fast -n 2 "$@" ;;
esac
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy >.venv/mypy.txt 2>&1 & # beside the tests, which often wait
failed=0
.venv/bin/pytest "$@" || failed=$?
wait $! || failed=$?
cat .venv/mypy.txt
exit $failed
