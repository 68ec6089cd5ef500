"""Keys of dicts and sets that a hostile file chooses such that they collide in CPython's hash tables."""

import random

_WORD = 1 << 64
_PRIMES = 11400714785074694791, 14029467366897019727, 2870177450012600261


def pairs_of_one_hash(count):
    """Tuples of two integers that have the same hash, which Python computes with fixed constants."""
    first, second, seed = _PRIMES

    def lane(a):
        mixed = (seed + a * second) % _WORD
        return (mixed << 31 | mixed >> 33) % _WORD * first % _WORD

    inverse = pow(second, -1, _WORD)
    wanted = (lane(1) + 12345 * second) % _WORD
    pairs = []
    a = 0
    while len(pairs) < count:
        a += 1
        if (b := (wanted - lane(a)) * inverse % _WORD) < 1 << 60:
            pairs.append((a, b))
    assert len({hash(pair) for pair in pairs}) == 1
    return pairs


def numbers_of_one_chain(size, count):
    """Integers of different hashes for which a dict of `size` places probes one long chain of occupied places. Sets
    also probe neighbours, so that no such chain is long."""
    mask = size - 1
    # The chain: each number is at its own place.
    position = {}
    place = 0
    while len(position) < count * 3 // 4:
        position[place] = len(position)
        place = (place * 5 + 1) & mask
    numbers = list(position)
    draw = random.Random(0)
    while len(numbers) < count:
        number = draw.randrange(size, 1 << 30)
        place, rest = number & mask, number
        while place in position and rest:
            rest >>= 5
            place = (place * 5 + rest + 1) & mask
        if position.get(place, count) < count // 4:
            numbers.append(number)
    return numbers


def harmless(count):
    """Keys that programs use, by what they are."""
    draw = random.Random(0)
    return {
        "range": list(range(count)),
        "reversed": list(range(count, 0, -1)),
        "sparse": [draw.randrange(-(1 << 62), 1 << 62) for _ in range(count)],
        "addresses": [140_000_000_000_000 + 48 * i for i in range(count)],
        "high bits": [i << 32 for i in range(count)],
    }
