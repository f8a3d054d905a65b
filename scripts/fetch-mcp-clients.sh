#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the MCP clients of other people that `accelopt mcp` is tested with into build/mcp-clients.
exec "$(dirname "$0")/fetch-npm.sh" tests/fakes/mcp build/mcp-clients @modelcontextprotocol/client "the set of tests with other people's MCP clients"
