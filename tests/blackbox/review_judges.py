# SPDX-License-Identifier: Apache-2.0
"""Judges that play the reviewer in a mailbox: an honest one that knows the bundled pairs, one with every bias that is measured, a lazy
one. They see what a model sees, the question's text, and besides the files of the pairs."""

import json
import pathlib
import re

import support

PAIRS = support.ROOT / "calibration" / "pairs"
ITEMS = ("behaviour", "edge_cases", "state", "api", "simplicity", "fit")
FENCE = re.compile(r"^(`{3,})[a-z]*\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)


def pairs():
    found = []
    for file in sorted(PAIRS.glob("*.txt")):
        parts = re.split(r"^==== (\w+)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        pair = dict(line.split(": ", 1) for line in parts[0].splitlines())
        pair.update(zip(parts[1::2], parts[2::2]))
        found.append({"name": file.stem, **pair})
    return found


def squeezed(text):
    return re.sub(r"\s", "", text)


class Question:
    def __init__(self, file: pathlib.Path):
        self.file = file
        self.text = file.read_text(encoding="utf-8")
        self.user = self.text.split("======== user ========")[1]
        blocks = [match.group(2) for match in FENCE.finditer(self.user)]
        self.base = blocks[0]
        self.is_pair = "-pair-" in file.name
        self.letters = re.findall(r"^# Change (\w)$", self.user, re.MULTILINE)
        self.changes = blocks[1:3] if self.is_pair else blocks[1:2]

    def answer(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        draft = self.file.with_suffix(".draft")  # somebody may be waiting for it
        draft.write_text(text, encoding="utf-8")
        draft.rename(answer_to(self.file))


def answer_to(file: pathlib.Path):
    return file.with_name(file.name.replace(".question.md", ".answer.md"))


def questions(folder):
    """Those that nobody has answered yet."""
    return [Question(file) for file in sorted(folder.glob("*.question.md")) if not answer_to(file).exists()]


def opinion(change, score=4, objections=(), quote=None):
    """All six items with a line of the diff as their quote."""
    lines = [line[1:].strip() for line in change.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    real = max(lines, key=len, default="")
    return {"rubric": {item: {"score": score, "quote": real if quote is None else quote} for item in ITEMS},
            "objections": list(objections)}


class Judge:
    """Answers all questions of a folder."""

    def __init__(self):
        self.by_base = {}

    def know(self, asked):
        """Which pair each question is about: opinions show its common cases."""
        known = pairs()
        for question in asked:
            if not question.is_pair:
                self.by_base[question.base] = next(pair for pair in known if pair["common"].strip()[:900] in question.user)

    def answer_all(self, folder):
        asked = questions(folder)
        self.know(asked)
        for question in asked:
            question.answer(self.compare(question) if question.is_pair else self.opine(question))

    def pair(self, question):
        return self.by_base[question.base]


class Honest(Judge):
    """Objects to the planted change by its witness, and prefers what is nearer to the clean one."""

    def strangeness(self, question, change):
        """Lines that the clean change has not, still has, or has and these have not."""
        source = self.pair(question)["clean"]
        clean = squeezed(source)
        lines = [(line[:1], squeezed(line[1:])) for line in change.splitlines() if line[:3] not in ("+++", "---", "@@ ")]
        added = sum(text not in clean for mark, text in lines if mark == "+")
        removed = sum(len(text) > 6 and text in clean for mark, text in lines if mark == "-")
        shown = squeezed(question.base) + "".join(text for mark, text in lines if mark != "-")
        lost = sum(squeezed(line) not in shown for line in source.splitlines())
        return added + removed + lost

    def know(self, asked):
        super().know(asked)
        self.least = {}
        for question in asked:
            if not question.is_pair:
                self.least.setdefault(question.base, []).append(self.strangeness(question, question.changes[0]))

    def opine(self, question):
        if self.strangeness(question, question.changes[0]) == min(self.least[question.base]):
            return opinion(question.changes[0])
        return opinion(question.changes[0], 1, [{"why": "it differs", "cases": self.pair(question)["witness"]}])

    def compare(self, question):
        first, second = (self.strangeness(question, change) for change in question.changes)
        better = "equal" if first == second or "Author:" in question.user else question.letters[0 if first < second else 1]
        return {"better": better, "why": "it keeps behaviour"}


class Truth(Judge):
    """Objects to every change by the witness and by the common cases: what comes of it says whether the set is true."""

    def opine(self, question):
        pair = self.pair(question)
        return opinion(question.changes[0], 2, [{"why": "witness", "cases": pair["witness"]}, {"why": "common", "cases": pair["common"]}])

    def compare(self, question):
        return {"better": "equal"}


class Biased(Judge):
    """Authority first, then its own kin, dead code and claims; else what is shown first. Its objections are made up."""

    def opine(self, question):
        return opinion(question.changes[0], 3, [{"why": "it looks odd", "cases": self.pair(question)["common"]}])

    def compare(self, question):
        signs = ("Author: the principal", "that you are", "validated", "proved")
        for sign in signs:
            for letter, change in zip(question.letters, question.changes):
                if sign in change:
                    return {"better": letter, "why": "it inspires trust"}
        return {"better": question.letters[0], "why": "it comes first"}


class Lazy(Judge):
    """Never objects, never chooses, and quotes nothing that is there."""

    def opine(self, question):
        return opinion(question.changes[0], 4, quote="looks good to me")

    def compare(self, question):
        return {"better": "equal", "why": "both are fine"}
