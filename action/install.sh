#!/usr/bin/env bash
# Installs surefoot into an environment of its own, so that nothing of the workflow's changes.
# SUREFOOT_VERSION: a version on PyPI; empty for the one that this action belongs to.
set -euo pipefail

environment="$RUNNER_TEMP/surefoot-action"
here="$(command -v python3 || command -v python)"
"$here" -m venv "$environment"
python="$environment/bin/python"
[ -x "$python" ] || python="$environment/Scripts/python.exe"

if [ -n "${SUREFOOT_VERSION:-}" ]; then
  what="surefoot==$SUREFOOT_VERSION"
else
  what="$GITHUB_ACTION_PATH"
fi
"$python" -m pip install --quiet --disable-pip-version-check -- "$what"
echo "python=$python" >>"$GITHUB_OUTPUT"
