"""Numbers as arguments."""

import copy
import json
import math

import lucid
import numpy as np

from ._common import attempt, program, sample


@program
def scalar_step_arg(compile):
    f = compile(lambda x, t: x / t)
    for i in range(20):
        yield f(sample(i), i + 1)


@program
def scalar_temperature(compile):
    f = compile(lambda x, t: (x / t).softmax(-1))
    for i in range(20):
        yield f(sample(i), 1.0 / (i + 1))


@program
def scalar_branch(compile):
    f = compile(lambda x, t: x * t if t > 10 else x + t)
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_min(compile):
    f = compile(lambda x, t: x * min(t, 10))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_floor(compile):
    f = compile(lambda x, t: x * math.floor(t / 4))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_math_exp(compile):
    f = compile(lambda x, t: x * math.exp(-t))
    for i in range(20):
        yield f(sample(i), i * 0.1)


@program
def scalar_range(compile):

    def f(x, n):
        for _ in range(n):
            x = x * 1.5
        return x

    f = compile(f)
    for i in range(20):
        yield f(sample(i), i % 4)


@program
def scalar_index_table(compile):
    tab = [1.0, 2.0, 3.0, 4.0]
    f = compile(lambda x, n: x * tab[n])
    for i in range(20):
        yield f(sample(i), i % 4)


@program
def scalar_into_tensor(compile):
    f = compile(lambda x, n: x * lucid.tensor([n, n + 1, 2, 3]))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_isinstance(compile):
    f = compile(lambda x, n: x * n if isinstance(n, int) else x)
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_type_is(compile):
    f = compile(lambda x, n: x * n if type(n) is int else x - 1)
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_match(compile):

    def f(x, n):
        match n:
            case 0:
                return x
            case int():
                return x * n

    f = compile(f)
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_fstring(compile):
    f = compile(lambda x, n: (x * n, f"step {n:03d}"))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_json(compile):
    f = compile(lambda x, n: (x * n, json.dumps({"n": n})))
    for i in range(6):
        yield attempt(f, sample(i), i)


@program
def scalar_dict_key(compile):
    d = {j: float(j) for j in range(20)}
    f = compile(lambda x, n: x * d[n])
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_returned(compile):
    f = compile(lambda x, n: (x * n, n + 1, [n * 0.5]))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_bigint(compile):
    f = compile(lambda x, n: (x * 1.0, n * n * n))
    for i in range(20):
        yield f(sample(i), 10**i)


@program
def scalar_zero_division(compile):
    f = compile(lambda x, n: x * (1 / n))
    for i in range(8):
        yield attempt(f, sample(i), 4 - i)


@program
def scalar_numpy_sqrt(compile):
    f = compile(lambda x, n: x * float(np.sqrt(n)))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_complex_pow(compile):
    f = compile(lambda x, n: x * 0.9**n)
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_hidden_in_list_comp(compile):
    f = compile(lambda x, n: sum([x * (n + j) for j in range(3)], x))
    for i in range(20):
        yield f(sample(i), i)


@program
def scalar_deepcopy(compile):
    f = compile(lambda x, n: x * copy.deepcopy([n])[0])
    for i in range(20):
        yield f(sample(i), i)
