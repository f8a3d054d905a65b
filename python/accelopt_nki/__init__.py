# SPDX-License-Identifier: Apache-2.0
"""Runs NKI kernels on tensors without numbers, and leaves the instructions that they issue. docs/nki.md has their form."""
