#!/usr/bin/env bash
# Installs surefoot into an environment of its own, so that nothing of the workflow's changes.
# SUREFOOT_VERSION: a version on PyPI; empty for the one that this action belongs to.
set -euo pipefail
exec 2>&1 # one stream, so that every line comes before the end of the part below

# The checkout may be a stranger's: a venv.py, pip.py or json.py in it must not be run. So Python is isolated (-I), the
# folder is an empty one, and what pip starts has no path to other modules.
environment="$RUNNER_TEMP/surefoot-action"
folder="$(mktemp -d "$RUNNER_TEMP/surefoot-install.XXXXXX")"
cd "$folder"
unset PYTHONPATH

# Nothing that a program prints here is a command to GitHub, until the token is printed again.
token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
echo "::stop-commands::$token"
trap 'echo "::$token::"' EXIT

here="$(command -v python3 || command -v python)"
"$here" -I -m venv "$environment"
python="$environment/bin/python"
[ -x "$python" ] || python="$environment/Scripts/python.exe"

if [ -n "${SUREFOOT_VERSION:-}" ]; then
  what="surefoot==$SUREFOOT_VERSION"
else
  what="$GITHUB_ACTION_PATH"
fi
"$python" -I -m pip install --quiet --disable-pip-version-check -- "$what"
echo "python=$python" >>"$GITHUB_OUTPUT"
