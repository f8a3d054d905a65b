#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches what pages are checked with (validators, axe, and what drives Debian's Chromium) into build/page-checks.
exec "$(dirname "$0")/fetch-npm.sh" tests/fakes/browser build/page-checks playwright-core "the set of tests of pages in a browser"
