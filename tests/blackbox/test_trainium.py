# SPDX-License-Identifier: Apache-2.0
"""NKI kernels without a Trainium: verified, refused by name, and timed by a model that says so."""

import json
import pathlib
import shutil

import support

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "nkibench" / "silu"

# One pass of the activation engine over wide tiles, in place of five instructions over narrow ones.
FASTER = """\
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    M, N = x.shape
    y = nl.ndarray((M, N), dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = nl.arange(128)[:, None], nl.arange(2048)[None, :]
    for i in nl.affine_range((M + 127) // 128):
        for j in nl.affine_range((N + 2047) // 2048):
            inside = (128 * i + rows < M) & (2048 * j + columns < N)
            tile = nl.load(x[128 * i + rows, 2048 * j + columns], mask=inside)
            nl.store(y[128 * i + rows, 2048 * j + columns], nl.silu(tile, mask=inside), mask=inside)
    return y
"""

VENDOR_FIGURES = {
    "hbm_read_bytes", "hbm_write_bytes", "psum_read_bytes", "psum_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes", "spill_reload_bytes",
    "spill_save_bytes", "hardware_flops", "transpose_flops", "peak_flops_bandwidth_ratio", "mm_arithmetic_intensity", "hfu_estimated_percent",
    "scalar_engine_active_time_percent", "vector_engine_active_time_percent", "gpsimd_engine_active_time_percent"}


