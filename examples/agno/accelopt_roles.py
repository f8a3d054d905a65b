# SPDX-License-Identifier: Apache-2.0
"""Agents of Agno play accelopt's roles: planner, executor, fixer and summarizer are one agent each. accelopt verifies, measures
and confirms what they write, and needs no key of its own.

    python accelopt_roles.py my_task
"""

import asyncio
import os
import sys

from agno.agent import Agent

from accelopt_agent import accelopt_tools

ROLES = ("planner", "executor", "fixer", "summarizer")


def make_agents(model):
    return {role: Agent(name=role, model=model, instructions=["Answer in exactly the form that the prompt asks for."]) for role in ROLES}


async def call(tools, name, **arguments):
    """The structured result of one of accelopt's tools."""
    reply = await tools.session.call_tool(name, arguments, raise_on_error=False)
    if reply.is_error:
        raise RuntimeError(reply.content[0].text)
    return reply.structured_content


async def play(task, agents, folder=".", *arguments, **settings):
    """The result of a run whose questions the agents answered."""
    async with accelopt_tools(folder, *arguments) as tools:
        run = (await call(tools, "start", task=task, agents="client", **settings))["run"]
        while not (asked := await call(tools, "next_question", run=run))["ended"]:
            if question := asked["question"]:
                answer = await agents[question["role"]].arun(question["prompt"])
                await call(tools, "answer", run=run, question=question["id"], text=answer.content or "skip")
        return await call(tools, "result", run=run)


if __name__ == "__main__":
    from agno.models.openai import OpenAIResponses

    result = asyncio.run(play(sys.argv[1], make_agents(OpenAIResponses(id=os.environ.get("MODEL", "gpt-5-mini")))))
    print(result["outcome"], result["speedup"])
