"""The op behind scaled_dot_product_attention."""

import lucid
import pytest
from same import bits

attention = lucid._core.ops["attention"]
attention_backward = lucid._core.ops["attention_backward"]


@pytest.mark.parametrize("dtype", [lucid.f16, lucid.bf16], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_16_bit_floats_are_rounded_once(dtype, causal):
    q, k, v, mask = (lucid.randn(2, 2, *shape).to(dtype).requires_grad_() for shape in ((3, 4), (5, 4), (5, 6), (3, 5)))
    output, logsumexp = attention(q, k, v, mask, causal, 0.5)
    assert logsumexp.dtype == lucid.f32
    gradient = lucid.randn(*output.shape).to(dtype)
    lucid.autograd.backward([output, logsumexp], [gradient, lucid.ones_like(logsumexp)])
    wide = [x.detach().to(lucid.f32) for x in (q, k, v, mask, output)]
    expected = attention_backward(
        gradient.to(lucid.f32), lucid.ones_like(logsumexp), *wide, logsumexp.detach(), causal, 0.5, True
    )
    for x, found in zip((q, k, v, mask), expected):
        assert bits(x.grad) == bits(found.to(dtype))
