# SPDX-License-Identifier: Apache-2.0
"""Terms that texts use."""
import re


def terms_used(texts, terms):
    """For each text the terms that stand in it as whole words, in the terms' order."""
    used = []
    for text in texts:
        used.append([term for term in terms if re.search(r"\b" + re.escape(term) + r"\b", text)])
    return used
