# SPDX-License-Identifier: Apache-2.0
"""Runs one NKI kernel by the vendor's own package, `neuronxcc` of SDK 2.25 to 2.29, on a Neuron device (docs/nki.md, "On a Trainium").

A process of its own for each call: it reads FOLDER/request.json and leaves FOLDER/answer.json. Tensors lie in files, row-major float32."""

PROTOCOL = 1
NEFF, NTFF = "file.neff", "profile.ntff"  # the vendor's package takes no other name for the first one where it traces
