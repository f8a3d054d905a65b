# SPDX-License-Identifier: Apache-2.0
"""What a log of visits says of the visitors."""


def first_visits(log):
    """The visitors in the order of their first visit, and how many visits were no first ones."""
    known = []
    again = 0
    for visitor, page in log:
        if visitor not in known:
            known.append(visitor)
        else:
            again += 1
    return known, again
