# SPDX-License-Identifier: Apache-2.0
from accelopt_nki.annotations import mutable_tensor, tensor

__all__ = ["mutable_tensor", "tensor"]
