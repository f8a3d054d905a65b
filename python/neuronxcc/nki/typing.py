# SPDX-License-Identifier: Apache-2.0
from accelopt_nki.tensors import Tensor as tensor

__all__ = ["tensor"]