class Trainium(support.TestCase):
    def setUp(self):
        super().setUp()
        self.silu = pathlib.Path(self.folder) / "silu"
        shutil.copytree(SUITE, self.silu)
        toml = self.silu / "task.toml"
        toml.write_text(toml.read_text().replace("M = 4096, N = 7168", "M = 256, N = 2048"))
        self.baseline = (self.silu / "baseline.py").read_text()

    def evaluate(self, text, *options):
        finished = self.accelopt("eval", self.silu, self.file("candidate.py", text), "--device", "trn1:model", "--json", *options)
        self.assertEqual(len(finished.lines), 1, finished)
        return finished.lines[0]

    def test_faster_kernel_is_faster_by_the_model(self):
        evaluation = self.evaluate(FASTER)
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "FASTER"), evaluation)
        self.assertGreater(evaluation["ratio"]["low"], 1.15)
        self.assertEqual(evaluation["environment"]["clock"], "modelled")
        self.assertEqual(evaluation["environment"]["device"], "trn1 (modelled)")
        self.assertEqual(evaluation["trust"], "modelled")
        self.assertEqual(evaluation["blocks"], 2, "one for each policy")

    def test_people_read_that_times_are_modelled(self):
        finished = self.accelopt("eval", self.silu, self.file("candidate.py", FASTER), "--device", "trn1:model")
        self.assertIn("modelled time", finished.out)
        self.assertIn("no device measured these times", finished.out)

    def test_run_with_recipes_ends_with_a_modelled_gain(self):
        toml = self.silu / "task.toml"
        toml.write_text(toml.read_text().replace("M = 256, N = 2048", "M = 1024, N = 7168"))
        finished = self.accelopt("run", self.silu, "--device", "trn1:model", "--agents", "recipes", "--iterations", "2", "--json")
        result = finished.lines[-1]
        self.assertEqual((finished.code, result["outcome"]), (0, "improved"), finished)
        self.assertEqual((result["trust"], result["device"]), ("modelled", "trn1 (modelled)"))
        self.assertGreater(result["speedup"]["low"], 1.3)

    def test_kernel_that_is_right_for_checks_alone_is_incorrect(self):
        evaluation = self.evaluate(self.baseline.replace("            nl.store(y", "            if M == 256:\n                result = tile\n            nl.store(y"))
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", evaluation)
        self.assertIn("at random places", evaluation["reason"])

    def test_baseline_that_is_wrong_where_it_is_raced_alone_is_refused(self):
        baseline = self.silu / "baseline.py"
        baseline.write_text(baseline.read_text().replace("            nl.store(y", "            if M == 256:\n                result = tile\n            nl.store(y"))
        evaluation = self.evaluate(FASTER)
        self.assertIn("not what the reference computes", evaluation["reason"], "the right kernel is not called wrong")
        self.assertIn("likely to mend: the reference or the baseline", evaluation["reason"])

    def benchmark(self, rows=1024, columns=7168):
        """A checkout in the public benchmark's layout, with a kernel of our own."""
        folder = pathlib.Path(self.folder) / "checkout" / "NKIBench"
        for name in ("kernels", "reference"):
            (folder / name).mkdir(parents=True)
        (folder / "kernels" / "silu_0.py").write_text(self.baseline)
        (folder / "reference" / "silu.py").write_text("def transform_to_nki_inputs(inputs):\n    return inputs\n")
        (folder / "summary.json").write_text(json.dumps({"silu": {"cases": {"0": {
            "values": {"M": rows, "N": columns}, "impls": [{"task": "./reference/silu.py", "kernel": "./kernels/silu_0.py"}]}}}}))
        return folder.parent

    def test_benchmark_is_imported_measured_searched_and_exported(self):
        checkout = self.benchmark()
        tasks = pathlib.Path(self.folder) / "tasks"
        self.assertEqual(self.accelopt("import", "nkibench", checkout, "-o", tasks).code, 0)
        finished = self.accelopt("run", tasks / "silu", "--device", "trn1:model", "--agents", "recipes", "--iterations", "1", "--json")
        self.assertEqual((finished.code, finished.lines[-1]["outcome"]), (0, "improved"), finished)
        self.assertEqual(self.accelopt("export", "nkibench", "last", "-o", checkout).code, 0)
        added = json.loads((checkout / "NKIBench" / "summary.json").read_text())["silu"]["cases"]["0"]["impls"][1]["kernel"]
        self.assertIn("@nki.jit", (checkout / "NKIBench" / added).read_text())

    def test_without_a_check_the_reference_judges_places(self):
        tasks = pathlib.Path(self.folder) / "tasks"
        self.accelopt("import", "nkibench", self.benchmark(), "-o", tasks)
        self.silu = tasks / "silu"
        wrong = self.baseline.replace("nl.multiply(tile, share", "nl.add(tile, share")
        self.assertNotEqual(wrong, self.baseline)
        evaluation = self.evaluate(wrong)
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", evaluation)
        self.assertIn("not what the reference computes", evaluation["reason"])
        self.assertEqual(self.evaluate(FASTER)["verdict"], "FASTER")
        (self.silu / "baseline.py").write_text(wrong)
        evaluation = self.evaluate(FASTER)
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", "the baseline is held against the reference, too")

    def test_the_benchmarks_own_rule_holds_whole_outputs(self):
        tasks = pathlib.Path(self.folder) / "tasks"
        self.accelopt("import", "nkibench", self.benchmark(256, 2048), "-o", tasks)
        self.silu = tasks / "silu"
        right = self.evaluate(FASTER, "--preset", "nkibench")
        self.assertEqual((right["status"], right["verdict"]), ("PASSED", "FASTER"), right)
        self.assertIn("numpy's seeds 0 21 42 63 84", right["environment"]["flags"])
        wrong = self.evaluate(FASTER.replace("nl.silu(tile, mask=inside)", "nl.multiply(nl.silu(tile, mask=inside), 1.0001, mask=inside)"),
                              "--preset", "nkibench")
        self.assertEqual(wrong["status"], "INCORRECT_NUMERICAL", wrong)
        self.assertRegex(wrong["reason"], r"numpy's seed 0: the relative L2 distance of the whole output \"out\" is 0\.0001")
        refused = self.accelopt("eval", support.SUITE / "matmul", "--preset", "nkibench")
        self.assertIn("take a modelled Trainium", refused.said)

    def test_attacks_are_caught_and_honest_kernels_pass(self):
        *kernels, summary = self.accelopt("selftest", "--device", "trn1:model", "--json").lines
        self.assertEqual([kernel for kernel in kernels if not kernel["ok"]], [])
        folder = support.ROOT / "exploits" / "trainium"
        counts = [len(list((folder / part).glob("*.py"))) for part in ("attacks", "honest")]
        self.assertEqual([summary["caught"], summary["passed"]], counts)

    def test_profile_has_the_figures_of_the_vendors_profiler(self):
        evaluation = self.evaluate(self.baseline)
        items = {item["name"]: item["value"] for item in evaluation["profile"]["items"]}
        self.assertEqual(len(VENDOR_FIGURES), 16)
        self.assertLessEqual(VENDOR_FIGURES, set(items))
        self.assertAlmostEqual(items["hbm_read_bytes"], 4 * 256 * 2048 / 1e6)
        self.assertAlmostEqual(items["hbm_write_bytes"], 4 * 256 * 2048 / 1e6)

    def test_small_gain_is_a_tie(self):
        evaluation = self.evaluate(self.baseline.replace("result = nl.multiply(tile, share, mask=inside)",
                                                         "result = nl.multiply(share, tile, mask=inside)"))
        self.assertEqual((evaluation["status"], evaluation["verdict"]), ("PASSED", "TIE"), evaluation)

    def test_wrong_kernel_is_incorrect(self):
        evaluation = self.evaluate(self.baseline.replace("scale=-1.0", "scale=-1.01"))
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", evaluation)

    def test_uninitialised_elements_are_named(self):
        evaluation = self.evaluate(self.baseline.replace(
            "tile = nl.load(", "tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n            other = nl.load("))
        self.assertEqual(evaluation["status"], "RUNTIME_ERROR", evaluation)
        self.assertRegex(evaluation["reason"], r'uninitialised elements of "tensor" \(line 16\)')

    def test_compiler_errors_have_names_and_lines(self):
        for old, new, reason in (
                ("mask=inside)\n            power", ")\n            power", "err_tensor_access_out_of_bound"),
                ("nl.add(power, 1.0", "nl.addition(power, 1.0", "has no attribute 'addition'"),
                ("nl.arange(128)[:, None]", "nl.arange(256)[:, None]", "err_num_partition_exceed_arch_limit"),
                ("            nl.store(y", "            if j > 0: nl.store(y", "err_tensor_output_not_written_to")):
            with self.subTest(reason):
                changed = self.baseline.replace(old, new)
                self.assertNotEqual(changed, self.baseline)
                evaluation = self.evaluate(changed)
                self.assertEqual(evaluation["status"], "COMPILE_ERROR", evaluation)
                self.assertRegex(evaluation["reason"], r"candidate\.py:\d+: error: .*" + reason)

    def test_kernel_cannot_reach_the_machine(self):
        for text in ("import os\nos._exit(0)\n", "open('/etc/passwd').read()\n", "open('../escaped', 'w')\n",
                     "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)\n"):
            with self.subTest(text):
                self.assertEqual(self.evaluate(text + self.baseline)["status"], "COMPILE_ERROR")

    def test_other_generation_says_that_it_is_uncalibrated(self):
        finished = self.accelopt("eval", self.silu, self.file("candidate.py", FASTER), "--device", "trn2:model", "--json")
        self.assertEqual(finished.lines[0]["environment"]["device"], "trn2 (modelled, uncalibrated)")


if __name__ == "__main__":
    support.main()
