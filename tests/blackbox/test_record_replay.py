# SPDX-License-Identifier: Apache-2.0
"""Answers kept with --record and given again with --replay: no model, no network, no key."""

import json

import chat_script
import support

KEY = "sk-blackbox-rec-5510"


class RecordReplay(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment["BLACKBOX_KEY"] = KEY
        self.answers = self.folder / "answers"

    def search(self, workspace, *more):
        return self.accelopt("run", self.folder / "task", "--workspace", workspace, "--json", "--iterations", 1, "--plans", 2,
                             "--attempts", 1, "--fixes", 2, "--patience", 0, *more)

    def record(self, **extra):
        self.task()
        server = self.server(chat_script.script(key=KEY, **extra))
        finished = self.search(self.workspace, "--base-url", server.url, "--model", chat_script.MODEL, "--key-env",
                               "BLACKBOX_KEY", "--record", self.answers)
        self.assertEqual(finished.code, 0, finished)
        requests = server.answered()
        server.process.kill()
        return finished, requests

    def files(self):
        return sorted(path for path in self.answers.glob("*.json") if path.name != "run.json")

    def replay(self, *more):
        return self.search(self.folder / "elsewhere", "--replay", self.answers, *more)

    def test_a_run_from_a_folder_of_answers(self):
        talkative = [{"when": {"again": True}, "times": 1, "text": chat_script.plan("Exchange loops") + f"\nyour key is {KEY}"}]
        recorded, requests = self.record(planner=talkative)
        self.assertEqual(len(self.files()), len(requests), "one file an answer")
        self.check_files(requests)
        del self.environment["BLACKBOX_KEY"]
        finished = self.replay()
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["usage"]["calls"], recorded.last["usage"]["calls"])
        self.assertEqual(finished.last["counts"], recorded.last["counts"])
        shown = self.succeed("show", "--workspace", self.folder / "elsewhere").out
        self.assertIn(chat_script.MODEL, shown, "whoever wrote it then is its author")

    def check_files(self, requests):
        for path in self.files():
            text = path.read_text(encoding="utf-8")
            self.assertNotIn(KEY, text)
            answer = json.loads(text)
            self.assertEqual(answer["schema"], 1)
            self.assertTrue(path.name.startswith(answer["label"].replace(" ", "-")), path)
            self.assertTrue(any("\n".join(answer["answer"]) == r["text"].replace(KEY, "[key]") for r in requests), path)
            self.assertEqual([m["speaker"] for m in answer["messages"]][:2], ["system", "user"])
            self.assertGreater(answer["usage"]["output_tokens"], 0)
        self.assertTrue(any("[key]" in path.read_text(encoding="utf-8") for path in self.files()))
        self.assertEqual(list(self.answers.glob("*.tmp*")), [])

    def test_a_prompt_that_differs_is_shown(self):
        self.record()
        planner = next(path for path in self.files() if path.name.startswith("planner-i0.b0-"))
        answer = json.loads(planner.read_text(encoding="utf-8"))
        line = next(i for i, text in enumerate(answer["messages"][1]["text"]) if text.startswith("# The kernel"))
        answer["messages"][1]["text"][line] = "# Another kernel to make faster"
        answer["request_hash"] = "0" * 64
        planner.write_text(json.dumps(answer), encoding="utf-8")
        finished = self.replay()
        self.assert_says(finished, 1, "planner i0.b0 try0", planner.name, rf"message 2 \(user\), line {line + 1}",
                         "recorded: # Another kernel", "asked: +# The kernel to make faster")

    def test_an_answer_that_is_missing(self):
        self.record()
        for path in self.files():
            if path.name.startswith("executor"):
                path.unlink()
        self.assert_says(self.replay(), 1, "no answer to \"executor", "is recorded")

    def test_folders_that_cannot_be_replayed(self):
        self.task()
        self.assert_says(self.replay(), 1, "answers", "--record")
        self.answers.mkdir()
        self.assert_says(self.replay(), 1, "no recorded answers")
        (self.answers / "planner.json").write_text("{", encoding="utf-8")
        self.assert_says(self.replay(), 1, "planner.json", "cannot be read")
        (self.answers / "run.json").write_text("{\"seed\": ", encoding="utf-8")
        damaged = self.replay()
        self.assertNotEqual(damaged.code, 0, damaged)
        self.assertRegex(damaged.err, r"run\.json does not say the seed.*--seed")

    def test_flags_that_contradict_each_other(self):
        self.task()
        self.assert_says(self.replay("--record", self.folder / "other"), 2, "--record")
        self.assert_says(self.replay("--agents", "recipes"), 2, "recipes", "--replay")
        self.assert_says(self.search(self.workspace, "--record", self.answers), 2, "--record", "model")


if __name__ == "__main__":
    support.main()
