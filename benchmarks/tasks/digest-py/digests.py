# SPDX-License-Identifier: Apache-2.0
"""Digests of digests."""
import hashlib


def chain(text, links):
    """The hexadecimal digest at the end of a chain, each link of which covers the one before, many times over."""
    digest = hashlib.sha256(text.encode()).digest()
    for _ in range(links):
        digest = hashlib.sha256(digest * 128).digest()
    return digest.hex()
