# SPDX-License-Identifier: Apache-2.0
"""`accelopt mcp` as an agent meets it: runs that outlive client and server, both eras of the protocol, errors to act on. Most runs have the
steady worker."""

import json
import os
import re
import signal
import sqlite3
import time

import chat_script
import support
from mcp_case import SETTINGS, McpCase
from mcp_client import ToolError

class Runs(McpCase):
    def test_a_run_from_start_to_diff(self):
        self.scripted()
        task = self.task()
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client = self.client(era=era)
                started = client.call("start", task="task", **SETTINGS)
                self.assertEqual(started["agents"], "model")
                status = client.follow(started["run"])
                self.assertEqual(status["status"], "done", status)
                result = client.call("result", run=started["run"])
                self.assertEqual(result["outcome"], "improved", result)
                diff = client.call_whole("diff", run=started["run"])
                self.assertIn("+++ b/baseline.cpp", diff["content"][0]["text"])
                self.assertEqual(diff["content"][1]["uri"], f"accelopt://runs/{started['run']}/patch")
                self.tells_of(client, started["run"], f"{era}.html")
                self.assertEqual(client.close(), 0)
        self.assertTrue(task.exists())

    def tells_of(self, client, run, name):
        """explain, report and the resource of the same text, as the commands give them."""
        told = client.call("explain", run=run)
        self.assertEqual(told, self.succeed("explain", run, "--json", "--workspace", self.workspace).last)
        self.assertTrue(told["steps"])
        written = client.call("report", run=run, output=name)
        page = (self.folder / name).read_text(encoding="utf-8")
        # What recipes could have made is looked for by the command alone: it takes longer than a call may.
        whole = self.succeed("report", run, "-o", "-", "--workspace", self.workspace).out
        without = re.sub(r'<section aria-labelledby="novelty">.*?</section>', "", re.sub(r'<li><a href="#novelty">.*?</a></li>', "", whole), flags=re.DOTALL)
        self.assertNotEqual(without, whole)
        self.assertEqual((written["file"], page), (str(self.folder.resolve() / name), without))
        read = client.ask("resources/read", uri=f"accelopt://runs/{run}/report")["contents"][0]
        self.assertEqual((read["mimeType"], read["text"]), ("text/html", page))
        story = {"run": "refactored-" + name, "task": "routes", "language": "python", "created": "2019-12-31T00:00:00Z", "program_version": "0", "base": "b",
                 "goal": "time", "scope": ["routes/graph.py#reachable"], "seed": 1, "tried": 1, "trials": [], "strategy": "", "verdict": "refused",
                 "failed_gate": "tests", "gates": [{"name": "tests", "passed": False, "facts": ["one fails"], "seconds": 1}], "workloads": [], "tests": 5,
                 "flaky": [], "diff": "@@ -1 +1 @@\n-a\n+b\n", "branch": "", "commit": "", "experience": ""}
        database = sqlite3.connect(self.workspace / "accelopt.db")
        with database:
            database.execute("INSERT INTO refactorings(id, created, content) VALUES(?, ?, ?)", (story["run"], story["created"], json.dumps(story)))
        database.close()
        written = client.call("report", run=story["run"], output="refactored-" + name)
        self.assertEqual(written["run"], story["run"])
        self.assertEqual((self.folder / ("refactored-" + name)).read_text(encoding="utf-8"),
                         self.succeed("report", story["run"], "-o", "-", "--workspace", self.workspace).out)
        missing = client.call_whole("report", run="nothing", output="nothing.html")
        self.assertIn("no run", missing["content"][0]["text"])
        inside = str(self.workspace / "new.html")
        for output, why in ((name, "is there already"), ("/elsewhere.html", "outside the folders"), ("report.toml", "end in .html"),
                            (inside, "the workspace"), (".git/new.html", "begins with a dot")):
            refused = client.call_whole("report", run=run, output=output)
            self.assertTrue(refused["isError"])
            self.assertIn(why, refused["content"][0]["text"])

    def test_a_run_outlives_client_and_server(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        client.kill()
        again = self.client(era="modern")
        self.assertEqual(again.call("status", run=run, wait_s=0)["status"], "running")
        gate.touch()
        self.assertEqual(again.follow(run)["status"], "done")
        self.assertEqual(again.call("result", run="last")["outcome"], "improved")

    def test_a_run_that_was_killed_is_told_and_resumed(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 1}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        os.kill(int((self.workspace / "logs" / f"{run}.pid").read_text()), signal.SIGKILL)
        status = client.follow(run)
        self.assertEqual(status["status"], "dead")
        self.assertIn("resume", status["trouble"])
        with self.assertRaisesRegex(ToolError, "resume"):
            client.call("result", run=run)
        gate.touch()
        client.call("resume", run=run)
        support.until(lambda: client.call("status", run=run)["status"] == "done", "it ends")

    def test_stop_has_what_there_is_confirmed(self):
        gate = self.folder / "gate"
        held = [{"when": {"answer": 2}, "times": 1, "hold_until": str(gate), "text": chat_script.steady_kernel("speed=2.4")}]
        server = self.scripted(executor=held)
        self.task()
        client = self.client()
        run = client.call("start", task="task", iterations=5, plans=2, attempts=1, patience=0)["run"]
        server.wait_for(lambda requests: any(r["rule"] == "executor[0]" for r in requests))
        with self.assertRaisesRegex(ToolError, "no result yet; call status"):
            client.call("result", run=run)
        client.call("stop", run=run)
        support.until(lambda: any("asked to stop" in note for note in client.call("status", run=run, wait_s=0)["notes"]), "it hears of it")
        gate.touch()
        self.assertEqual(client.follow(run)["status"], "done")
        self.assertEqual(client.call("result", run=run)["stopped_by"], "stop")

    def test_no_more_runs_than_allowed_go_on(self):
        gate = self.folder / "gate"
        self.scripted(planner=[{"hold_until": str(gate), "text": chat_script.plan("x")}])
        self.task()
        client = self.client("--max-runs", 1)
        run = client.call("start", task="task", **SETTINGS)["run"]
        with self.assertRaisesRegex(ToolError, f"as many as this server starts: {run}"):
            client.call("start", task="task", **SETTINGS)
        client.call("stop", run=run, now=True)
        gate.touch()
        client.follow(run)

    def test_a_resumed_run_is_one_of_those_allowed(self):
        self.task()
        client = self.client("--max-runs", 1)

        def end(run):
            client.call("next_question", run=run)
            client.call("stop", run=run, now=True)
            client.follow(run)

        first = client.call("start", task="task", agents="client", **SETTINGS)["run"]
        end(first)
        second = client.call("start", task="task", agents="client", **SETTINGS)["run"]
        client.call("next_question", run=second)  # returns once it is at work
        with self.assertRaisesRegex(ToolError, f"as many as this server starts: {second}"):
            client.call("resume", run=first)
        with self.assertRaisesRegex(ToolError, f"{second} is running in process"):
            client.call("resume", run=second)
        end(second)
        client.call("resume", run=first)
        end(first)

    def test_a_start_that_fails_says_why(self):
        self.configure('[models.default]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "x"\nkey_env = "NO_SUCH_KEY_HERE"\n')
        self.task()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        status = client.follow(run)
        self.assertIn(status["status"], ("failed", "dead"))
        self.assertIn("NO_SUCH_KEY_HERE", status["trouble"])


class TheClientIsTheModel(McpCase):
    """agents = "client": the calling agent plays all roles."""

    def answer_all(self, client, run, text_of):
        """To the run's end; the roles that were asked for."""
        roles = []
        while True:
            asked = client.call("next_question", run=run)
            if asked["ended"]:
                return roles
            if question := asked["question"]:
                roles.append(question["role"])
                client.call("answer", run=run, question=question["id"], text=text_of(question, len(roles)))

    @staticmethod
    def text_of(question, number):
        changes = re.findall(r"^Change (\d+)$", question["prompt"], re.MULTILINE)
        lesson = '{"change": %s, "title": "Walk along rows", "strategy": "s", "before": "b", "after": "a"}\n'
        return {"planner": "\n".join(chat_script.plan(f"Exchange the two inner loops {number} {plan}") for plan in range(2)),
                "executor": chat_script.steady_kernel(f"speed={2 + number % 3}"),
                "fixer": chat_script.steady_kernel("speed=2"),
                "summarizer": "".join(lesson % change for change in changes)}[question["role"]]

    def test_a_run_to_its_confirmed_gain_and_its_replay(self):
        self.task()
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client = self.client(era=era)
                started = client.call("start", task="task", agents="client", **SETTINGS)
                self.assertEqual(started["agents"], "client")
                roles = self.answer_all(client, started["run"], self.text_of)
                self.assertEqual(roles[0], "planner")
                self.assertIn("executor", roles)
                result = client.call("result", run=started["run"])
                self.assertEqual(result["outcome"], "improved", result)
                self.assertEqual(sum(result["usage"]["calls"].values()), len(roles), "each question was answered once")
                self.assertTrue(self.succeed("replay", started["run"], "--workspace", self.workspace, "--json").last["same"])
                self.assertIn("client: tests", self.succeed("show", started["run"], "--workspace", self.workspace).out)

    def test_answers_that_cannot_be_taken(self):
        self.task()
        client = self.client()
        run = client.call("start", task="task", agents="client", **SETTINGS)["run"]
        question = self.first_question(client, run)
        with self.assertRaisesRegex(ToolError, "nobody asks"):
            client.call("answer", run=run, question="../../../etc/passwd", text="x")
        with self.assertRaisesRegex(ToolError, "blank"):
            client.call("answer", run=run, question=question["id"], text=" \n")
        client.call("answer", run=run, question=question["id"], text=self.text_of(question, 1))
        with self.assertRaisesRegex(ToolError, "answer already|nobody asks"):
            client.call("answer", run=run, question=question["id"], text="another")
        support.until(lambda: client.call("next_question", run=run)["open"], "the next question comes")
        client.call("stop", run=run, now=True)
        client.follow(run)
        self.assertTrue(client.call("next_question", run=run)["ended"])

    def first_question(self, client, run):
        return support.until(lambda: client.call("next_question", run=run)["question"], "a question comes")

    def test_a_client_that_goes_away_may_come_back(self):
        self.task()
        client = self.client()
        run = client.call("start", task="task", agents="client", **SETTINGS)["run"]
        question = self.first_question(client, run)
        client.kill()
        again = self.client(era="modern")
        self.assertEqual(self.first_question(again, run)["id"], question["id"])
        self.assertIn("planner", self.answer_all(again, run, self.text_of))
        self.assertEqual(again.call("result", run=run)["outcome"], "improved")

    def test_a_run_of_others_asks_nobody_here(self):
        self.configure(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n")
        self.task()
        client = self.client()
        run = client.call("start", task="task", agents="recipes", iterations=1)["run"]
        with self.assertRaisesRegex(ToolError, "asks nobody here"):
            client.call("next_question", run=run)
        client.follow(run)

    def test_a_hint_reaches_the_next_rounds_planners(self):
        self.task()
        client = self.client()
        run = client.call("start", task="task", agents="client", iterations=3, beam=1, plans=2, attempts=1, patience=0)["run"]
        seen = {}

        def text_of(question, number):
            if question["role"] == "planner":
                round_of = re.match(r"planner-i(\d+)", question["id"]).group(1)
                seen[round_of] = question["prompt"]
                if round_of == "0":
                    client.call("steer", run=run, hint="panels of 64 columns")
                    self.succeed("steer", "nor unroll", "--run", run, "--workspace", self.workspace)
            return self.text_of(question, number)

        self.answer_all(client, run, text_of)
        self.assertEqual([("panels of 64 columns" in seen[it], "nor unroll" in seen[it]) for it in "012"],
                         [(False, False), (True, True), (False, False)])
        self.assertTrue(self.succeed("replay", run, "--workspace", self.workspace, "--json").last["same"])
        events = client.ask("resources/read", uri=f"accelopt://runs/{run}/events")["contents"][0]["text"]
        self.assertIn("hint for the planners of round 2: panels of 64 columns", events)
        with self.assertRaisesRegex(ToolError, "is done"):
            client.call("steer", run=run, hint="too late")


class Tools(McpCase):
    def test_the_offer_is_whole(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client = self.client(era=era)
                tools = {tool["name"]: tool for tool in client.ask("tools/list")["tools"]}
                self.assertEqual(set(tools), {"doctor", "init", "lint", "estimate", "evaluate", "best", "start", "status", "result", "diff",
                                              "explain", "report", "stop", "resume", "runs", "next_question", "answer", "steer", "memory_search", "memory_add"})
                for name, tool in tools.items():
                    self.assertEqual((tool["inputSchema"]["type"], tool["outputSchema"]["type"]), ("object", "object"), name)
                    self.assertTrue(tool["description"] and tool["annotations"]["title"], name)
                    for property in tool["inputSchema"]["properties"]:
                        self.assertNotRegex(property, "key|token$|secret|password", "keys are never arguments")
                self.assertEqual(client.ask("prompts/get", name="make_faster", arguments={"what": "my_task"})["messages"][0]["role"], "user")

    def finish(self, client, tool, **arguments):
        """What a command came to, asked for until it has ended."""
        out = client.call(tool, **arguments)
        return out if out["state"] == "done" else support.until(
            lambda: (now := client.call(tool, job=out["job"]))["state"] == "done" and now, f"{tool} ends")

    def test_commands(self):
        self.task()
        self.file("faster.cpp", chat_script.steady_kernel("speed=2"))  # known to the workspace's worker alone
        client = self.client()
        self.assertEqual(self.finish(client, "lint", task="task")["ok"], True)
        broken = self.task("broken", definition=support.TASK.replace('dtype = "float32"', 'dtype = "float31"'))
        self.assertTrue(broken.exists())
        problems = self.finish(client, "lint", task="broken")
        self.assertFalse(problems["ok"])
        self.assertIn("float31", problems["lines"][0]["message"])
        (broken / "task.toml").write_text("\n".join(f"x{number} = 1" for number in range(60)))
        problems = self.finish(client, "lint", task="broken")
        self.assertEqual(len(problems["lines"]), 50)
        self.assertGreater(problems["left_out"], 9)
        estimate = self.finish(client, "estimate", task="task", iterations=2)
        self.assertEqual(estimate["lines"][0]["type"], "estimate")
        verdict = self.finish(client, "evaluate", task="task", file="faster.cpp")["lines"][0]
        self.assertEqual((verdict["status"], verdict["verdict"]), ("PASSED", "FASTER"), verdict)
        going = client.call("evaluate", task="task", wait_s=0)
        self.assertEqual(going["state"], "running")
        self.assertEqual(self.finish(client, "evaluate", job=going["job"])["lines"][0]["status"], "PASSED")
        self.assertIn("check", {line["type"] for line in self.finish(client, "doctor")["lines"]})

    def test_init_and_best(self):
        self.scripted()
        self.file("mine.cpp", "void twice(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n")
        client = self.client()
        made = self.finish(client, "init", file="mine.cpp", function="twice", shapes=["x=n", "y=n"], outputs=["y"], axes=["n=4096"],
                           folder="twice_task")
        self.assertIn("wrote", made["text"])
        self.assertTrue((self.folder / "twice_task" / "task.toml").exists())
        self.finish(client, "init", file="mine.cpp", function="twice", shapes=["x=n", "y=n"], outputs=["y"], constants=["n=64"],
                    op_type="scale", folder="fixed_task")
        text = (self.folder / "fixed_task" / "task.toml").read_text(encoding="utf-8")
        self.assertIn("n = 64\n", text)
        self.assertIn('op_type = "scale"\n', text)
        self.file("ops.py", "import torch\n\n\ndef twice(x):\n    return torch.add(x, x)\n")
        operator = {"file": "ops.py", "function": "twice", "example": "x: float32[N=64] -> y: float32[N]"}
        self.finish(client, "init", **operator, reference="ops.py:twice", folder="operator_task")
        self.assertIn("torch.add", (self.folder / "operator_task" / "reference.py").read_text(encoding="utf-8"))
        with self.assertRaisesRegex(ToolError, "folder"):
            client.call("init", **operator, reference="/etc/passwd:root", folder="foreign_task")
        self.task()
        run = client.call("start", task="task", **SETTINGS)["run"]
        client.follow(run)
        self.finish(client, "best", run=run, folder="won")
        self.assertTrue((self.folder / "won" / "task.toml").exists())
        with self.assertRaisesRegex(ToolError, "not empty; name another folder, or on the command line add --force"):
            self.finish(client, "best", run=run, folder="won")

    def test_memory(self):
        environment = self.environment | {"ACCELOPT_KNOWLEDGE": str(self.folder / "knowledge.db")}
        client = self.client(environment=environment)
        added = client.call("memory_add", title="Pack operand panels", strategy="Copy the panel into a contiguous buffer.", language="cpp")
        self.assertEqual(added["new"], 1)
        found = client.call_whole("memory_search", text="pack panels")
        self.assertIn("Pack operand panels", found["content"][0]["text"])
        uri = found["content"][1]["uri"]
        self.assertIn("contiguous", client.ask("resources/read", uri=uri)["contents"][0]["text"])

    def test_resources(self):
        self.scripted()
        self.task()
        client = self.client()
        self.assertEqual(client.ask("resources/list")["resources"], [])
        self.assertEqual(client.call("runs"), {"total": 0, "runs": []})
        run = client.call("start", task="task", **SETTINGS)["run"]
        client.follow(run)
        uri = client.ask("resources/list")["resources"][0]["uri"]
        self.assertEqual(uri, f"accelopt://runs/{run}")
        listed = client.call("runs", limit=1)["runs"]
        self.assertEqual([(it["run"], it["status"], it["outcome"]) for it in listed], [(run, "done", "improved")])
        completed = client.ask("completion/complete", ref={"type": "ref/resource", "uri": "accelopt://runs/{run}"},
                               argument={"name": "run", "value": run[:4]})
        self.assertEqual(completed["completion"]["values"], [run])
        read = lambda it: client.ask("resources/read", uri=it)["contents"][0]["text"]
        self.assertEqual(json.loads(read(uri))["run"], run)
        self.assertIn('"run_started"', read(uri + "/events"))
        self.assertIn("+++ b/", read(uri + "/patch"))
        for wrong in (uri + "/nothing", "accelopt://runs/none", "accelopt://memory/none", "file:///etc/passwd"):
            with self.assertRaisesRegex(RuntimeError, "'code': -32"):
                read(wrong)


class Hostile(McpCase):
    def test_what_a_model_can_act_on(self):
        self.task()
        client = self.client()
        for tool, arguments, pattern in [
                ("start", {}, '"task" is missing'), ("start", {"task": "nothing"}, "nothing"),
                ("start", {"task": "../.."}, "outside the folders .*--folder"), ("start", {"task": "/etc"}, "outside"),
                ("lint", {"task": "/"}, "outside"), ("evaluate", {"task": "task", "file": "/etc/passwd"}, "outside"),
                ("best", {"run": "last", "folder": "/tmp/x"}, "outside"), ("best", {"run": "--force", "folder": "x"}, "no run's id"),
                ("start", {"task": "task", "iterations": 0}, "1 or more"), ("start", {"task": "task", "api_key": "x"}, "no member"),
                ("start", {"task": "task", "max_time": "soon"}, "soon"), ("start", {"task": "task", "max_time": ""}, "write 90s"),
                ("start", {"task": "task", "max_device_seconds": ""}, "write 90s"), ("start", {"task": "task", "model": "none"}, "none"),
                ("start", {"task": "task", "model": "x", "agents": "client"}, "leave one of them out"),
                ("start", {"task": "task", "device": "cuda:0"}, "target cpu, and device cuda:0"),
                ("status", {"run": "20990101"}, "run"), ("result", {"run": "x"}, "run"), ("lint", {"job": "../../x"}, "no job"),
                ("steer", {"run": "x", "hint": "y"}, "run"), ("diff", {"run": ""}, "run")]:
            with self.subTest(tool, arguments=arguments), self.assertRaisesRegex(ToolError, pattern):
                client.call(tool, **arguments)

    def test_two_hundred_calls_at_once(self):
        self.task()
        self.scripted()
        client = self.client()
        run = client.call("start", task="task", **SETTINGS)["run"]
        client.follow(run)
        began = time.monotonic()
        numbers = [client.begin("tools/call", {"name": "status", "arguments": {"run": run}}) for _ in range(200)]
        for number in numbers:
            self.assertEqual(client.wait(number)["result"]["structuredContent"]["status"], "done")
        self.assertLess(time.monotonic() - began, 10)

    def test_two_hundred_starts_at_once_lose_nothing(self):
        self.task()
        client = self.client("--max-runs", 2)
        arguments = {"task": "task", "agents": "client"} | SETTINGS
        numbers = [client.begin("tools/call", {"name": "start", "arguments": arguments}) for _ in range(200)]
        replies = [client.wait(number, 60)["result"] for number in numbers]
        begun = [reply["structuredContent"]["run"] for reply in replies if not reply["isError"]]
        self.assertEqual(len(begun), 2)
        for reply in replies:
            if reply["isError"]:
                self.assertIn("as many as this server starts", reply["content"][0]["text"])
        for run in begun:
            client.call("stop", run=run, now=True)
            client.follow(run)
        listed = [line["run"] for line in self.succeed("runs", "--workspace", self.workspace, "--json").lines]
        self.assertEqual(sorted(listed), sorted(begun))

    def test_malformed_input_and_huge_arguments(self):
        client = self.client()
        client.raw(b"{nonsense\n\xff\xfe\n[]\n" + b"[" * 100_000 + b"\n" + b'{"jsonrpc":"2.0","id":9,"method":5}\n')
        client.raw(b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"lint","arguments":{"task":"' + b"x" * 100_000_000 + b'"}}}\n')
        with self.assertRaisesRegex(ToolError, "longer than 4000 bytes"):
            client.call("lint", task="x" * 5_000_000)
        self.assertEqual(client.ask("ping"), {})

    def test_no_key_is_in_any_answer(self):
        key = "sk-live-3c1e-a-very-secret-key"
        self.configure('[models.default]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "x"\nkey_env = "THE_KEY"\nretries = { tries = 1 }\n')
        self.task()
        client = self.client(environment=self.environment | {"THE_KEY": key})
        run = client.call("start", task="task", **SETTINGS)["run"]
        status = client.follow(run)
        said = [status, client.ask("tools/list"), client.call("doctor"), client.call_whole("estimate", task="task")]
        for uri in (f"accelopt://runs/{run}", f"accelopt://runs/{run}/events"):
            said.append(client.ask("resources/read", uri=uri))
        self.assertNotIn(key, json.dumps(said))

    def test_a_client_that_stops_reading_or_goes_ends_its_server_alone(self):
        self.task()
        client = self.client()
        run = client.call("start", task="task", agents="client", **SETTINGS)["run"]
        client.begin("tools/call", {"name": "status", "arguments": {"run": run, "wait_s": 8}})
        began = time.monotonic()
        self.assertEqual(client.close(), 0)
        self.assertLess(time.monotonic() - began, 3, "calls that wait are let go")
        other = self.client()
        self.assertEqual(other.call("status", run=run, wait_s=0)["status"], "running")
        other.call("stop", run=run, now=True)
        self.assertEqual(other.follow(run)["status"], "interrupted")


if __name__ == "__main__":
    support.main()
