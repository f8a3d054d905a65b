#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scripted language model behind a real HTTP server that speaks chat completions, the Messages API (POST .../messages)
and generateContent (POST .../models/NAME:streamGenerateContent?alt=sse or :generateContent), streamed or whole.

    chat_server.py --script script.json --log requests.jsonl [--until-stdin-closes]

It binds a free port of 127.0.0.1, prints the port as one line, and serves until it is terminated (or until its standard
input is closed). Python 3.11, standard library only.

The script is one JSON object:

    {
      "model": "scripted",            name in answers and in GET /v1/models
      "key": "sk-test",               optional: requests with another key get 401
      "failures": [RULE, ...],        tried first, on every request, whatever its role; each needs "fail"
      "roles": {                      which answers a request gets, by the role that its system message names
        "planner": [RULE, ...],       the first rule that applies answers
        "executor": [RULE, ...], ...
      },
      "markers": {"planner": "You are the planner", ...}    optional: what in the system message tells the role
    }

A RULE is an object. Which requests it applies to:

    "when": {
      "contains": "text" or [...],    all of them stand in the request's messages
      "lacks": "text" or [...],       none of them does
      "matches": "regex" or [...],    all of them are found
      "request": 3 or [3, 4],         the number of the request on this server, from 1, failed ones included
      "turn": 1 or [...],             the number of the request among those of its role, from 1, failed ones included
      "answer": 1 or [...],           the number that its answer would have among the answers of its role, from 1
      "every": 5,                     the number of the request is a multiple of it
      "again": true or false,         the conversation holds an answer already: it was asked once more
    }
    "times": 2                        how often the rule applies at most

What it does, one of:

    "text": "..." or ["line", ...]    the answer
    "texts": ["first", ..., "last"]   an answer for each time that the rule applies, the last one again and again
    "text_file": "answer.txt"         the answer, from a file beside the script
    "fail": {"status": 500, "message": "...", "headers": {"Retry-After": "1"}}
    "fail": {"drop": "before"}        the connection breaks before the answer; "middle": in the middle of it
    "fail": {"stall": "before"}       silence before the answer ("middle": in it) until the client goes away
    "fail": {"garbage": "not json"}   status 200 and this body

In the answer's text ${NAME} is replaced: ${role} ${request} ${turn} ${answer}; each name of "capture"; ${block:HEADING} by the
text of the first fenced block under a heading that holds HEADING (any case): a line of the user's first message that begins
with "# "; ${edited} by what "edit" makes. A dollar sign that begins none of these stays.

    "capture": {"title": "^Title: (.*)$"}       first group of the first match in all messages; flags MULTILINE
    "edit": {"block": "the kernel", "replace": [["regex", "replacement"], ...]}     on such a block, flags MULTILINE;
                                                an object instead of the list of pairs will do; a regex that is not
                                                found is answered with status 400

and how:

    "finish": "stop" | "length" | "content_filter"
    "usage": {"prompt_tokens": 10, ...}         replaces the made-up one (a token for four characters); null: none is sent
    "reasoning": "..."                          sent as reasoning_content before the answer
    "stream": false                             a whole answer though a stream was asked for
    "delay_seconds": 0.2                        before the answer
    "hold_until": "path"                        waits until this file exists, at most two minutes

The log has one JSON line a request, written before a byte of its answer is sent:

    {"request": 7, "role": "planner", "turn": 3, "answer": 2, "rule": "planner[0]", "outcome": "answered", "again": false,
     "authorization": "Bearer ...", "path": "/v1/chat/completions", "body": {...}, "text": "..."}

"body" is always the chat-completions form of what was asked, "api" what it came as ("openai", "anthropic", "gemini"), and "raw"
the body that came, where that is another; "authorization" is "Bearer KEY" however the key was sent.
GET /settled is answered when every connection that was made before it has ended: once a client is dead, the log then holds all
that it asked.

