"""Minimax polynomial approximations whose coefficients are machine numbers.

The Remez exchange algorithm runs on a fine grid in high precision. Coefficients are then rounded to the target format
one at a time, the most significant first, and the remaining ones are fitted again, so that they absorb the rounding
error. If that is no better than rounding all coefficients at once, the latter is used.
"""

import numpy
from mpmath import mp, mpf

mp.prec = 200


def round_to(value, fmt):
    """Rounds to the nearest f32 or f64."""
    nearest = float(value)
    return mpf(nearest) if fmt == "f64" else mpf(float(numpy.float32(nearest)))


def _grid(lo, hi, count):
    """Chebyshev points: dense at the ends, where the error of a polynomial changes fastest."""
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    return [middle - half * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]


def _extrema(errors, count):
    """Indices of the `count` largest alternating local extrema, or None if the signs do not alternate often enough."""
    groups = []
    for k, error in enumerate(errors):
        if error == 0:
            continue
        if groups and (errors[groups[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[groups[-1]]):
                groups[-1] = k
        else:
            groups.append(k)
    while len(groups) > count:
        if len(groups) == count + 1 or abs(errors[groups[0]]) < abs(errors[groups[-1]]):
            drop = 0 if abs(errors[groups[0]]) < abs(errors[groups[-1]]) else -1
            del groups[drop]
        else:
            del groups[-1]
    return groups if len(groups) == count else None


class Problem:
    """Minimizes the maximum of |weight * (target - polynomial)| over [lo, hi] for a polynomial of the given degree."""

    def __init__(self, target, weight, lo, hi, degree):
        self.xs = _grid(mpf(lo), mpf(hi), 40 * (degree + 2) + 1)
        # Removable singularities: the grid avoids the points where a quotient is 0 / 0.
        self.xs = [x for x in self.xs if x != 0]
        self.weights = [weight(x) for x in self.xs]
        self.targets = [target(x) for x in self.xs]
        self.degree = degree
        self.powers = [[x**k for k in range(degree + 1)] for x in self.xs]

    def errors(self, coefficients):
        return [w * (t - mp.fdot(zip(coefficients, p))) for w, t, p in zip(self.weights, self.targets, self.powers)]

    def solve(self, fixed):
        """Returns the best coefficients whose first len(fixed) are given."""
        free = list(range(len(fixed), self.degree + 1))
        residue = [t - mp.fdot(zip(fixed, p)) for t, p in zip(self.targets, self.powers)]
        count = len(free) + 1
        points = [round((len(self.xs) - 1) * k / (count - 1)) for k in range(count)]
        best, best_error = None, mp.inf
        for _ in range(30):
            matrix = mp.matrix(count, count)
            right = mp.matrix(count, 1)
            for row, k in enumerate(points):
                for column, power in enumerate(free):
                    matrix[row, column] = self.weights[k] * self.powers[k][power]
                matrix[row, count - 1] = (-1) ** row
                right[row] = self.weights[k] * residue[k]
            solution = mp.lu_solve(matrix, right)
            candidate = list(fixed) + [solution[k] for k in range(len(free))]
            errors = self.errors(candidate)
            worst = max(abs(e) for e in errors)
            if worst < best_error:
                best, best_error = candidate, worst
            if worst < abs(solution[count - 1]) * mpf("1.001"):
                break
            found = _extrema(errors, count)
            if found is None or found == points:
                break
            points = found
        return best

    def fit(self, fmt):
        """Returns rounded coefficients and the base-2 logarithm of the maximum error, before and after rounding."""
        exact = self.solve([])
        ideal = self.worst(exact)
        plain = [round_to(c, fmt) for c in exact]
        fixed, current = [], exact
        for k in range(self.degree + 1):
            fixed.append(round_to(current[k], fmt))
            if k < self.degree:
                current = self.solve(fixed)
        best = min(plain, fixed, key=self.worst)
        return best, float(mp.log(ideal, 2)), float(mp.log(self.worst(best), 2))

    def worst(self, coefficients):
        return max(abs(e) for e in self.errors(coefficients))
