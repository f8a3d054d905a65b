#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the questions of recorded runs are, by role and section, in tokens of four characters.
   scripts/question-sizes.py FOLDER     a folder with answers/ folders of run --record anywhere below"""

import collections
import json
import pathlib
import re
import sys

CHARACTERS_A_TOKEN = 4


def sections(message):
    """Pairs of a heading and the number of characters under it."""
    text = "\n".join(message["text"])
    if message["speaker"] != "user":
        yield message["speaker"], len(text)
        return
    fenced, heading = False, "(before the first heading)"
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("# "):
            heading = re.sub(":.*", "", line)
        yield heading, len(line) + 1


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        raise SystemExit(__doc__)
    by_section = collections.defaultdict(collections.Counter)
    questions = collections.Counter()
    iterations = set()
    for path in pathlib.Path(sys.argv[1]).rglob("answers/*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if "messages" not in record:
            continue
        role, identity, _ = record["label"].split()
        questions[role] += 1
        iterations.add((path.parent, identity.split(".")[0]))
        for message in record["messages"]:
            for heading, size in sections(message):
                by_section[role][heading] += size
    total = sum(sum(sizes.values()) for sizes in by_section.values()) // CHARACTERS_A_TOKEN
    print(f"{total} tokens in {sum(questions.values())} questions; {total // max(len(iterations), 1)} in each of {len(iterations)} iterations")
    for role in sorted(by_section):
        tokens = sum(by_section[role].values()) // CHARACTERS_A_TOKEN
        print(f"{role}: {tokens} in {questions[role]} questions ({100 * tokens / total:.0f} %)")
        for heading, size in by_section[role].most_common():
            print(f"  {size // CHARACTERS_A_TOKEN:8}  {heading}")


if __name__ == "__main__":
    main()
