"""lucid.models.GPTDecoder: a GPT that keeps the keys and values of earlier tokens."""

import lucid
import pytest
from lucid import models
from same import bits

SIZES = {"vocab_size": 17, "context": 12, "dim": 16, "heads": 2, "layers": 2}


@pytest.fixture
def model():
    lucid.manual_seed(3)
    return models.GPT(**SIZES).eval()


def state_of(decoder):
    return {name: bits(tensor) for name, tensor in decoder.named_buffers()}


@pytest.mark.parametrize("counts", [[1] * 12, [5, 1, 1, 5], [12]])
def test_scores_equal_those_of_the_whole_text(model, counts):
    tokens = lucid.randint(0, 17, (2, 12))
    decoder = models.GPTDecoder(model, batch_size=2)
    end = 0
    for count in counts:
        scores = decoder(tokens[:, end : end + count])
        end += count
        with lucid.no_grad():
            expected = model(tokens[:, :end])[:, -1]
        assert lucid.allclose(scores, expected, rtol=1e-5, atol=1e-6)
    assert decoder.position.item() == 12


def test_a_compiled_step_writes_in_place(model):
    tokens = lucid.randint(0, 17, (1, 6))
    eager, decoder = models.GPTDecoder(model), models.GPTDecoder(model)
    step = lucid.compile(decoder, wait=True)
    addresses = {name: tensor.data_ptr() for name, tensor in decoder.named_buffers()}
    for i in range(6):
        assert bits(step(tokens[:, i : i + 1])) == bits(eager(tokens[:, i : i + 1]))
        assert state_of(decoder) == state_of(eager)
    assert step.cache_info().hits == 5
    assert {name: tensor.data_ptr() for name, tensor in decoder.named_buffers()} == addresses


def test_tokens_beyond_the_context_leave_the_state_as_it_was(model):
    decoder = models.GPTDecoder(model)
    step = lucid.compile(decoder, wait=True)
    for _ in range(12):
        step(lucid.tensor([[1]]))
    before = state_of(decoder)
    for call in (decoder, step):
        with pytest.raises(IndexError):
            call(lucid.tensor([[1]]))
        assert state_of(decoder) == before
    decoder.position.zero_()
    assert step(lucid.tensor([[1]])).shape == (1, 17)


def test_wrong_tokens_leave_the_state_as_it_was(model):
    decoder = models.GPTDecoder(model)
    step = lucid.compile(decoder, wait=True)
    step(lucid.tensor([[1]])), step(lucid.tensor([[2]]))
    before = state_of(decoder)
    with pytest.raises(IndexError):
        step(lucid.tensor([[17]]))
    assert state_of(decoder) == before


def test_wrong_arguments(model):
    with pytest.raises(ValueError, match=r"GPTDecoder: expected tokens of shape \(1, count\)"):
        models.GPTDecoder(model)(lucid.tensor([[1], [2]]))
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        models.GPTDecoder(model, batch_size=0)
