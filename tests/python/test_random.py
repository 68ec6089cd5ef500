"""Random ops: seeds, generators, states and the arguments of distributions."""

import lucid
import numpy as np
import pytest


def random_tensors():
    return [
        lucid.rand(3),
        lucid.randn(2, 3),
        lucid.randint(10, (4,)),
        lucid.randperm(5),
        lucid.bernoulli(lucid.full((6,), 0.5)),
        lucid.multinomial(lucid.ones(5), 3),
        lucid.normal(1.0, 2.0, (3,)),
        lucid.zeros(4).uniform_(-1, 1),
    ]


def test_the_same_seed_gives_the_same_numbers():
    lucid.manual_seed(7)
    first = [x.tolist() for x in random_tensors()]
    assert [x.tolist() for x in random_tensors()] != first
    assert lucid.initial_seed() == 7
    lucid.manual_seed(7)
    assert [x.tolist() for x in random_tensors()] == first
    lucid.manual_seed(8)
    assert [x.tolist() for x in random_tensors()] != first


def test_states_can_be_saved_and_restored():
    state = lucid.get_rng_state()
    first = lucid.rand(5).tolist()
    assert lucid.rand(5).tolist() != first
    lucid.set_rng_state(state)
    assert lucid.rand(5).tolist() == first
    with pytest.raises(TypeError, match="a generator's state is"):
        lucid.set_rng_state(lucid.zeros(3))


def test_generators_are_independent_of_the_default_one():
    generator = lucid.Generator()
    assert generator.manual_seed(3) is generator
    first = lucid.rand(4, generator=generator).tolist()
    lucid.rand(10)
    generator.manual_seed(3)
    assert lucid.rand(4, generator=generator).tolist() == first
    state = generator.get_state()
    second = lucid.randn(4, generator=generator).tolist()
    generator.set_state(state)
    assert lucid.randn(4, generator=generator).tolist() == second
    with pytest.raises(TypeError, match="argument 'generator' must be a Generator, not an int"):
        lucid.rand(2, generator=3)


def test_seeds():
    assert lucid.Generator().manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    assert lucid.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError, match="does not fit in 64 bits"):
            lucid.manual_seed(seed)
    with pytest.raises(TypeError):
        lucid.manual_seed(1.5)


def test_results_do_not_depend_on_threads():
    threads = lucid.get_num_threads()
    results = []
    try:
        for count in (1, 3):
            lucid.set_num_threads(count)
            lucid.manual_seed(1)
            results.append(lucid.rand(100_000).numpy())
    finally:
        lucid.set_num_threads(threads)
    np.testing.assert_array_equal(results[0], results[1])


def test_distributions():
    lucid.manual_seed(0)
    x = lucid.rand(20_000).numpy()
    assert 0 <= x.min() < x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01
    y = lucid.randn(20_000).numpy()
    assert abs(y.mean()) < 0.03
    assert abs(y.std() - 1) < 0.03
    z = lucid.randint(-3, 4, (10_000,))
    assert sorted(set(z.tolist())) == list(range(-3, 4))
    assert sorted(lucid.randperm(50).tolist()) == list(range(50))
    assert abs(lucid.bernoulli(lucid.full((10_000,), 0.3)).mean().item() - 0.3) < 0.03
    assert lucid.multinomial(lucid.tensor([[0.0, 1.0], [1.0, 0.0]]), 1).tolist() == [[1], [0]]
    w = lucid.zeros(20_000).exponential_(2.0).numpy()
    assert w.min() >= 0
    assert abs(w.mean() - 0.5) < 0.02


def test_shapes_dtypes_and_options():
    assert lucid.rand(2, 3).shape == lucid.rand((2, 3)).shape == lucid.rand(size=(2, 3)).shape == (2, 3)
    assert lucid.rand(()).shape == ()
    assert lucid.rand(2, dtype=lucid.float64).dtype is lucid.float64
    assert lucid.randn(2, requires_grad=True).requires_grad
    assert lucid.randint(3, (2,)).dtype is lucid.int64
    assert lucid.randint(0, 3, (2,), dtype=lucid.int8).dtype is lucid.int8
    assert lucid.randint(0, 3, (2,), dtype=lucid.float32).dtype is lucid.float32
    x = lucid.zeros(2, 3, dtype=lucid.float64)
    assert lucid.rand_like(x).dtype is lucid.float64
    assert lucid.randn_like(x).shape == (2, 3)
    assert lucid.randint_like(x, 5).dtype is lucid.float64
    assert lucid.normal(lucid.zeros(4), 1.0).shape == (4,)
    for wrong in (lambda: lucid.rand(2, foo=1), lambda: lucid.randint(3), lambda: lucid.normal(0.0, 1.0)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="low 3 must be below high 3"):
        lucid.randint(3, 3, (2,))
