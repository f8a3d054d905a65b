#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python/accelopt_nki: what kernels issue, and what is refused by name. Neither numpy nor a compiler is needed."""

import pathlib
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python" / "accelopt_nki" / "standin")]
from accelopt_nki import catalogue, kernels, trace  # noqa: E402
from accelopt_nki.catalogue import NkiError  # noqa: E402

IMPORTS = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n"
trace.kernel_files.add("kernel.py")


def traced(body, inputs, outputs, parameters="x"):
    """The trace of `def kernel(x):` with this body; its first line is line 7."""
    source = f"{IMPORTS}@nki.jit\ndef kernel({parameters}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    module = {"__name__": "kernel", "__file__": "kernel.py"}
    exec(compile(source, "kernel.py", "exec"), module)

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


class Refused(unittest.TestCase):
    def refused(self, name, body, inputs=((128, 64),)):
        with self.assertRaises(NkiError) as caught:
            traced(f"y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n{textwrap.dedent(body)}\nreturn y",
                   list(inputs), [(128, 64)])
        self.assertEqual(caught.exception.name, name)

    # What C++ refuses has its cases in tests/targets/trainium/program_test.cpp.
    CASES = [
        ("err_1d_arange_not_supported", "t = nl.zeros((128, 1), nl.float32)\nnl.exp(t[nl.arange(64), 0])"),
        ("err_activation_bias_invalid_type", "nisa.activation(nl.exp, nl.load(x), bias=1.0)"),
        ("err_activation_scale_invalid_type", "nisa.activation(nl.exp, nl.load(x), scale='1')"),
        ("err_activation_scale_scalar_or_vector", "nisa.activation(nl.exp, nl.load(x), scale=nl.load(x))"),
        ("err_ambiguous_tensor_truth_value", "if nl.load(x): pass"),
        ("err_ambiguous_tensor_truth_value", "for row in nl.load(x): pass"),
        ("err_cannot_assign_to_index", "nl.arange(4)[0] = 1"),
        ("err_cannot_update_immutable_parameter", "nl.store(x, nl.load(x))"),
        ("err_control_flow_condition_depending_on_arange", "if nl.arange(4) < 2: pass"),
        ("err_dynamic_control_flow_not_supported", "if nl.load(x[0:1, 0:1]): pass"),
        ("err_dynamic_control_flow_not_supported", "while nl.max(nl.load(x[0:1, 0:8]), axis=[1]): pass"),
        ("err_exceed_max_supported_dimension", "nl.transpose(nl.zeros((64, 32, 2), nl.float32))"),
        ("err_failed_to_infer_tile_from_local_tensor", "t = nl.zeros((2, nl.par_dim(128), 64), nl.float32)\nnl.store(y, t)"),
        ("err_hbm_tensor_with_init_value_not_supported", "nl.zeros((128, 64), nl.float32, buffer=nl.hbm)"),
        ("err_indirect_indices_free_dim", "t = nl.load(x)\nnl.load(x[nl.arange(128)[:, None], t])"),
        ("err_indirect_indices_free_dim", "nl.load(x[0:128, nl.load(x)])"),
        ("err_nested_kernel_with_spmd_grid", "nki.jit(lambda a: a)[4, 4](x)"),
        ("err_num_partition_mismatch", "nisa.nc_matmul(nl.load(x), nl.load(x[0:64, 0:64]))"),
        ("err_shape_mismatch", "nisa.tensor_tensor(nl.load(x), nl.load(x[:, 0:32]), nl.add)"),
        ("err_shared_hbm_must_in_kernel_level", "for i in nl.affine_range(2): nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm)"),
        ("err_size_of_dimension_exceed_arch_limit", "nl.transpose(nl.zeros((128, 512), nl.float32))"),
        ("err_store_dst_shape_smaller_than_other_shape", "t = nl.zeros((128, 1), nl.float32)\nt[...] = nl.load(x)"),
        ("err_tensor_access_out_of_bound", "nl.load(x[0:129, 0:64])"),
        ("err_tensor_access_out_of_bound", "nl.load(x[nl.arange(128)[:, None], nl.arange(65)[None, :]])"),
        ("err_unsupported_dtype", "nl.load(x, dtype=nl.bfloat16)"),
        ("err_unsupported_mask", "nl.load(x, mask=nl.load(x))"),
        ("err_unsupported_memory", "nl.exp(x)"),
        ("err_unsupported_memory", "nl.load(nl.zeros((4, 4), nl.float32))"),
        ("err_unsupported_mixing_basic_advanced_tensor_indexing", "nl.load(x[0:128, nl.arange(64)[None, :]])"),
        ("err_unsupported_value", "nl.ndarray((0, 4), nl.float32)"),
    ]

    def test_by_the_names_of_the_catalogue(self):
        for name, body in self.CASES:
            with self.subTest(name, body=body):
                self.refused(name, body)

    def test_operation_without_a_kernel(self):
        trace._current = None
        import neuronxcc.nki.language as nl
        with self.assertRaises(NkiError) as caught:
            nl.zeros((4, 4), nl.float32)
        self.assertEqual(caught.exception.name, "err_nki_api_outside_of_nki_kernel")

    def test_every_entry_has_a_kernel_that_is_refused_by_it(self):
        elsewhere = {"err_local_variable_used_out_of_scope", "err_nki_api_outside_of_nki_kernel", "err_num_partition_exceed_arch_limit"}
        self.assertEqual({name for name, _ in self.CASES} | elsewhere, set(catalogue.ADVICE))

    def test_tile_outlives_pythons_own_range(self):
        result = traced("""
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            for i in range(2):
                t = nl.load(x)
            nl.store(y, t)
            return y""", [(128, 64)], [(128, 64)])
        self.assertEqual(result["loops"], [[8, "sequential", 2]])
        self.assertEqual([one[2] for one in result["instructions"]], [1, 2, 0])

    def test_tile_of_another_iteration(self):
        self.refused("err_local_variable_used_out_of_scope", "for i in nl.affine_range(2):\n    t = nl.load(x)\nnl.store(y, t)")

    def test_unknown_names_fail_as_in_nki(self):
        with self.assertRaisesRegex(AttributeError, "has no attribute 'warp_shuffle'"):
            traced("nl.warp_shuffle(x)", [(128, 64)], [])

    def test_outputs_that_the_task_has_not(self):
        with self.assertRaisesRegex(kernels.ContractError, "shape"):
            traced("return nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)", [(128, 64)], [(128, 64)])
        with self.assertRaisesRegex(kernels.ContractError, "no tensor of nl.shared_hbm"):
            traced("return x", [(128, 64)], [(128, 64)])


if __name__ == "__main__":
    unittest.main()
