#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python/accelopt_nki: what kernels issue, and what is refused by name. Neither numpy nor a compiler is needed."""

import json
import pathlib
import sys
import textwrap
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python" / "accelopt_nki" / "standin")]
from accelopt_nki import catalogue, isa, kernels, language, scopes, trace  # noqa: E402
from accelopt_nki.catalogue import NkiError  # noqa: E402

IMPORTS = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n"
trace.kernel_files.add("kernel.py")


def traced(body, inputs, outputs, parameters="x", source=None):
    """The trace of `def kernel(x):` with this body; its first line is line 7."""
    source = source or f"{IMPORTS}@nki.jit\ndef kernel({parameters}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    module = {"__name__": "kernel", "__file__": "kernel.py"}
    exec(scopes.compiled(source, "kernel.py"), module)

    def specs(prefix, shapes):
        return [{"name": f"{prefix}{i}", "dtype": "float32", **({"shape": list(s)} if isinstance(s, tuple) else {"value": s})}
                for i, s in enumerate(shapes)]
    return kernels.traced(module["kernel"], {"name": "w0", "inputs": specs("x", inputs), "outputs": specs("y", outputs)})


def operations(result):
    return [one[0] for one in result["instructions"]]


class Instructions(unittest.TestCase):
    def test_elementwise_kernel_leaves_one_instruction_an_operation(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(y, nl.multiply(t, nl.reciprocal(nl.add(nl.exp(t), 1.0))))
            return y""", [(128, 512)], [(128, 512)])
        self.assertEqual(operations(result), ["load", "activation", "tensor_scalar", "activation", "tensor_tensor", "store"])
        load = result["instructions"][0]
        self.assertEqual(load[1], 8, "its line")
        self.assertEqual(result["views"][load[4][0]], [0, 0, 128, 512, 512, 1])

    def test_transpose_assigned_to_sbuf_is_copied_there(self):
        for space, expected in ("sbuf", ["load", "transpose", "copy", "store"]), ("psum", ["load", "transpose", "copy", "store"]):
            result = traced(f"""
                y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                t = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.{space})
                t[...] = nisa.nc_transpose(nl.load(x))
                nl.store(y, {"t" if space == "sbuf" else "nl.copy(t)"})
                return y""", [(128, 128)], [(128, 128)])
            with self.subTest(space=space):
                self.assertEqual(operations(result), expected)
                transpose = result["instructions"][1]
                self.assertEqual(result["buffers"][result["views"][transpose[3]][0]][0], "psum")

    def test_result_assigned_at_once_is_written_where_it_goes(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.ndarray((2, nl.par_dim(128), 64), dtype=nl.float32, buffer=nl.sbuf)
            for i in nl.affine_range(2):
                t[i, nl.arange(128)[:, None], nl.arange(64)[None, :]] = nl.load(x[nl.arange(128)[:, None], 64 * i + nl.arange(64)[None, :]])
                nl.store(y[nl.arange(128)[:, None], 64 * i + nl.arange(64)[None, :]], t[i])
            return y""", [(128, 128)], [(128, 128)])
        self.assertEqual(operations(result), ["load", "store"] * 2)
        self.assertEqual([b[0] for b in result["buffers"]], ["input", "output", "sbuf", "sbuf", "sbuf", "sbuf"])
        self.assertEqual(result["views"][result["instructions"][2][4][0]], [0, 64, 128, 128, 64, 1])
        self.assertEqual(result["loops"], [[9, "affine", 2]])
        self.assertEqual(result["iterations"], [[0, -1, 0], [0, 0, 0], [0, 0, 1]])

    def test_matrix_products_add_up_in_psum(self):
        result = traced("""
            y = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
            p = nl.zeros((nl.par_dim(128), 512), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(2):
                p += nisa.nc_matmul(nl.load(x[k * 128:(k + 1) * 128, 0:128]), nl.load(w[k * 128:(k + 1) * 128, 0:512]))
            nl.store(y, nl.copy(p))
            return y""", [(256, 128), (256, 512)], [(128, 512)], "x, w")
        self.assertEqual(operations(result), ["load", "load", "matmul"] * 2 + ["copy", "store"])
        self.assertEqual([one[7] for one in result["instructions"] if one[0] == "matmul"], [1, 1], "accumulates")

    def test_mask_shrinks_the_instruction(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            p, f = nl.arange(128)[:, None], nl.arange(512)[None, :]
            for i in nl.affine_range(2):
                inside = (128 * i + p < 200) & (-1 * f + 299 >= 0)
                nl.store(y[128 * i + p, f], nl.load(x[128 * i + p, f], mask=inside), mask=inside)
            return y""", [(200, 300)], [(200, 300)])
        self.assertEqual([result["views"][one[3]][2:] for one in result["instructions"] if one[0] == "store"],
                         [[128, 300, 300, 1], [72, 300, 300, 1]])

    def test_equality_of_tiles_is_computed(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(y, nl.add(t == 0.25, t != nl.load(x)))
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual([one[5] for one in result["instructions"] if one[5]], [["equal"], ["not_equal"], ["add"]])

    def test_tile_is_no_other_object(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(y, t if t != None and not t == "scale" else nl.exp(t))
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual(operations(result), ["load", "store"])

    def test_equality_of_indices_is_a_mask(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            p, f = nl.arange(128)[:, None], nl.arange(64)[None, :]
            nl.store(y[p, f], nl.load(x), mask=(2 * p == 64) & (f < 3))
            nl.store(y[p, f], nl.load(x), mask=2 * p == 63)
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual([result["views"][one[3]] for one in result["instructions"] if one[0] == "store"], [[1, 32 * 64, 1, 64, 3, 1]])

    def test_reversed_operands_of_a_scan(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(y, nisa.tensor_tensor_scan(t, t, 0.0, np.subtract, np.add, reverse0=True))
            nl.store(y, nisa.tensor_tensor_scan(t, t, 0.0, np.subtract, np.add, reverse1=True))
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual([one[7] for one in result["instructions"] if one[0] == "scan"], [1, 2])

    def test_axes_that_a_reduction_does_not_keep(self):
        result = traced("""
            y = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            assert nl.sum(t, axis=[2], keepdims=True).shape == nl.mean(t, axis=[2], keepdims=True).shape == (128, 8, 1)
            assert nl.sum(t, axis=[1, 2]).shape == (128, 1), "a tile has two axes at least"
            assert nl.mean(t, axis=[2]).shape == nl.softmax(t, axis=[2])[:, :, 0].shape == (128, 8)
            assert nisa.tensor_reduce(np.add, t, axis=[2]).shape == (128, 8)
            nl.store(y, nl.sum(t, axis=[2], keepdims=False))
            return y""", [(128, 8, 8)], [(128, 8)])
        self.assertEqual(operations(result)[-2:], ["reduce", "store"])

    def test_arguments_that_there_are_not(self):
        for loop in ("nl.affine_range(4, step=2)", "nl.sequential_range(4, start=2)"):
            with self.subTest(loop), self.assertRaises(TypeError):
                traced(f"for i in {loop}: pass", [(128, 64)], [])

    def test_infinities_have_names(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            low = nl.full((128, 64), -np.inf, dtype=nl.float32)
            nl.store(y, nl.minimum(nl.maximum(nl.load(x), low), np.inf))
            return y""", [(128, 64)], [(128, 64)])
        self.assertIn("-inf", [buffer[3] for buffer in result["buffers"]])
        self.assertEqual([one[6] for one in result["instructions"] if one[0] == "tensor_scalar"], [["inf"]])
        json.dumps(result, allow_nan=False)

    def test_reductions_along_axes_that_are_not_the_last(self):
        """A pool of 2 by 2, as AWS's tutorial has it: the windows' axes lie between the others."""
        result = traced("""
            y = nl.ndarray((128, 3, 2), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            p, h, a, w, b = nl.mgrid[0:128, 0:3, 0:2, 0:2, 0:2]
            pooled = nl.sum(t[p, 2 * h + a, 2 * w + b], axis=[2, 4])
            assert pooled.shape == (128, 3, 2)
            assert nl.max(t[p, 2 * h + a, 2 * w + b], axis=[-2, 1], keepdims=True).shape == (128, 1, 2, 1, 2)
            nl.store(y, pooled / 4)
            return y""", [(128, 6, 4)], [(128, 3, 2)])
        reduce = next(one for one in result["instructions"] if one[0] == "reduce")
        self.assertEqual(result["views"][reduce[4][0]][2:], [128, 24, 3, 8, 2, 2, 2, 4, 2, 1], "the windows' axes are the last ones")
        with self.assertRaisesRegex(NkiError, "each once, without the partition axis"):
            traced("nl.sum(nl.load(x), axis=[0])", [(128, 64)], [])

    def test_a_mask_of_a_reduction_moves_with_its_axes(self):
        result = traced("""
            y = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            p, a, w = nl.mgrid[0:128, 0:4, 0:8]
            nl.store(y, nl.max(t[p, a, w], axis=[1], mask=(a < 3)))
            return y""", [(128, 4, 8)], [(128, 8)])
        reduce = next(one for one in result["instructions"] if one[0] == "reduce")
        self.assertEqual(result["views"][reduce[4][0]][2:], [128, 32, 8, 1, 3, 8])

    def test_loop_reduce_begins_with_a_copy(self):
        result = traced("""
            y = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
            m = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32)
            for i in nl.affine_range(2):
                part = nisa.tensor_reduce(np.max, nl.load(x[0:128, 64 * i:64 * i + 64]), axis=[1])
                m[nl.arange(128)[:, None], 0] = nl.loop_reduce(part, op=np.max, loop_indices=[i])
            nl.store(y, m)
            return y""", [(128, 128)], [(128, 1)])
        self.assertEqual(operations(result), ["load", "reduce", "copy", "load", "reduce", "tensor_tensor", "store"])


