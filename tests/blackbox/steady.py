# SPDX-License-Identifier: Apache-2.0
"""A run that is the same every time: a model whose answers are a function of the question alone, behind a real HTTP server,
and a worker whose measurements are a function of the source alone. What a test does to the process between changes nothing."""

import collections
import hashlib
import json
import random
import re
import shutil
import sqlite3
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import support

MODEL = "steady"
SPEAKERS = {"system": 0, "user": 1, "assistant": 2}
LONGEST_ANSWER_SECONDS = 0.02

TASK = support.TASK
BASELINE = "speed=1\nvoid kernel() {}\n"

SETTINGS = ["--seed", 11, "--iterations", 3, "--beam", 2, "--plans", 2, "--attempts", 2, "--fixes", 2, "--patience", 0]


def question_hash(body):
    """The hash under which the journal keeps the answer to a request."""
    messages = [[SPEAKERS[m["role"]], m["content"]] for m in body["messages"]]
    return hashlib.sha256(json.dumps(messages, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def draw(question, name):
    """A number from 0 to 1 that belongs to the question."""
    return int(hashlib.sha256((question + name).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


def answer_to(body):
    """Plans, kernels of which some are broken, wrong or unreadable, mends and lessons."""
    system, user = body["messages"][0]["content"], body["messages"][1]["content"]
    question = question_hash(body)
    again = len(body["messages"]) > 2
    if "You are the planner" in system:
        if draw(question, "odd") < 0.1 and not again:
            return "I would make it faster."
        wanted = re.search(r"^Write (\d+) plans", user, re.MULTILINE)
        ways = [f"{question[:8]}-{number}" for number in range(int(wanted.group(1)) if wanted else 1)]
        return "\n".join(f"Title: way {way}\nRests on: none\nTake the way {way}." for way in ways)
    if "You are the summarizer" in system:
        if draw(question, "none") < 0.2:
            return "no optimization"
        return "\n".join(json.dumps({"change": int(change), "title": f"lesson {question[:8]} {change}", "strategy": "do it", "before": "a", "after": "b"})
                         for change in re.findall(r"^Change (\d+)$", user, re.MULTILINE))
    speed = float(re.findall(r"speed=([0-9.]+)", user)[0])
    claims, share = "", draw(question, "fate")
    if share < 0.2:
        claims = "compile_error "
    elif share < 0.35:
        claims = "wrong "
    factor = 0.7 + draw(question, "speed")
    return f"```cpp\n{claims}speed={speed * factor:.4f}\nvoid kernel() {{}}\n```\n"


class SteadyModel:
    """The server. It keeps which questions it was asked and which it has answered."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.changed = threading.Condition()
        self.clients = 0
        self.asked, self.answered = [], []
        self.hold_after = None  # questions that are answered; the others wait (hold_from)
        self.released = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def setup(self):
                super().setup()
                with model.changed:
                    model.clients += 1

            def finish(self):
                try:
                    super().finish()
                finally:
                    with model.changed:
                        model.clients -= 1
                        model.changed.notify_all()

            def do_GET(self):
                self.send_response(204)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = question_hash(body)
                with model.lock:
                    model.asked.append(question)
                    wait = model.random.uniform(0, LONGEST_ANSWER_SECONDS)
                    held = model.hold_after is not None and len(model.asked) > model.hold_after
                    released = model.released
                with model.changed:
                    model.changed.notify_all()
                if held:
                    released.wait()
                # Whoever asks waits for a while: the order of arrival is another one in every run.
                threading.Event().wait(wait)
                data = json.dumps({"model": MODEL, "choices": [{"index": 0, "finish_reason": "stop",
                                                                "message": {"role": "assistant", "content": answer_to(body)}}],
                                   "usage": {"prompt_tokens": 100, "completion_tokens": 10}}).encode()
                with model.lock:
                    model.answered.append(question)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass  # a client that is killed is part of the play

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def hold_from(self, count):
        """From now on that many questions are answered, and the others wait."""
        with self.lock:
            released, self.released, self.hold_after = self.released, threading.Event(), len(self.answered) + count
        released.set()

    def holds(self):
        with self.lock:
            return self.hold_after is not None and len(self.asked) > self.hold_after

    def wait_until_asked(self, count):
        """Returns once that many questions have come since the last `take`."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.asked) >= count, 60):
                raise AssertionError(f"{len(self.asked)} of {count} questions were asked")

    def let_go(self):
        with self.lock:
            self.hold_after = None
            self.released.set()

    def drain(self):
        """Waits until everything that clients who are gone had sent is read and their connections are closed."""
        with urllib.request.urlopen(self.url) as marker:  # accepted after all connections that were made before
            marker.read()
        with self.changed:
            if not self.changed.wait_for(lambda: self.clients == 0, 30):
                raise AssertionError(f"{self.clients} connections of clients that are gone stay open")

    def take(self):
        """What was asked and answered since the last call, as counts by question. No client may be running."""
        self.drain()
        with self.lock:
            asked, answered = collections.Counter(self.asked), collections.Counter(self.answered)
            self.asked, self.answered = [], []
        return asked, answered

    def close(self):
        self.let_go()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class SteadyTestCase(support.TestCase):
    """Runs of one task with the steady model and the steady worker, each in a workspace of its own."""

    def setUp(self):
        super().setUp()
        self.worker = support.program_folder() / "steady_worker"
        if not self.worker.exists():
            self.skipTest(f"{self.worker} is not there; build the target steady_worker")
        self.model = SteadyModel(seed=5)
        self.addCleanup(self.model.close)
        self.steady_task = self.task(baseline=BASELINE)

    def run_arguments(self, workspace):
        return ["run", self.steady_task, "--workspace", workspace, "--json", "--base-url", self.model.url, "--model", MODEL,
                "--worker", self.worker, *SETTINGS]

    def continue_arguments(self, workspace):
        """resume, or run where the journal holds no run yet."""
        return ["resume", "--workspace", workspace, "--json"] if self.rows(workspace, "SELECT id FROM runs") else \
            self.run_arguments(workspace)

    def rows(self, workspace, query):
        """Read from a copy, which recovers nothing in place."""
        if not (workspace / "accelopt.db").exists():
            return []
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in ("accelopt.db", "accelopt.db-wal"):
            if (workspace / name).exists():
                shutil.copy(workspace / name, copy / name)
        connection = sqlite3.connect(copy / "accelopt.db")
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return []
            self.assertIn([row[0] for row in connection.execute("PRAGMA integrity_check")], ([], ["ok"]))
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def committed(self, workspace):
        """How many answers to each question are on record."""
        rows = self.rows(workspace, "SELECT input_hash FROM steps WHERE kind LIKE 'chat:%'")
        return collections.Counter(row[0] for row in rows)

    def uninterrupted(self):
        """A run that nothing befalls: its result, the questions that it asks, and how long it takes in seconds."""
        workspace = self.folder / "uninterrupted"
        finished = self.succeed(*self.run_arguments(workspace))
        asked, answered = self.model.take()
        self.assertEqual(asked, answered)
        self.assertEqual(asked, self.committed(workspace), "a question is one answer on record")
        result = finished.last
        self.assertEqual(result["type"], "result", finished)
        self.assertTrue(all(calls > 0 for calls in result["usage"]["calls"].values()), f"every role is asked: {finished}")
        return result, asked
