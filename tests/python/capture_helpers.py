"""A module that programs import and change."""

SCALE = 2.0
TABLE = {"a": 1.0}


def helper(x):
    return x * SCALE


def helper2(x, k="a"):
    return helper(x) + TABLE[k]


class Cfg:
    gain = 1.5