TABLE = tomllib.loads((ROOT / "tests" / "nki" / "refusals.toml").read_text())


def call(one):
    """A kernel of the table."""
    body = f"y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n{one.get('body', '')}\nreturn y"
    return traced(body, [(128, 64)], [(128, 64)], source=one.get("source"))


class Refused(unittest.TestCase):
    def test_by_the_names_of_the_catalogue(self):
        for one in TABLE["refused"]:
            with self.subTest(one["name"], body=one.get("body")):
                if "by" in one:  # the front end finds nothing: tests/targets/trainium/refusals_test.cpp
                    call(one)
                    continue
                with self.assertRaises(NkiError) as caught:
                    call(one)
                self.assertEqual(caught.exception.name, one["name"])

    def test_what_this_version_does_not_have(self):
        for one in TABLE["unsupported"]:
            with self.subTest(one["name"]), self.assertRaisesRegex(AttributeError, one["says"]):
                call(one)

    def test_every_entry_has_a_kernel_that_is_refused_by_it(self):
        named = {one["name"] for one in TABLE["refused"] if "by" not in one}
        self.assertEqual(named, set(catalogue.ADVICE) - {"err_num_partition_exceed_arch_limit"})

    def test_operation_without_a_kernel(self):
        import neuronxcc.nki.language as nl
        with self.assertRaises(NkiError) as caught:
            nl.zeros((4, 4), nl.float32)
        self.assertEqual(caught.exception.name, "err_nki_api_outside_of_nki_kernel")

    def test_parameter_that_is_updated_and_returned(self):
        source = next(one["source"] for one in TABLE["refused"] if one["name"] == "err_mutable_parameter_not_returned")
        with self.assertRaisesRegex(kernels.ContractError, "updates a parameter"):
            traced("", [(128, 64)], [(128, 64)] * 2, source=source.replace("return y", "return y, x"))


