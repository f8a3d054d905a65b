# SPDX-License-Identifier: Apache-2.0
"""Stations and what is reached from them."""
from collections import deque


class UnknownStation(Exception):
    """The network has no such station."""


def neighbours(network, station):
    if station not in network:
        raise UnknownStation(station)
    return network[station]


def reachable(network, start):
    """The stations that are reached from `start`, nearest first, each with its distance."""
    waiting = deque([(start, 0)])
    seen = set()
    found = []
    while waiting:
        station, distance = waiting.popleft()
        if station in seen:
            continue
        seen.add(station)
        found.append((station, distance))
        for neighbour in neighbours(network, station):
            waiting.append((neighbour, distance + 1))
    return found
