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
"answer" and "text" are null where the outcome is not "answered" ("status 500", "drop before", "stall middle", "garbage",
"unscripted", "unauthorized"). So the calls of a role are the lines with its name and the outcome "answered". A request that no
rule answers gets status 400, which no client tries again.
"""

import argparse
import json
import os
import pathlib
import re
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MARKERS = {role: f"You are the {role}" for role in ("planner", "executor", "fixer", "summarizer", "reviewer")}
CHUNK_CHARACTERS = 48
LONGEST_HOLD_SECONDS = 120


class Unscripted(Exception):
    """The script cannot answer this request; the text says why."""


def as_list(value):
    return value if isinstance(value, list) else [value]


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content


def block_under(heading, text):
    """The text of the first fenced block under the heading."""
    under = False
    fence = None
    lines = []
    for line in text.split("\n"):
        if fence is not None:
            if line.startswith(fence) and not line.strip("`"):
                return "".join(item + "\n" for item in lines)
            lines.append(line)
        elif line.startswith("# "):
            under = heading.lower() in line.lower()
        elif under and line.startswith("```"):
            fence = re.match("`+", line).group()
    raise Unscripted(f"no fenced block under a heading with {heading!r}")


class OpenAi:
    """Chat completions: the form that scripts, rules and the log are written in."""

    name = "openai"

    @staticmethod
    def key(headers):
        return headers.get("Authorization")

    @staticmethod
    def problem(headers, raw):
        return None if isinstance(raw.get("messages"), list) and raw.get("model") else "messages and model are required"

    @staticmethod
    def question(raw, path):
        return raw

    @staticmethod
    def error(status, message):
        return {"error": {"message": message}}

    @staticmethod
    def whole(model, text, reasoning, finish, usage):
        message = {"role": "assistant", "content": text} | ({"reasoning_content": reasoning} if reasoning else {})
        return {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "usage": usage,
                "choices": [{"index": 0, "message": message, "finish_reason": finish}]}

    @staticmethod
    def chunk(model, delta, finish=None):
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    @classmethod
    def said(cls, model, text, reasoning, usage):
        yield None, cls.chunk(model, {"role": "assistant", "content": ""})
        for key, whole in (("reasoning_content", reasoning), ("content", text)):
            for piece in pieces(whole):
                yield None, cls.chunk(model, {key: piece})

    @classmethod
    def end(cls, model, finish, usage, raw):
        yield None, cls.chunk(model, {}, finish)
        if usage is not None and (raw.get("stream_options") or {}).get("include_usage"):
            yield None, {"object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage}
        yield None, "[DONE]"


class Anthropic:
    """The Messages API."""

    name = "anthropic"
    FINISH = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
             429: "rate_limit_error", 529: "overloaded_error"}

    @staticmethod
    def key(headers):
        return f"Bearer {headers['x-api-key']}" if "x-api-key" in headers else None

    @staticmethod
    def problem(headers, raw):
        if headers.get("anthropic-version") != "2023-06-01":
            return "anthropic-version: header is required"
        if not isinstance(raw.get("max_tokens"), int):
            return "max_tokens: Field required"
        budget = (raw.get("thinking") or {}).get("budget_tokens", 0)
        if budget and not 1024 <= budget < raw["max_tokens"]:
            return "thinking.budget_tokens must be at least 1024 and less than max_tokens"
        if budget and raw.get("temperature", 1) != 1:
            return "temperature may only be set to 1 when thinking is enabled"
        if any(message["role"] not in ("user", "assistant") for message in raw.get("messages", [])):
            return "messages: roles are user and assistant"
        return None if raw.get("messages") else "messages: at least one message is required"

    @staticmethod
    def question(raw, path):
        system = [{"role": "system", "content": raw["system"]}] if raw.get("system") else []
        return {"model": raw.get("model"), "stream": raw.get("stream", False), "messages": system + raw.get("messages", [])}

    @classmethod
    def error(cls, status, message):
        return {"type": "error", "error": {"type": cls.TYPES.get(status, "api_error"), "message": message}}

    @staticmethod
    def counts(usage):
        usage = usage or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return {"input_tokens": usage.get("prompt_tokens", 0) - cached, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0, "output_tokens": usage.get("completion_tokens", 0)}

    @classmethod
    def whole(cls, model, text, reasoning, finish, usage):
        thinking = [{"type": "thinking", "thinking": reasoning, "signature": "s"}] if reasoning else []
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": cls.FINISH[finish],
                "content": thinking + [{"type": "text", "text": text}], "usage": cls.counts(usage)}

    @classmethod
    def said(cls, model, text, reasoning, usage):
        yield "message_start", {"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
            "usage": cls.counts(usage) | {"output_tokens": 1}}}
        yield "ping", {"type": "ping"}
        blocks = [("thinking", "thinking_delta", reasoning)] if reasoning else []
        for index, (kind, delta, whole) in enumerate([*blocks, ("text", "text_delta", text)]):
            yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}
            for piece in pieces(whole):
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": {"type": delta, kind: piece}}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}

    @classmethod
    def end(cls, model, finish, usage, raw):
        yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": cls.FINISH[finish], "stop_sequence": None},
                                "usage": {"output_tokens": cls.counts(usage)["output_tokens"]}}
        yield "message_stop", {"type": "message_stop"}


class Gemini:
    """generateContent."""

    name = "gemini"
    FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
                429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}

    @staticmethod
    def key(headers):
        return f"Bearer {headers['x-goog-api-key']}" if "x-goog-api-key" in headers else None

    @staticmethod
    def problem(headers, raw):
        known = {"contents", "systemInstruction", "generationConfig"}
        if unknown := set(raw) - known:
            return f"Invalid JSON payload received. Unknown name {sorted(unknown)[0]!r}: Cannot find field."
        if any(content.get("role") not in ("user", "model") for content in raw.get("contents", [])):
            return "Please use a valid role: user, model."
        return None if raw.get("contents") else "contents is not specified"

    @staticmethod
    def question(raw, path):
        def text(content):
            return "".join(part.get("text", "") for part in content.get("parts", []))

        system = [{"role": "system", "content": text(raw["systemInstruction"])}] if "systemInstruction" in raw else []
        roles = {"user": "user", "model": "assistant"}
        return {"model": path.split("/models/")[1].split(":")[0], "stream": ":streamGenerateContent" in path,
                "messages": system + [{"role": roles[c["role"]], "content": text(c)} for c in raw.get("contents", [])]}

    @classmethod
    def error(cls, status, message):
        return {"error": {"code": status, "message": message, "status": cls.STATUSES.get(status, "UNKNOWN")}}

    @staticmethod
    def counts(usage):
        usage = usage or {}
        thoughts = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
        return {"promptTokenCount": usage.get("prompt_tokens", 0), "thoughtsTokenCount": thoughts,
                "candidatesTokenCount": usage.get("completion_tokens", 0) - thoughts,
                "cachedContentTokenCount": (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)}

    @staticmethod
    def chunk(model, parts):
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": model}

    @classmethod
    def whole(cls, model, text, reasoning, finish, usage):
        thoughts = [{"text": reasoning, "thought": True}] if reasoning else []
        value = cls.chunk(model, [*thoughts, {"text": text}]) | {"usageMetadata": cls.counts(usage)}
        value["candidates"][0]["finishReason"] = cls.FINISH[finish]
        return value

    @classmethod
    def said(cls, model, text, reasoning, usage):
        for piece in pieces(reasoning):
            yield None, cls.chunk(model, [{"text": piece, "thought": True}])
        for piece in pieces(text):
            yield None, cls.chunk(model, [{"text": piece}])

    @classmethod
    def end(cls, model, finish, usage, raw):
        value = cls.chunk(model, [{"text": ""}]) | {"usageMetadata": cls.counts(usage)}
        value["candidates"][0]["finishReason"] = cls.FINISH[finish]
        yield None, value


def api_of(path):
    """Which API a path belongs to, or None."""
    path = path.split("?")[0]
    if path.endswith("/chat/completions"):
        return OpenAi
    if path.endswith("/messages"):
        return Anthropic
    return Gemini if re.search(r"/models/[^/:]+:(streamGenerateContent|generateContent)$", path) else None


def pieces(text):
    return (text[at:at + CHUNK_CHARACTERS] for at in range(0, len(text), CHUNK_CHARACTERS))


class Question:
    """One request, with what rules may ask about it."""

    def __init__(self, body, numbers):
        self.body = body
        self.messages = body.get("messages", [])
        self.text = "\n".join(text_of(message) for message in self.messages)
        self.user = next((text_of(m) for m in self.messages if m.get("role") == "user"), "")
        self.again = any(message.get("role") == "assistant" for message in self.messages)
        self.numbers = numbers  # request, turn, answer, role

    def fits(self, when):
        tests = {
            "contains": lambda want: all(part in self.text for part in as_list(want)),
            "lacks": lambda want: all(part not in self.text for part in as_list(want)),
            "matches": lambda want: all(re.search(part, self.text, re.MULTILINE) for part in as_list(want)),
            "request": lambda want: self.numbers["request"] in as_list(want),
            "turn": lambda want: self.numbers["turn"] in as_list(want),
            "answer": lambda want: self.numbers["answer"] in as_list(want),
            "every": lambda want: self.numbers["request"] % want == 0,
            "again": lambda want: self.again == want,
        }
        return all(tests[key](want) for key, want in when.items())

    def fill(self, text, rule):
        values = {name: str(value) for name, value in self.numbers.items()}
        for name, pattern in rule.get("capture", {}).items():
            found = re.search(pattern, self.text, re.MULTILINE)
            if not found:
                raise Unscripted(f"nothing in the request matches the capture {name!r}")
            values[name] = found.group(1)
        if "edit" in rule:
            values["edited"] = self.edit(**rule["edit"])

        def value(match):
            name = match.group(1)
            if name.startswith("block:"):
                return block_under(name.removeprefix("block:"), self.user)
            return values.get(name, match.group(0))

        return re.sub(r"\$\{([^}]+)\}", value, text)

    def edit(self, block, replace):
        text = block_under(block, self.user)
        for pattern, replacement in replace.items() if isinstance(replace, dict) else replace:
            text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
            if count == 0:
                raise Unscripted(f"nothing under {block!r} matches the edit {pattern!r}")
        return text


class Script:
    """Picks what happens to each request, and writes the log."""

    def __init__(self, path, log):
        self.folder = pathlib.Path(path).resolve().parent
        self.script = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        known = {"model", "key", "failures", "roles", "markers"}
        if unknown := set(self.script) - known:
            raise SystemExit(f"chat_server: unknown keys in the script: {sorted(unknown)}")
        self.markers = MARKERS | self.script.get("markers", {})
        self.model = self.script.get("model", "scripted")
        self.log = open(log, "a", encoding="utf-8") if log else None
        self.lock = threading.Lock()
        self.requests = 0
        self.turns = {}
        self.answers = {}
        self.used = {}

    def role_of(self, body):
        system = "\n".join(text_of(m) for m in body.get("messages", []) if m.get("role") in ("system", "developer"))
        return next((role for role, marker in self.markers.items() if marker in system), "unknown")

    def accepts(self, authorization):
        return self.script.get("key") is None or authorization == f"Bearer {self.script['key']}"

    def decide(self, path, authorization, body, api=OpenAi, raw=None):
        """The rule that applies, its answer's text (or None), and the outcome; all counted and logged as one step."""
        with self.lock:
            role = self.role_of(body)
            self.requests += 1
            self.turns[role] = self.turns.get(role, 0) + 1
            numbers = {"request": self.requests, "turn": self.turns[role], "answer": self.answers.get(role, 0) + 1, "role": role}
            question = Question(body, numbers)
            name, rule, text, outcome = None, {}, None, "unauthorized"
            if self.accepts(authorization):
                try:
                    name, rule = self.pick(role, question)
                    outcome = self.outcome_of(rule)
                    if outcome == "answered" or "middle" in outcome:
                        text = question.fill(self.text_of_rule(name, rule), rule)
                except Unscripted as problem:
                    outcome, rule = "unscripted", {"fail": {"status": 400, "message": f"the script has no answer: {problem}"}}
            else:
                rule = {"fail": {"status": 401, "message": "Incorrect API key provided"}}
            if name is not None and outcome != "unscripted":
                self.used[name] = self.used.get(name, 0) + 1
            answered = outcome == "answered"
            if answered:
                self.answers[role] = numbers["answer"]
            self.write({**numbers, "answer": numbers["answer"] if answered else None, "rule": name, "outcome": outcome,
                        "again": question.again, "authorization": authorization, "path": path, "api": api.name, "body": body,
                        "raw": None if raw is body else raw, "text": text if answered else None})
            return rule, text, outcome

    def pick(self, role, question):
        groups = [("failures", self.script.get("failures", [])), (role, self.script.get("roles", {}).get(role, []))]
        for group, rules in groups:
            for index, rule in enumerate(rules):
                name = f"{group}[{index}]"
                if self.used.get(name, 0) < rule.get("times", float("inf")) and question.fits(rule.get("when", {})):
                    return name, rule
        raise Unscripted(f"no rule applies to request {question.numbers['request']} of the {role}")

    @staticmethod
    def outcome_of(rule):
        fail = rule.get("fail")
        if fail is None:
            return "answered"
        for kind in ("drop", "stall"):
            if kind in fail:
                return f"{kind} {fail[kind]}"
        return "garbage" if "garbage" in fail else f"status {fail['status']}"

    def text_of_rule(self, name, rule):
        if "text_file" in rule:
            return (self.folder / rule["text_file"]).read_text(encoding="utf-8")
        if "texts" in rule:
            return rule["texts"][min(self.used.get(name, 0), len(rule["texts"]) - 1)]
        return "\n".join(as_list(rule.get("text", "an answer that breaks off")))

    def write(self, entry):
        if self.log:
            self.log.write(json.dumps(entry) + "\n")
            self.log.flush()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = self.path.split("?")[0].rstrip("/")
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
