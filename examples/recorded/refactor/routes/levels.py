# SPDX-License-Identifier: Apache-2.0
"""Stations and what is reached from them."""


class UnknownStation(Exception):
    """The network has no such station."""


def neighbours(network, station):
    if station not in network:
        raise UnknownStation(station)
    return network[station]


def reachable(network, start):
    """The stations that are reached from `start`, nearest first, each with its distance."""
    level = [start]
    distance = 0
    seen = set()
    found = []
    while level:
        next_level = []
        for station in level:
            if station in seen:
                continue
            seen.add(station)
            found.append((station, distance))
            next_level.extend(neighbours(network, station))
        level = next_level
        distance += 1
    return found
