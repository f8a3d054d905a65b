# SPDX-License-Identifier: Apache-2.0
"""What the scripted model answers in the black-box tests: plans, kernels that are right, broken and wrong, and lessons."""

from support import FASTER

MODEL = "scripted"
LESSON_TITLE = "Walk both operands along their rows"

UNROLLED = "//@ flags -funroll-loops\n" + FASTER
WIDER = FASTER.replace("float row[N] = {};", "alignas(64) float row[N] = {};")
DOES_NOT_COMPILE = FASTER.replace("float row[N] = {};", "float rwo[N] = {};")
WRONG = FASTER.replace("y[i * N + j] = row[j];", "y[i * N + j] = i + 1 == M && j + 1 == N ? 0.0f : row[j];")
STILL_WRONG = FASTER.replace("float row[N] = {};", "float row[N] = {0.5f};")


def fenced(source):
    return "The whole file:\n\n```cpp\n" + source + "```\n"


def plan(title, rests_on="none"):
    return f"Title: {title}\nRests on: {rests_on}\nExchange the two inner loops and keep one row of sums in an array."


def script(key=None, failures=(), **extra):
    """A model with which a run has: one plan that must be asked for again, an executor that breaks the build once and
    the result once, a fixer whose first answer is wrong too, and a lesson for each pair. Every other answer is good."""
    roles = {
        "planner": [
            {"when": {"answer": 2, "again": False}, "times": 1, "text": "I would exchange the loops."},
            {"when": {"contains": LESSON_TITLE}, "text": plan("Unroll what is left, as before ${answer}", "e1")},
            {"text": plan("Exchange the two inner loops ${answer}")},
        ],
        "executor": [
            {"when": {"answer": 1}, "times": 1, "text": fenced(DOES_NOT_COMPILE)},
            {"when": {"answer": 2}, "times": 1, "text": fenced(WRONG)},
            {"texts": [fenced(FASTER), fenced(UNROLLED), fenced(WIDER)]},
        ],
        "fixer": [
            {"when": {"answer": 1}, "times": 1, "text": fenced(STILL_WRONG)},
            {"text": fenced(FASTER)},
        ],
        "summarizer": [
            {"text": '{"title": "' + LESSON_TITLE + '", "strategy": "Exchange loops until the innermost is contiguous.", '
                     '"before": "for j for k sum += a[i][k] * b[k][j]", "after": "for k for j row[j] += a[i][k] * b[k][j]"}'},
        ],
    }
    for role, rule in extra.items():
        roles[role] = rule + roles[role]
    return {"model": MODEL, "roles": roles, "failures": list(failures)} | ({"key": key} if key else {})


def steady_kernel(text):
    """An answer for the steady worker, which takes what a source says of itself for true."""
    return fenced(text + "\nvoid kernel() {}\n")


def steady_script(key=None, failures=(), **extra):
    """The script above for the steady worker: a broken build, a wrong result, a mend that is wrong, kernels that are faster."""
    roles = {
        "executor": [
            {"when": {"answer": 1}, "times": 1, "text": steady_kernel("compile_error speed=2")},
            {"when": {"answer": 2}, "times": 1, "text": steady_kernel("wrong speed=2")},
            {"texts": [steady_kernel(f"speed={speed}") for speed in (2, 2.5, 3)]},
        ],
        "fixer": [
            {"when": {"answer": 1}, "times": 1, "text": steady_kernel("wrong speed=2.1")},
            {"text": steady_kernel("speed=2.2")},
        ],
    }
    return script(key, failures, **(extra | {role: extra.get(role, []) + rules for role, rules in roles.items()}))


# Failed attempts of the script above: the broken build and the wrong result, and the first answer to one of them.
FIXER_CALLS = 3
ASKED_AGAIN = 1