class Scopes(unittest.TestCase):
    """What may be used where."""

    def accepted(self, body):
        result = traced(f"y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n{textwrap.dedent(body)}\nreturn y", [(128, 64)], [(128, 64)])
        return operations(result)

    def test_pythons_own_range_is_a_sequential_loop(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.ndarray(x.shape, dtype=x.dtype)
            for i in range(2):
                t[...] = nl.load(x)
            nl.store(y, t)
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual(result["loops"], [[9, "sequential", 2]])
        self.assertEqual([one[2] for one in result["instructions"]], [1, 2, 0])

    def test_tensor_that_is_made_before_a_branch(self):
        self.assertEqual(self.accepted("""
            for i in nl.sequential_range(2):
                t = nl.ndarray(x.shape, dtype=x.dtype)
                if i < 1:
                    t[...] = nl.load(x)
                else:
                    t[...] = nl.exp(nl.load(x))
                nl.store(y, t)"""), ["load", "store", "load", "activation", "store"])

    def test_tensor_in_its_own_branch_and_those_inside(self):
        self.assertEqual(self.accepted("""
            if x.shape[0] == 128:
                t = nl.load(x)
                for i in range(1):
                    if i == 0:
                        nl.store(y, t)"""), ["load", "store"])

    def test_numbers_of_a_branch(self):
        self.assertEqual(self.accepted("""
            if x.shape[0] == 128:
                scale = 1.0 + 1.0
            nl.store(y, nl.multiply(nl.load(x), scale))"""), ["load", "tensor_scalar", "store"])

    def test_tensor_that_a_function_returns_from_a_branch(self):
        self.assertEqual(self.accepted("""
            def activated(t, name):
                if name == "exp":
                    return nl.exp(t)
                elif name == "pair":
                    return [nl.exp(t), t]
                return t
            nl.store(y, nl.add(activated(nl.load(x), "exp"), activated(nl.load(x), "pair")[0]))"""),
            ["load", "activation", "load", "activation", "tensor_tensor", "store"])

    def test_loop_that_is_left(self):
        self.assertEqual(self.accepted("""
            for i in nl.sequential_range(4):
                t = nl.load(x)
                if i == 1:
                    nl.store(y, t)
                    break
            u = nl.load(x)
            nl.store(y, u)"""), ["load", "load", "store", "load", "store"])

    def test_line_of_a_refusal_is_the_kernels(self):
        with self.assertRaisesRegex(NkiError, "load of line 10 was made in a block of line 9"):
            self.accepted("""
            if x.shape[0] == 128:
                t = nl.load(x)
            nl.store(y, t)""")

    def test_annotations_that_are_right_and_others(self):
        self.assertEqual(self.accepted("""
            import neuronxcc.nki.typing as nt
            t: nt.tensor[128, 64] = nl.load(x)
            u: "whatever" = t
            v: unknown = u
            nl.store(y, v)"""), ["load", "store"])


class Names(unittest.TestCase):
    def test_unknown_names_fail_as_in_nki(self):
        with self.assertRaisesRegex(AttributeError, "has no attribute 'warp_shuffle'"):
            traced("nl.warp_shuffle(x)", [(128, 64)], [])

    def test_names_that_nki_has_and_this_version_lacks(self):
        for call in ("nl.power(x, 2.0)", "nl.gelu_apprx_tanh(x)", "nisa.bn_stats(x)"):
            with self.subTest(call), self.assertRaisesRegex(AttributeError, "it exists in NKI, and this version does not have it"):
                traced(call, [(128, 64)], [])
        for module in (language, isa):
            self.assertEqual([name for name in catalogue.NOT_HERE[module.__name__.rsplit(".", 1)[1]] if name in vars(module)], [])

    def test_outputs_that_the_task_has_not(self):
        with self.assertRaisesRegex(kernels.ContractError, "shape"):
            traced("return nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)", [(128, 64)], [(128, 64)])
        with self.assertRaisesRegex(kernels.ContractError, "no tensor of nl.shared_hbm"):
            traced("return x", [(128, 64)], [(128, 64)])


if __name__ == "__main__":
    unittest.main()
