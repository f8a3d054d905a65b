# SPDX-License-Identifier: Apache-2.0
"""Jobs that take turns."""


def finish_order(jobs, turn):
    """The names of the jobs in the order in which they end, when each gets `turn` units of time in its turn."""
    waiting = [(name, need) for name, need in jobs]
    done = []
    while waiting:
        name, need = waiting.pop(0)
        if need <= turn:
            done.append(name)
        else:
            waiting.append((name, need - turn))
    return done
