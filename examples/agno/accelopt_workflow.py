# SPDX-License-Identifier: Apache-2.0
"""A workflow: start a run, look at its status until it has ended, and, only if a gain was confirmed, show the change to a person and
write it with their consent. No model decides anything here.

    python accelopt_workflow.py suites/nkibench-cpu/matmul
"""

import asyncio
import sys

from agno.workflow import Condition, Loop, Step, StepOutput, Workflow

from accelopt_agent import accelopt_tools
from accelopt_roles import call


def make_workflow(tools, task, consent, folder="faster", **settings):
    """`consent`: shown the diff, says whether the winner is to be written into `folder`."""
    state = {}

    async def start(step_input):
        state.update(await call(tools, "start", task=task, **settings))
        return StepOutput(content=f"run {state['run']}")

    async def look(step_input):
        state["status"] = await call(tools, "status", run=state["run"])
        return StepOutput(content=state["status"]["status"])

    async def result(step_input):
        state["result"] = await call(tools, "result", run=state["run"])
        return StepOutput(content=state["result"]["outcome"])

    async def review(step_input):
        state["diff"] = (await call(tools, "diff", run=state["run"]))["diff"]
        if not consent(state["diff"]):
            return StepOutput(content="the change was declined")
        out = await call(tools, "best", run=state["run"], folder=folder)
        while out["state"] == "running":
            out = await call(tools, "best", job=out["job"])
        return StepOutput(content=out["text"])

    return Workflow(name="Make a kernel faster", steps=[
        Step(name="start", executor=start),
        Loop(name="follow", steps=[Step(name="status", executor=look)], max_iterations=100_000,
             end_condition=lambda outputs: state["status"]["ended"]),
        Step(name="result", executor=result),
        Condition(name="confirmed?", evaluator=lambda step_input: state["result"]["outcome"] == "improved",
                  steps=[Step(name="review", executor=review)]),
    ])


async def main(task):
    async with accelopt_tools() as tools:
        workflow = make_workflow(tools, task, lambda diff: input(diff + "\nWrite it? [y/N] ") == "y")
        print((await workflow.arun(f"Make {task} faster")).content)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
