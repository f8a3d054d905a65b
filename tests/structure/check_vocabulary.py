#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vocabularies are enums with one table of names each (src/model/vocabulary.hpp): nobody else compares with a name, or steers
a run by an error code (src/base/outcome.hpp). Prints every violation and exits with 1 if there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / "src" / "model" / "vocabulary.hpp"


def names_of(enum: str) -> str:
    """The names in the table of an enum, as alternatives of a regular expression."""
    table = TABLES.read_text(encoding="utf-8").split(f"struct Names<{enum}>")[1].split("}};")[0]
    names = re.findall(r'"(\w+)"\}', table)
    assert names, enum
    return "|".join(names)


def patterns() -> dict[str, re.Pattern]:
    steps, status, ends = names_of("StepKind"), names_of("RunStatus"), names_of("EndReason")
    operations, stages, kinds = names_of("Operation"), names_of("Stage"), names_of("EvaluationKind")
    protocols, agents, roles = names_of("Protocol"), names_of("AgentRole"), names_of("Role")
    compared = r'(?:==|!=|=)\s*"(?:{})"'
    return {
        "a kind of step": re.compile(rf'\bkind\s*{compared.format(steps)}|\bkind\.(?:starts_with|substr)\(|"(?:{steps}):"'),
        "a status of a run": re.compile(rf'\bstatus\s*{compared.format(status)}'),
        "why a run ended": re.compile(rf'\b(?:stopped_by_?|ended_by_?)\s*{compared.format(ends)}|starts_with\("max_'),
        "a protocol": re.compile(rf'\bprotocol\s*{compared.format(protocols)}'),
        "a request": re.compile(rf'"op"\s*,\s*"(?:{operations})"|\bop\s*(?:==|!=)\s*"(?:{operations})"|\("op", ""\)\s*[!=]='),
        "a kind of evaluation": re.compile(rf'\bblank_evaluation\(.*"(?:{kinds})"|\bevaluation\.kind\s*{compared.format(kinds)}'),
        "a stage": re.compile(rf'\bStageClock\b.*"(?:{stages})"|\bstages\b.*\{{\s*"(?:{stages})"|\bstage(?:\.\w+)?\s*[!=]=\s*"'),
        "how a race ended": re.compile(rf'\bdecided_by\s*{compared.format(names_of("DecidedBy"))}'),
        "a configuration's fate": re.compile(rf'\bfate\s*{compared.format(names_of("TunedFate"))}'),
        "a role": re.compile(rf'\brole\s*(?:==|!=)\s*"(?:{agents}|{roles})"|"(?:{agents})"'),
    }


STEERING = re.compile(r"error\(\)\.code\s*(?:==|!=)\s*(?:base::)?ErrorCode::(?:cancelled|not_found)")


def violations(name: str, text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0] if not line.lstrip().startswith("//") else ""
        for what, pattern in patterns_once.items():
            if pattern.search(code):
                found.append(f"{name}:{number}: {what} by its name; use the enum")
        if name.startswith("src/search/") and STEERING.search(code):
            found.append(f"{name}:{number}: a search goes on by why an outcome has no value, not by an error's code")
    return found


patterns_once = patterns()


def check_self_test(problems: list[str]) -> None:
    """The check itself must be able to fail."""
    bad = ['if (run.status == "done") x();', 'if (step.key.kind.starts_with("x")) y();', 'settings.protocol = "paper";',
           'if (reason.starts_with("max_")) z();', 'authors["planner"] = 1;', 'once({{}, "build:" + id});',
           'if (op == "build") x();', 'Json build = {{"op", "build"}};', 'if (item.value("op", "") == name) x();',
           'auto e = blank_evaluation(measuring, kernel, "triage");', 'const StageClock clock(measuring, evaluation, "verify");',
           'e.stages.push_back({"tune", 1.0});', 'if (e.decided_by == "futility") x();', 'one.fate = "failed";']
    for line in bad:
        if not violations("src/app/x.cpp", line):
            problems.append(f"check_vocabulary.py: does not see {line}")
    if not violations("src/search/x.cpp", "if (a.error().code == ErrorCode::cancelled) b();"):
        problems.append("check_vocabulary.py: does not see steering by a code")


def main() -> int:
    problems: list[str] = []
    check_self_test(problems)
    for file in sorted((ROOT / "src").rglob("*.[ch]pp")):
        # The device server has a protocol of its own, whose requests only its two ends know.
        if file == TABLES or file.is_relative_to(ROOT / "src" / "devices"):
            continue
        problems += violations(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
