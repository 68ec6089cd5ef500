"""Numbers as arguments."""

import copy
import json
import math

import lucid
import numpy as np

from .._harness import Programs, program, repeat, sample, vary


class Numbers(Programs, compiles=True, guards=True):
    def scalar_range(run):
        def f(x, n):
            for _ in range(n):
                x = x * 1.5
            return x

        run.repeat(run.compile(f), sample, vary(lambda i: i % 4), n=20)

    def scalar_index_table(run):
        tab = [1.0, 2.0, 3.0, 4.0]
        run.repeat(run.compile(lambda x, n: x * tab[n]), sample, vary(lambda i: i % 4), n=20)

    @program(one_call=True)
    def scalar_match(run):
        def f(x, n):
            match n:
                case 0:
                    return x
                case int():
                    return x * n

        run.repeat(run.compile(f), sample, vary(lambda i: i), n=20)

    @program(never_twice=True)
    def scalar_dict_key(run):
        d = {j: float(j) for j in range(20)}
        run.repeat(run.compile(lambda x, n: x * d[n]), sample, vary(lambda i: i), n=20)

    @program(eager="calls id")
    def scalar_deepcopy(run):
        run.repeat(run.compile(lambda x, n: x * copy.deepcopy([n])[0]), sample, vary(lambda i: i), n=20)


class OneCallNumbers(Programs, compiles=True, guards=True, one_call=True):
    scalar_step_arg = repeat(lambda x, t: x / t, sample, vary(lambda i: i + 1), n=20)
    scalar_temperature = repeat(lambda x, t: (x / t).softmax(-1), sample, vary(lambda i: 1.0 / (i + 1)), n=20)
    scalar_branch = repeat(lambda x, t: x * t if t > 10 else x + t, sample, vary(lambda i: i), n=20)
    scalar_min = repeat(lambda x, t: x * min(t, 10), sample, vary(lambda i: i), n=20)
    scalar_floor = repeat(lambda x, t: x * math.floor(t / 4), sample, vary(lambda i: i), n=20)
    scalar_math_exp = repeat(lambda x, t: x * math.exp(-t), sample, vary(lambda i: i * 0.1), n=20)
    scalar_isinstance = repeat(lambda x, n: x * n if isinstance(n, int) else x, sample, vary(lambda i: i), n=20)
    scalar_zero_division = repeat(lambda x, n: x * (1 / n), sample, vary(lambda i: 4 - i), n=8)
    scalar_complex_pow = repeat(lambda x, n: x * 0.9**n, sample, vary(lambda i: i), n=20)
    scalar_hidden_in_list_comp = repeat(
        lambda x, n: sum([x * (n + j) for j in range(3)], x), sample, vary(lambda i: i), n=20
    )


class NeverTwiceNumbers(Programs, compiles=True, guards=True, never_twice=True):
    scalar_into_tensor = repeat(lambda x, n: x * lucid.tensor([n, n + 1, 2, 3]), sample, vary(lambda i: i), n=20)
    scalar_type_is = repeat(lambda x, n: x * n if type(n) is int else x - 1, sample, vary(lambda i: i), n=20)
    scalar_fstring = repeat(lambda x, n: (x * n, f"step {n:03d}"), sample, vary(lambda i: i), n=20)
    scalar_json = repeat(lambda x, n: (x * n, json.dumps({"n": n})), sample, vary(lambda i: i), n=6)
    scalar_returned = repeat(lambda x, n: (x * n, n + 1, [n * 0.5]), sample, vary(lambda i: i), n=20)
    scalar_bigint = repeat(lambda x, n: (x * 1.0, n * n * n), sample, vary(lambda i: 10**i), n=20)
    scalar_numpy_sqrt = repeat(lambda x, n: x * float(np.sqrt(n)), sample, vary(lambda i: i), n=20)
