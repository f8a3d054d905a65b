# SPDX-License-Identifier: Apache-2.0
"""An agent that makes a kernel faster with accelopt: it starts a run, follows it to its end and explains the result.

    pip install -r requirements.txt openai
    export OPENAI_API_KEY=...
    python accelopt_agent.py suites/nkibench-cpu/matmul
"""

import asyncio
import os
import shlex
import sys

from agno.agent import Agent
from agno.tools.mcp import MCPTools

INSTRUCTIONS = [
    "You make compute kernels faster with accelopt.",
    "Start a run with `start`, call `status` until `ended` is true, then `result` and `diff`.",
    "Report the confirmed speed-up with its interval, or say plainly that there is no gain.",
    "Explain what the change does in two or three sentences. Never time anything yourself.",
]


def accelopt_tools(folder=".", *arguments):
    """accelopt's MCP server for this folder. A client that gives up after ten seconds is what it is made for."""
    command = shlex.join(["accelopt", "mcp", "--folder", str(folder), *map(str, arguments)])
    return MCPTools(command=command, env=dict(os.environ), timeout_seconds=10)


def make_agent(model, tools):
    return Agent(name="Performance engineer", model=model, tools=[tools], instructions=INSTRUCTIONS, markdown=True)


async def make_faster(task, model, folder=".", *arguments):
    async with accelopt_tools(folder, *arguments) as tools:
        return await make_agent(model, tools).arun(f"Make {task} faster, with the built-in recipes (agents=recipes).")


if __name__ == "__main__":
    from agno.models.openai import OpenAIResponses

    answer = asyncio.run(make_faster(sys.argv[1], OpenAIResponses(id=os.environ.get("MODEL", "gpt-5-mini"))))
    print(answer.content)
