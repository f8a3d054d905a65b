# SPDX-License-Identifier: Apache-2.0
"""Servers that misbehave in every way: a run ends with a result after retries, or with one clear error, and the key goes
nowhere but to the server that it is for. What passes between run and server is tested: most runs have the steady worker, whose
measurements are a function of the source alone, so that none waits for a device."""

import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

import chat_script
import support

KEY = "sk-hostile-9b1c44e07d"
APIS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "gemini": "/v1beta/models/m:streamGenerateContent"}


# Twice as fast for the steady worker, and faster for a real one.
FASTER = "// speed=2\n" + support.FASTER


def good_answer(prompt):
    if "You are the planner" in prompt:
        return chat_script.plan("Exchange the two inner loops")
    if "You are the summarizer" in prompt:
        return "no optimization"
    return chat_script.fenced(FASTER)


def sse(text):
    chunk = {"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    end = {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return (f"data: {json.dumps(chunk)}\n\ndata: {json.dumps(end)}\n\ndata: [DONE]\n\n").encode()


def http_answer(status, body, kind="application/json", headers=()):
    head = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def error(status, message, headers=()):
    return http_answer(status, json.dumps({"error": {"message": message}}).encode(), headers=headers)


class Server:
    """Gives each connection to `misbehave` (socket, request) and, where that returns False, a good answer."""

    def __init__(self, misbehave, context=None):
        self.misbehave = misbehave
        self.requests = []  # whole requests, as they came
        self.lock = threading.Lock()
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            request = self.read(connection)
            with self.lock:
                self.requests.append(request)
                number = len(self.requests)
            if not self.misbehave(connection, number):
                connection.sendall(http_answer(200, sse(good_answer(request.decode("utf-8", "replace"))), "text/event-stream"))
            connection.close()
        except OSError:
            pass  # a client that has heard enough

    @staticmethod
    def read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                raise OSError("closed")
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        while len(body) < length:
            piece = connection.recv(65536)
            if not piece:
                raise OSError("closed")
            body += piece
        return head + b"\r\n\r\n" + body

    def close(self):
        self.listener.close()


def first(count, action):
    """Misbehaves on the first requests only."""
    return lambda connection, number: number <= count and (action(connection) or True)


def always(action):
    return lambda connection, number: action(connection) or True


def send(data):
    return lambda connection: connection.sendall(data)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_a_stream(connection):
    body = sse("half an answer")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n" + body[:len(body) // 2])


def stall(connection):
    half_a_stream(connection)
    while connection.recv(4096):  # until the client goes away
        pass


def fifty_megabytes(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 52428800\r\n\r\n")
    for _ in range(800):
        connection.sendall(b"x" * 65536)


def a_long_stream(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    piece = b"data: " + json.dumps({"choices": [{"delta": {"content": "y" * 65536}}]}).encode() + b"\n\n"
    for _ in range(800):
        connection.sendall(piece)


class HostileServer(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment["BLACKBOX_KEY"] = KEY
        self.servers = []
        self.task()
        self.measured_by = support.steady_worker()

    def hostile(self, misbehave, context=None):
        server = Server(misbehave, context)
        self.servers.append(server)
        self.addCleanup(server.close)
        return server

    def configure(self, server, api="openai", scheme="http", host="127.0.0.1", more=""):
        self.workspace.mkdir(exist_ok=True)
        version = "v1beta" if api == "gemini" else "v1"
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\napi = "{api}"\nbase_url = "{scheme}://{host}:{server.port}/{version}"\nmodel = "m"\n'
            'key_env = "BLACKBOX_KEY"\ntimeouts = { connect = 5, stall = 0.5, total = 60 }\n'
            f"retries = {{ tries = 4, first_wait = 0.01, longest_wait = 0.05 }}\n{more}\n", encoding="utf-8")

    def search(self, server, **options):
        self.configure(server, **options)
        finished = self.accelopt("run", self.folder / "task", "--workspace", self.workspace, "--json", *self.measured_by,
                                 "--iterations", 1, "--plans", 1, "--attempts", 1, "--fixes", 0, "--patience", 0)
        self.assert_key_kept(finished)
        return finished

    def assert_key_kept(self, finished):
        """In no output, no file, no journal."""
        self.assertNotIn(KEY, finished.said)
        shown = self.accelopt("show", "--workspace", self.workspace, "--json", "--samples")
        self.assertNotIn(KEY, shown.said)
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 5)
        for path in files:
            self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def assert_passes(self, misbehave, retries=None, **options):
        server = self.hostile(misbehave)
        finished = self.search(server, **options)
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["outcome"], "improved")
        if retries is not None:
            self.assertEqual(finished.last["usage"]["transport_retries"], retries, finished)
        for request in server.requests:
            self.assertIn(f"Bearer {KEY}".encode(), request)
        return finished

    def assert_one_error(self, server, *patterns, **options):
        """Exit 1, one message, no stack of consequences."""
        finished = self.search(server, **options)
        self.assert_says(finished, 1, *patterns)
        errors = [line for line in finished.err.splitlines() if line.startswith("accelopt: ") and "continue with" not in line
                  and "sandbox" not in line]
        self.assertEqual(len(errors), 1, finished)
        return finished

    # What passes

    def test_too_many_requests_with_a_time_to_wait(self):
        before = time.monotonic()
        self.assert_passes(first(2, send(error(429, "slow down", ["Retry-After: 1"]))), retries=2)
        self.assertGreaterEqual(time.monotonic() - before, 2.0, "the server asked for a second, twice")

    def test_an_answer_that_repeats_the_key(self):
        body = sse(chat_script.plan("Exchange the two inner loops") + f"\nYour key is {KEY}, isn't it?")
        for measured_by in (self.measured_by, ()):
            self.measured_by = measured_by
            self.assert_passes(first(1, send(http_answer(200, body, "text/event-stream"))), retries=0)

    def test_too_many_requests_without(self):
        self.assert_passes(first(3, send(error(429, "slow down"))), retries=3)

    def test_internal_errors(self):
        self.assert_passes(first(3, send(error(500, "oops"))), retries=3)

    def test_resets(self):
        self.assert_passes(first(2, reset), retries=2)

    def test_half_a_stream(self):
        self.assert_passes(first(2, half_a_stream), retries=2)

    def test_a_stall(self):
        self.assert_passes(first(1, stall), retries=1)

    def test_garbage(self):
        self.assert_passes(first(1, send(http_answer(200, b"\x00\xff{{{", "application/json"))), retries=1)
        self.assert_passes(first(1, send(http_answer(200, b"data: {\xff\xfe\n\n", "text/event-stream"))), retries=1)

    def test_headers_that_limit(self):
        """Nothing is left for 1.5 s: the next question waits by itself, and nothing is refused."""
        headers = ["x-ratelimit-limit-requests: 10", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1.5s"]
        body = sse(chat_script.plan("Exchange the two inner loops"))
        arrived = []

        def limit(connection, number):
            arrived.append(time.monotonic())
            return number == 1 and (connection.sendall(http_answer(200, body, "text/event-stream", headers)) or True)

        self.assert_passes(limit, retries=0)
        self.assertGreaterEqual(arrived[1] - arrived[0], 1.4)

    def test_a_million_tiny_chunks(self):
        body = sse(chat_script.plan("Exchange") + "\n" + "z" * 1_000_000)
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer += b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
        self.assert_passes(first(1, send(answer)), retries=0)

    def test_requests_a_minute(self):
        """Two a minute: the third waits, and Ctrl-C ends that wait within a second."""
        server = self.hostile(lambda connection, number: False)
        self.configure(server, more="requests_per_minute = 2")
        running = self.start("run", self.folder / "task", "--workspace", self.workspace, "--json", *self.measured_by, "--iterations",
                             2, "--plans", 1, "--attempts", 2, "--fixes", 0, "--patience", 0)
        support.until(lambda: len(server.requests) >= 2, "two requests come", running)
        time_limit = time.monotonic() + 1.5  # long enough for a third request to have come
        while time.monotonic() < time_limit:
            time.sleep(0.05)
        self.assertEqual(len(server.requests), 2)
        before = time.monotonic()
        running.interrupt()
        finished = running.finish(20)
        self.assertEqual(finished.code, 130, finished)
        self.assertLess(time.monotonic() - before, 1.0)

    def assert_stops_within_a_second(self, server, enough, more=""):
        self.configure(server, more=more)
        text = (self.workspace / "accelopt.toml").read_text(encoding="utf-8").replace("stall = 0.5", "stall = 300")
        (self.workspace / "accelopt.toml").write_text(text, encoding="utf-8")
        running = self.start("run", self.folder / "task", "--workspace", self.workspace, "--json", *self.measured_by, "--plans", 2)
        support.until(enough, "the run has come as far as it should", running)
        before = time.monotonic()
        running.interrupt()
        finished = running.finish(20)
        self.assertLess(time.monotonic() - before, 1.0, finished)
        self.assert_no_crash(finished)
        return finished

    def test_an_interrupt_ends_the_wait_for_an_answer(self):
        for action in (lambda connection: connection.recv(4096), stall, send(error(429, "busy", ["Retry-After: 300"]))):
            server = self.hostile(always(action))
            finished = self.assert_stops_within_a_second(server, lambda server=server: len(server.requests) >= 1)
            self.assertEqual(finished.code, 130, finished)

    def test_an_interrupt_ends_the_wait_for_a_key(self):
        started = self.folder / "started"
        command = f'key_command = "touch {started}; sleep 300; echo key"'
        del self.environment["BLACKBOX_KEY"]
        finished = self.assert_stops_within_a_second(self.hostile(lambda connection, number: False), started.exists, more=command)
        self.assertEqual(finished.code, 130, finished)

    # What does not

    def test_errors_that_stay(self):
        self.assert_one_error(self.hostile(always(send(error(500, "it is broken")))), "given up after 4 tries",
                              "500: it is broken")
        self.assert_one_error(self.hostile(always(send(error(429, "go away", ["Retry-After: 86400"])))), "86400 s")

    def test_a_refusal_that_repeats_the_key(self):
        for status in (401, 403):
            server = self.hostile(always(send(error(status, f"Incorrect API key: {KEY}"))))
            self.assert_one_error(server, str(status), r"\[key\]", "BLACKBOX_KEY")
            self.assertEqual(len(server.requests), 1, "not tried again")

    def test_a_refusal_of_the_request(self):
        for status in (400, 404):
            server = self.hostile(always(send(error(status, "no such thing"))))
            self.assert_one_error(server, f"{status}: no such thing", "check")
            self.assertEqual(len(server.requests), 1, "not tried again")

    def test_a_wrong_content_type(self):
        server = self.hostile(always(send(http_answer(200, b"<html>Welcome to the hotel</html>", "text/html"))))
        self.assert_one_error(server, "text/html", "base_url")
        self.assertEqual(len(server.requests), 1)

    def test_answers_of_fifty_megabytes(self):
        for action in (fifty_megabytes, a_long_stream):
            server = self.hostile(always(action))
            self.assert_one_error(server, "33554432 bytes", "max_output_tokens")

    def test_stalls_that_stay(self):
        server = self.hostile(always(stall))
        before = time.monotonic()
        self.assert_one_error(server, "nothing for 0.5 s|nothing for")
        self.assertEqual(len(server.requests), 2)
        self.assertLess(time.monotonic() - before, 30)

    def test_a_redirect_to_another_host(self):
        thief = self.hostile(lambda connection, number: False)
        for api, path in APIS.items():
            for status in (301, 302, 307, 308):
                with self.subTest(api=api, status=status):
                    location = f"Location: http://localhost:{thief.port}{path}"
                    server = self.hostile(always(send(http_answer(status, b"", headers=[location]))))
                    self.assert_one_error(server, "redirect", f"localhost:{thief.port}", api=api)
        self.assertEqual(thief.requests, [], "nothing at all went there, least of all a key")
        location = f"Location: http://localhost:{thief.port}/{KEY}/?key={KEY}"
        self.assert_one_error(self.hostile(always(send(http_answer(307, b"", headers=[location])))), "redirect")

    def certificate(self, name, days):
        """A certificate authority, and a server's certificate by it that is good for so many days from now."""
        folder = self.folder / name
        folder.mkdir()

        def openssl(*arguments):
            done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

        (folder / "extensions").write_text("subjectAltName=IP:127.0.0.1\n", encoding="utf-8")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=a test's CA",
                "-days", "30")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem",
                "-days", str(days), "-extfile", "extensions")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        return folder / "ca.pem", context

    @unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificates")
    def test_certificates(self):
        ca, context = self.certificate("valid", 10)
        server = self.hostile(lambda connection, number: False, context)
        finished = self.search(server, scheme="https", more=f'ca_file = "{ca}"')
        self.assertEqual(finished.code, 0, finished)
        self.assert_one_error(server, "certificate", "trusted", scheme="https")  # by this machine's own authorities

        ca, context = self.certificate("expired", -1)
        server = self.hostile(lambda connection, number: False, context)
        self.assert_one_error(server, "certificate", "expired", scheme="https", more=f'ca_file = "{ca}"')
        self.assertEqual(server.requests, [], "nothing was said to it")

    def test_a_server_that_is_not_there(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        listener.close()
        self.assert_one_error(self, "no connection to 127.0.0.1", "check that the server runs")


if __name__ == "__main__":
    support.main()