"answer" and "text" are null where the outcome is not "answered" ("status 500", "drop before", "stall middle", "garbage",
"unscripted", "unauthorized"). So the calls of a role are the lines with its name and the outcome "answered". A request that no
rule answers gets status 400, which no client tries again.
"""

import argparse
import json
import os
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chat_rules import Script, text_of
from chat_wires import Anthropic, Gemini, OpenAi, api_of

LONGEST_HOLD_SECONDS = 120


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = self.path.split("?")[0].rstrip("/")
        if path == "/settled":
            self.server.wait_for_others()
            self.send_json(200, {})
            return
        key = next((key for key in (api.key(self.headers) for api in (OpenAi, Anthropic, Gemini)) if key), None)
        if not self.script.accepts(key):
            self.send_json(401, {"error": {"message": "Incorrect API key provided"}})
        elif path.endswith("/models"):
            self.send_json(200, {"object": "list", "data": [{"id": self.script.model, "object": "model"}]})
        elif path.endswith("/models/" + self.script.model):
            self.send_json(200, {"id": self.script.model, "name": "models/" + self.script.model, "type": "model"})
        else:
            self.send_json(404, {"error": {"message": f"unknown path {self.path}"}})

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.api = api_of(self.path)
        if self.api is None:
            self.send_json(404, {"error": {"message": f"unknown path {self.path}"}})
            return
        try:
            raw = json.loads(data)
        except ValueError:
            self.send_json(400, self.api.error(400, "the body is not JSON"))
            return
        if problem := self.api.problem(self.headers, raw):
            self.send_json(400, self.api.error(400, problem))
            return
        body = self.api.question(raw, self.path)
        rule, text, outcome = self.script.decide(self.path, self.api.key(self.headers), body, self.api, raw)
        self.wait(rule)
        if outcome == "answered":
            self.answer(rule, text, body, raw)
        else:
            self.fail(rule["fail"], rule, text, body)

    @staticmethod
    def wait(rule):
        time.sleep(rule.get("delay_seconds", 0))
        if "hold_until" in rule:
            deadline = time.monotonic() + LONGEST_HOLD_SECONDS
            while not os.path.exists(rule["hold_until"]) and time.monotonic() < deadline:
                time.sleep(0.02)

    def send_json(self, status, value, headers=None):
        self.send_whole(status, "application/json", json.dumps(value).encode(), headers or {})

    def send_whole(self, status, kind, data, headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def usage(self, rule, text, body):
        if "usage" in rule:
            return rule["usage"]
        asked = sum(len(text_of(message)) for message in body.get("messages", [])) // 4
        said = len(text + rule.get("reasoning", "")) // 4
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}

    def answer(self, rule, text, body, raw):
        usage = self.usage(rule, text, body)
        finish = rule.get("finish", "stop")
        reasoning = rule.get("reasoning", "")
        model = self.script.model
        if not body.get("stream") or rule.get("stream") is False:
            self.send_json(200, self.api.whole(model, text, reasoning, finish, usage))
            return
        self.begin_stream()
        for event in self.api.said(model, text, reasoning, usage):
            self.send_event(*event)
        for event in self.api.end(model, finish, usage, raw):
            self.send_event(*event)
        self.wfile.write(b"0\r\n\r\n")

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_event(self, name, value):
        data = value if isinstance(value, str) else json.dumps(value)
        self.send_piece((f"event: {name}\n" if name else "").encode() + b"data: " + data.encode() + b"\n\n")

    def send_piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def fail(self, fail, rule, text, body):
        if "status" in fail:
            self.send_json(fail["status"], self.api.error(fail["status"], fail.get("message", "scripted failure")),
                           fail.get("headers", {}))
            return
        if "garbage" in fail:
            self.send_whole(200, "application/json", fail["garbage"].encode(), {})
            return
        if "middle" in (fail.get("drop"), fail.get("stall")):
            events = list(self.api.said(self.script.model, text, rule.get("reasoning", ""), self.usage(rule, text, body)))
            self.begin_stream()
            for event in events[:(len(events) + 1) // 2]:
                self.send_event(*event)
            self.wfile.flush()
        if "stall" in fail:
            select.select([self.connection], [], [])  # readable when the client goes away
        else:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.wfile = open(os.devnull, "wb")  # nothing more is said on this connection
        self.connection.close()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.open_connections = 0
        self.connection_ended = threading.Condition()

    def process_request(self, request, client_address):
        with self.connection_ended:  # in the order in which connections were made: one thread accepts them
            self.open_connections += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.connection_ended:
                self.open_connections -= 1
                self.connection_ended.notify_all()

    def wait_for_others(self):
        """Returns when the connection that asks is the only one."""
        with self.connection_ended:
            self.connection_ended.wait_for(lambda: self.open_connections == 1)

    def handle_error(self, request, client_address):
        # A client that goes away is part of the play; anything else is a fault of this program.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def shutdown_request(self, request):
        try:
            super().shutdown_request(request)
        except OSError:
            pass  # closed already, on purpose


def main():
    parser = argparse.ArgumentParser(description="A scripted chat-completions server for tests.")
    parser.add_argument("--script", required=True, help="what to answer: see the top of this file")
    parser.add_argument("--log", help="where to write one JSON line a request")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when standard input is closed")
    arguments = parser.parse_args()
    Handler.script = Script(arguments.script, arguments.log)
    server = Server(("127.0.0.1", 0), Handler)
    if arguments.until_stdin_closes:
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
