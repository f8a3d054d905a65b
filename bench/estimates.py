#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are estimates true? Ten runs of the installed program against a scripted model whose answers vary in length and latency; how
often the truth lies in the range that was predicted.

    python3 bench/estimates.py FOLDER-OF-ACCELOPT [--runs N] [--seed S]

The first run of the workspace is predicted from the prompts and the settings alone; the others also from the runs before them.
Prints one line a figure, PASS or FAIL, and exits accordingly.
"""

import argparse
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "blackbox"))

import chat_script  # noqa: E402
import support  # noqa: E402

QUANTITIES = ("calls", "tokens", "usd", "evaluations", "device_seconds", "wall_seconds")
BOUND = 8  # of ten


def script_of(draw):
    """A model that is better, quicker and briefer on one day than on another."""
    delay = draw.lognormvariate(-1.5, 0.5)
    broken = draw.uniform(0, 0.4)

    def spoken(text):
        return text + "\n" + "Because rows are contiguous. " * int(draw.lognormvariate(2.5, 0.8))

    def kernel():
        if draw.random() < broken:
            return chat_script.fenced(draw.choice([chat_script.DOES_NOT_COMPILE, chat_script.WRONG]))
        factor = draw.randrange(3, 400)
        source = draw.choice([chat_script.FASTER, chat_script.UNROLLED, chat_script.WIDER])
        return chat_script.fenced(source.replace("= row[j];", f"= row[j] * {factor}.0f / {factor}.0f;"))

    def rules(texts):
        return [{"delay_seconds": delay * draw.lognormvariate(0, 0.7), "when": {"every": n}, "times": 1 + n, "text": text}
                for n, text in zip((7, 5, 3, 2), texts)] + [{"delay_seconds": delay, "texts": texts}]

    return {"model": chat_script.MODEL, "roles": {
        "planner": rules([spoken(chat_script.plan("Exchange loops " + str(i))) for i in range(40)]),
        "executor": rules([kernel() for _ in range(80)]),
        "fixer": rules([chat_script.fenced(chat_script.FASTER) for _ in range(4)]),
        "summarizer": chat_script.script()["roles"]["summarizer"],
    }}


def one_run(program, folder, number, draw):
    server = support.ChatServer(folder / f"chat{number}", script_of(draw))
    try:
        workspace = folder / "workspace"
        workspace.mkdir(exist_ok=True)
        (workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{server.url}"\nmodel = "{chat_script.MODEL}"\n'
            "price = { input = 1.0, cached_input = 0.1, output = 4.0 }\n", encoding="utf-8")
        sizes = {"iterations": draw.choice([1, 2, 3]), "beam": draw.choice([1, 2, 3]), "plans": draw.choice([1, 2, 3])}
        flags = [str(part) for name, value in sizes.items() for part in (f"--{name}", value)]
        finished = subprocess.run([program, "run", folder / "task", "--workspace", workspace, "--json", "--seed", str(number), *flags],
                                  capture_output=True, text=True, timeout=300, check=False)
    finally:
        server.close()
    result = json.loads(finished.stdout.splitlines()[-1])
    if result.get("type") != "result":
        raise SystemExit(f"run {number} ended without a result: {finished.stderr}")
    return sizes, result["estimate"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="that holds accelopt and accelopt-arena")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20261121)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    print(f"# seed {arguments.seed}")
    program = str(pathlib.Path(arguments.folder).resolve() / "accelopt")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="accelopt-estimates-"))
    inside = {name: 0 for name in QUANTITIES}
    widths = {name: [] for name in QUANTITIES}
    try:
        task = folder / "task"
        task.mkdir()
        for name, text in (("task.toml", support.TASK), ("baseline.cpp", support.BASELINE), ("reference.cpp", support.REFERENCE)):
            (task / name).write_text(text, encoding="utf-8")
        for number in range(arguments.runs):
            sizes, estimate = one_run(program, folder, number, draw)
            told = []
            for name in QUANTITIES:
                predicted, actual = estimate[name]["predicted"], estimate[name]["actual"]
                inside[name] += estimate[name]["inside"]
                widths[name].append(predicted["high"] / max(predicted["low"], 1e-9))
                told.append(f"{name} {actual:.4g} [{predicted['low']:.4g}, {predicted['high']:.4g}]" +
                            ("" if estimate[name]["inside"] else " (!)"))
            print(f"# run {number} {sizes}: " + ", ".join(told), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    good = True
    for name in QUANTITIES:
        bound = BOUND * arguments.runs // 10
        good = good and inside[name] >= bound
        print(f"# {name}: the range's ends differ by a factor of {statistics.median(widths[name]):.1f} (median)")
        print(f"{'PASS' if inside[name] >= bound else 'FAIL'} estimates_{name}_inside {inside[name]} >= {bound} of {arguments.runs}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
