# SPDX-License-Identifier: Apache-2.0
"""Captures Triton solutions: cubins and launch plans, without a GPU and without PyTorch. docs/triton.md has the protocol."""
