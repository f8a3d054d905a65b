#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a git repository of an example folder: sh make_repository.sh routes FOLDER
set -eu
from=$(cd "$(dirname "$0")/$1" && pwd)
mkdir "$2"
cp -R "$from/." "$2"
cd "$2"
export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
export GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@localhost GIT_COMMITTER_NAME=example GIT_COMMITTER_EMAIL=example@localhost
export GIT_CONFIG_GLOBAL=/dev/null
git init --quiet --initial-branch=main
git add .
git commit --quiet --message "The example $1"
