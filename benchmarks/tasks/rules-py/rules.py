# SPDX-License-Identifier: Apache-2.0
"""Which rule applies to a request."""


def applies(rule, request):
    return all(part in request for part in rule["needs"])


def first_rules(rules, requests):
    """The name of the first rule that applies to each request, or None."""
    names = []
    for request in requests:
        fitting = [rule["name"] for rule in rules if applies(rule, request)]
        names.append(fitting[0] if fitting else None)
    return names
