# SPDX-License-Identifier: Apache-2.0
"""What NKI's compiler refuses, by the names of its documentation."""

from __future__ import annotations

from typing import Any

ADVICE = {
    "err_ambiguous_tensor_truth_value": "a tensor has no truth value while a kernel is compiled: use nl.where or a mask",
    "err_cannot_assign_to_index": "an index tensor is not stored to: assign to a tensor, indexed by it",
    "err_control_flow_condition_depending_on_arange": "use mask= in place of if",
    "err_failed_to_infer_tile_from_local_tensor": "index the block axes with integers, so that one tile remains",
    "err_local_variable_used_out_of_scope": "declare the tensor outside of the loop",
    "err_num_partition_exceed_arch_limit": "at most 128 partitions: use smaller tiles",
    "err_num_partition_mismatch": "operands need the same number of partitions",
    "err_shape_mismatch": "operands need the same shape, or [P, 1] beside [P, N]",
    "err_tensor_access_out_of_bound": "shrink the tile, or pass mask=",
    "err_unsupported_dtype": "this version has float32",
    "err_unsupported_mixing_basic_advanced_tensor_indexing": "use either slices or nl.arange for all axes, beside integers",
    "err_unsupported_memory": "load to or copy between SBUF, PSUM and HBM first",
    "err_unsupported_mask": "a mask is one or more comparisons, joined by &, each along one axis of the tile",
    "err_unsupported_value": "see the operation's documentation",
    "err_activation_bias_invalid_type": "a bias is a tile of one element per partition",
    "err_activation_scale_invalid_type": "a scale is a number, or a tile of one element per partition",
}


class NkiError(Exception):
    """What the compiler would refuse."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message} ({ADVICE[name]})")
        self.name = name


def need(condition: Any, name: str, message: str) -> None:
    if not condition:
        raise NkiError(name, message)
