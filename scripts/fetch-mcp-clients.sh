#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches what other people have written to use and to check MCP servers, for tests of `accelopt mcp`: clients into
# build/mcp-clients, and the conformance suite and the inspector, with the Node that they need, into build/mcp-tools.
cd "$(dirname "$0")" || exit 0
./fetch-npm.sh tests/fakes/mcp build/mcp-clients @modelcontextprotocol/ext-tasks "the set of tests with other people's MCP clients"
./fetch-npm.sh tests/fakes/mcp_tools build/mcp-tools @modelcontextprotocol/inspector "the set of tests with MCP's conformance suite and inspector"
