# SPDX-License-Identifier: Apache-2.0
"""What can be afforded."""


def days_within(changes, limit):
    """How many days end with the account's balance at most at the limit. Changes are whole numbers of cents."""
    days = 0
    for day in range(len(changes)):
        if sum(changes[: day + 1]) <= limit:
            days += 1
    return days
