#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a git repository of a task, the same commit each time: sh make_repository.sh NAME FOLDER
set -eu
from=$(cd "$(dirname "$0")/tasks/$1" && pwd)
mkdir "$2"
cp -R "$from/." "$2"
cd "$2"
export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
export GIT_AUTHOR_NAME=benchmark GIT_AUTHOR_EMAIL=benchmark@localhost
export GIT_COMMITTER_NAME=benchmark GIT_COMMITTER_EMAIL=benchmark@localhost
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init --quiet --initial-branch=main
git -c core.autocrlf=false add --force .
git commit --quiet --no-verify --message "The task $1"
