#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the SurrealDB engine that the tests of the knowledge store run against into build/surreal.
exec "$(dirname "$0")/fetch-npm.sh" tests/fakes/surreal build/surreal @surrealdb/node "the set of tests against SurrealDB"
