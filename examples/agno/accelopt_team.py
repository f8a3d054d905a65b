# SPDX-License-Identifier: Apache-2.0
"""A team: a performance engineer, who works with accelopt, beside a reviewer, who reads the change before anybody applies it.

    python accelopt_team.py suites/nkibench-cpu/matmul
"""

import asyncio
import os
import sys

from agno.agent import Agent
from agno.team import Team

from accelopt_agent import accelopt_tools, make_agent


def make_team(model, tools):
    reviewer = Agent(name="Reviewer", role="Reads a diff of a kernel", model=model,
                     instructions=["Say what the change does, and what a maintainer should look at. Do not speculate about speed."])
    engineer = make_agent(model, tools)
    engineer.role = "Makes kernels faster with accelopt"
    return Team(name="Kernels", members=[engineer, reviewer], model=model,
                instructions=["Have the performance engineer make the kernel faster, then have the reviewer read the diff.",
                              "Report the confirmed interval and the review."])


async def main(task):
    from agno.models.openai import OpenAIResponses

    async with accelopt_tools() as tools:
        team = make_team(OpenAIResponses(id=os.environ.get("MODEL", "gpt-5-mini")), tools)
        print((await team.arun(f"Make {task} faster.")).content)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
