#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build, the tests and the demo need on Debian 12. Does nothing when all of it is there.
#
#   scripts/install-deps.sh            everything (build, tests, checks)
#   scripts/install-deps.sh --build    what `make build` and `make demo` need, and no more
#   scripts/install-deps.sh --services everything, and servers that Debian starts when it installs them
set -euo pipefail

build=(
  g++ gcc cmake ninja-build make git ca-certificates python3
  libcurl4-openssl-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libsqlite3-dev libexpected-dev libseccomp-dev libssl-dev libxxhash-dev
  libclang1-19 libclang-19-dev libtree-sitter-dev
)
checks=(libgtest-dev libgmock-dev libbenchmark-dev clang-tidy clang-format clang lld libclang-rt-14-dev ccache curl python3-venv chromium openssh-client
        python3-yaml python3-jsonschema)
# For the tests against the SurrealDB engine, which are skipped where they are not to be had.
surreal=(nodejs npm)
# For the tests over a real ssh and under a real Slurm, which are skipped without. On a machine with systemd Debian starts these as
# services, an ssh server for the whole network among them, so there they are installed only where that is asked for.
services=(openssh-server slurm-wlm munge)

want=("${build[@]}")
if [ "${1:-}" != "--build" ]; then
  want+=("${checks[@]}")
  # Node from elsewhere serves as well.
  command -v node >/dev/null && command -v npm >/dev/null || want+=("${surreal[@]}")
  { [ "${1:-}" = "--services" ] || [ ! -d /run/systemd/system ]; } && want+=("${services[@]}")
fi

missing=()
for package in "${want[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps: these packages are missing and only root can install them: ${missing[*]}" >&2
    echo "install-deps: run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
