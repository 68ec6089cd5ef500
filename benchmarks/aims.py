"""Compares figures with aims.toml, for the `--check` option of the benchmarks."""

import fnmatch
import pathlib
import tomllib
from dataclasses import dataclass

AIMS = tomllib.loads(pathlib.Path(__file__).with_name("aims.toml").read_text())


@dataclass(frozen=True)
class Result:
    """A figure and its bound. A figure that was not measured misses its aim."""

    what: str
    measured: float | None
    bound: float
    at_least: bool = False

    @property
    def met(self):
        if self.measured is None:
            return False
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def __str__(self):
        measured = "not measured" if self.measured is None else f"{self.measured:.3g}"
        bound = f"at {'least' if self.at_least else 'most'} {self.bound:g}"
        return f"{'met' if self.met else 'MISSED':8}{self.what}: {measured}, {bound}"


def compare(title, measured, bounds, at_least=False):
    """Results for the names in `bounds` that `measured` has an entry for."""
    return [Result(f"{title}, {name}", measured[name], bounds[name], at_least) for name in bounds if name in measured]


def compare_patterns(title, measured, patterns):
    """Results for all figures in `measured`. The bound of a name is that of the first pattern it matches."""
    bounds = {}
    for name in measured:
        bounds[name] = next(bound for pattern, bound in patterns.items() if fnmatch.fnmatchcase(name, pattern))
    return compare(title, measured, bounds)


def verdict(results):
    """Prints the results and returns the exit code of the program."""
    for result in results:
        print(result)
    print(f"{sum(result.met for result in results)} of {len(results)} aims met")
    return 0 if all(result.met for result in results) else 1
