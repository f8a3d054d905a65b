# SPDX-License-Identifier: Apache-2.0
"""What the scripted model answers: the rules of a script (the top of chat_server.py tells their form), and the log."""

import json
import pathlib
import re
import threading

from chat_wires import OpenAi

MARKERS = {role: f"You are the {role}" for role in ("planner", "executor", "fixer", "summarizer", "reviewer", "tester")}


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
                        self.used[name] = self.used.get(name, 0) + 1
                        text = self.with_the_rest(role, question, text)
                except Unscripted as problem:
                    outcome, rule = "unscripted", {"fail": {"status": 400, "message": f"the script has no answer: {problem}"}}
            else:
                rule = {"fail": {"status": 401, "message": "Incorrect API key provided"}}
            if name is not None and text is None and outcome != "unscripted":
                self.used[name] = self.used.get(name, 0) + 1
            answered = outcome == "answered"
            if answered:
                self.answers[role] = numbers["answer"]
            self.write({**numbers, "answer": numbers["answer"] if answered else None, "rule": name, "outcome": outcome,
                        "again": question.again, "authorization": authorization, "path": path, "api": api.name, "body": body,
                        "raw": None if raw is body else raw, "text": text if answered else None})
            return rule, text, outcome

    def with_the_rest(self, role, question, text):
        """One answer to a question for several plans or about several changes, made of as many answers of the script. One
        that is no plan stands alone."""
        plans = re.search(r"^Write (\d+) plans", question.user, re.MULTILINE) if role == "planner" else None
        changes = re.findall(r"^Change \d+$", question.user, re.MULTILINE) if role == "summarizer" else []
        texts = [text]
        while len(texts) < max(int(plans.group(1)) if plans else 1, len(changes)):
            question.numbers["answer"] += 1
            name, rule = self.pick(role, question)
            if self.outcome_of(rule) != "answered":
                break
            texts.append(question.fill(self.text_of_rule(name, rule), rule))
            self.used[name] = self.used.get(name, 0) + 1
        if plans:
            if broken := [one for one in texts if "Title:" not in one]:
                return broken[0]
            seen = set()
            for number, one in enumerate(texts):  # plans of one answer have different titles
                title = re.search("Title:.*", one).group()
                texts[number] = one.replace(title, title + " once more" * number) if title in seen else one
                seen.add(title)
        elif len(changes) > 1:
            texts = [re.sub(r"^\s*\{", '{"change": %d, ' % (number + 1), one) for number, one in enumerate(texts)]
        return "\n".join(texts)

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
