# SPDX-License-Identifier: Apache-2.0
"""What test_agno.py runs with the Python that has Agno: one example of examples/agno, with a scripted model. Prints a line of JSON.

    agno_examples.py EXAMPLE TASK FOLDER WORKSPACE
"""

import asyncio
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples" / "agno"), str(ROOT / "tests" / "blackbox")]

import chat_script  # noqa: E402
from agno_model import ScriptedModel  # noqa: E402

EXAMPLE, TASK, FOLDER, WORKSPACE = sys.argv[1:]
PLACE = ("--workspace", WORKSPACE)
SETTINGS = {"iterations": 1, "plans": 1, "attempts": 1, "patience": 0}


def last_tool(messages):
    """Name and text of the newest result of a tool."""
    for message in reversed(messages):
        if message.role == "tool":
            return message.tool_name, str(message.content)
    return None, ""


def engineer(messages):
    """start, status until it has ended, result, diff, a report."""
    tool, text = last_tool(messages)
    run = re.search(r"\d{8}-\d{6}-[0-9a-f]{6}", " ".join(str(m.content) for m in messages if m.role == "tool"))
    if tool is None:
        return [("start", {"task": TASK, "agents": "recipes", "iterations": 1, "max_evaluations": 3})]
    if tool == "start" or (tool == "status" and "call status again" in text):
        return [("status", {"run": run.group()})]
    if tool == "status":
        return [("result", {"run": run.group()})]
    if tool == "result":
        engineer.result = text
        return [("diff", {"run": run.group()})]
    return "RESULT " + engineer.result + "\nDIFF " + text


def role(messages):
    asked = str(messages[-1].content)
    if "You are the planner" in asked:
        return chat_script.plan("Exchange the two inner loops")
    return chat_script.steady_kernel("speed=3") if "You are the executor" in asked else "skip"


def team(messages):
    """The leader hands the task to the engineer, the diff to the reviewer, and reports."""
    system = str(messages[0].content)
    leads = "Have the performance engineer" in system
    if not leads and "Say what the change does" in system:
        return "REVIEWED"
    if not leads:
        return engineer(messages)
    handed = [m for m in messages if m.role == "tool"]
    if not handed:
        return [("delegate_task_to_member", {"member_id": "performance-engineer", "task": "make it faster"})]
    if len(handed) == 1:
        return [("delegate_task_to_member", {"member_id": "reviewer", "task": "review: " + str(handed[0].content)})]
    return "\n".join(str(m.content) for m in handed)


async def main():
    if EXAMPLE == "agent":
        import accelopt_agent
        return (await accelopt_agent.make_faster(TASK, ScriptedModel(answer=engineer), FOLDER, *PLACE)).content
    if EXAMPLE == "roles":
        import accelopt_roles
        return await accelopt_roles.play(TASK, accelopt_roles.make_agents(ScriptedModel(answer=role)), FOLDER, *PLACE, **SETTINGS)
    if EXAMPLE == "team":
        import accelopt_team
        async with accelopt_team.accelopt_tools(FOLDER, *PLACE) as tools:
            return (await accelopt_team.make_team(ScriptedModel(answer=team), tools).arun("Make it faster.")).content
    if EXAMPLE == "workflow":
        import accelopt_workflow
        async with accelopt_workflow.accelopt_tools(FOLDER, *PLACE) as tools:
            workflow = accelopt_workflow.make_workflow(tools, TASK, lambda diff: "+++ b/" in diff, folder="won", agents="recipes",
                                                       iterations=1, max_evaluations=3)
            return str((await workflow.arun("go")).content)
    import accelopt_toolkit
    tools = accelopt_toolkit.AcceloptTools(WORKSPACE)

    def user(messages):
        tool, text = last_tool(messages)
        if tool is None:
            return [("run", {"task": f"{FOLDER}/{TASK}", "max_evaluations": 3})]
        return [("diff", {})] if tool == "run" else text
    return (await accelopt_toolkit.make_agent(ScriptedModel(answer=user), tools.workspace).arun("go")).content


print(json.dumps(asyncio.run(main())))
