# SPDX-License-Identifier: Apache-2.0
"""What a kernel imports. Written from the public documents of NKI; nothing of the vendor's package is here."""
