# SPDX-License-Identifier: Apache-2.0
"""What NKI's compiler refuses, by the names of its documentation."""

from __future__ import annotations

from types import CodeType
from typing import Any

ADVICE = {
    "err_1d_arange_not_supported": "give the index a second axis, nl.arange(n)[:, None], or use a slice",
    "err_activation_scale_scalar_or_vector": "a scale is a number, or a tile of one element per partition",
    "err_cannot_update_immutable_parameter": "store to a tensor of nl.shared_hbm and return that",
    "err_dynamic_control_flow_not_supported": "no if or while on what a tile holds: compute both and use a mask",
    "err_exceed_max_supported_dimension": "use a tile of two axes",
    "err_hbm_tensor_with_init_value_not_supported": "make it with nl.ndarray and nl.store to it",
    "err_indirect_indices_free_dim": "index with numbers, slices or nl.arange: this version has no index that a tile holds",
    "err_nested_kernel_with_spmd_grid": "call the kernel without a grid",
    "err_nki_api_outside_of_nki_kernel": "decorate the kernel with nki.jit, and call it there",
    "err_shared_hbm_must_in_kernel_level": "make the tensor before the loops",
    "err_size_of_dimension_exceed_arch_limit": "use smaller tiles",
    "err_store_dst_shape_smaller_than_other_shape": "the destination is as large as the value: reduce first, or index more of it",
    "err_annotation_shape_mismatch": "correct the annotation, or the tensor's shape",
    "err_copy_dynamic_indirect_indices_not_natively_supported": "index with numbers, slices or nl.arange: this version has no index that a tile holds",
    "err_mutable_parameter_not_returned": "return a tensor of nl.shared_hbm, and leave the parameters as they are",
    "err_while_loop_requires_unconditional_entry": "no while on what a tile holds: use a loop of a fixed length and a mask",
    "err_ambiguous_tensor_truth_value": "a tensor has no truth value while a kernel is compiled: use nl.where or a mask",
    "err_cannot_assign_to_index": "an index tensor is not stored to: assign to a tensor, indexed by it",
    "err_control_flow_condition_depending_on_arange": "use mask= in place of if",
    "err_failed_to_infer_tile_from_local_tensor": "index the block axes with integers, so that one tile remains",
    "err_local_variable_used_out_of_scope": "declare the tensor before the block, and assign to it: tensor[...] = value",
    "err_num_partition_exceed_arch_limit": "at most 128 partitions: use smaller tiles",
    "err_num_partition_mismatch": "operands need the same number of partitions",
    "err_shape_mismatch": "operands need the same shape, or [P, 1] beside [P, N]",
    "err_tensor_access_out_of_bound": "shrink the tile, or pass mask=",
    "err_unsupported_dtype": "this version has float32",
    "err_unsupported_mixing_basic_advanced_tensor_indexing": "use either slices or nl.arange for all axes, beside integers",
    "err_unsupported_memory": "load to or copy between SBUF, PSUM and HBM first",
    "err_unsupported_expression_in_mask": "a mask is one or more comparisons, joined by &, each along one axis of the tile",
    "err_unsupported_partition_step": "an engine's lanes go through a tile's partitions one by one: use broadcast_to, nisa.nc_matmul with ones to add up "
                                      "partitions, or nisa.nc_transpose",
    "err_unsupported_value": "see the operation's documentation",
    "err_activation_bias_invalid_type": "a bias is a tile of one element per partition",
    "err_activation_scale_invalid_type": "a scale is a number, or a tile of one element per partition",
}


# Names of SDK 2.25 to 2.26 that this version lacks. @source: the API reference of NKI, nki.language and nki.isa.
NOT_HERE = {
    "language": frozenset(
        "all all_reduce arctan atomic_rmw bitwise_and bitwise_or bitwise_xor bool_ ceil cos dropout empty_like erf_dx expand_dims float8_e4m3 float8_e5m2 floor "
        "fmod gather_flattened gelu_apprx_sigmoid gelu_apprx_sigmoid_dx gelu_apprx_tanh gelu_dx int16 invert left_shift load_transpose2d logical_and logical_not "
        "logical_or logical_xor mish mod nc power prod program_ndim rand random_seed right_shift rms_norm shared_identity_matrix silu_dx spmd_dim tan tfloat32 "
        "trunc uint16 var where".split()),
    "isa": frozenset(
        "activation_reduce affine_select bn_aggr bn_stats dge_mode dma_copy dma_transpose dropout get_nc_version iota local_gather max8 nc_find_index8 "
        "nc_match_replace8 nc_stream_shuffle nc_version range_select reduce_cmd select_reduce sequence_bounds tensor_copy_dynamic_dst tensor_copy_dynamic_src "
        "tensor_copy_predicated tensor_partition_reduce tensor_scalar_reduce".split()),
}


def absent(module: str, name: str) -> str:
    """What an AttributeError says of a name that neuronxcc.nki.<module> does not have."""
    known = ": it exists in NKI, and this version does not have it" if name in NOT_HERE[module] else ""
    return f"module 'neuronxcc.nki.{module}' has no attribute '{name}'{known}"


class NkiError(Exception):
    """What the compiler would refuse. `code`: of the kernel, where no line of it is being run."""

    def __init__(self, name: str, message: str, code: CodeType | None = None) -> None:
        super().__init__(f"{name}: {message} ({ADVICE[name]})")
        self.name = name
        self.code = code


def need(condition: Any, name: str, message: str) -> None:
    if not condition:
        raise NkiError(name, message)
