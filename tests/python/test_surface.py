"""Names that users of PyTorch or NumPy expect exist as functions, methods and in-place methods."""

import copy
import pickle

import lucid
import numpy as np
import pytest


def words(text):
    return text.split()


CREATION = words("""tensor from_numpy zeros ones full empty eye arange linspace as_tensor zeros_like ones_like full_like
empty_like rand randn randint rand_like randn_like multinomial randperm bernoulli normal manual_seed Generator
get_rng_state set_rng_state""")
POINTWISE = words("""add sub mul div floor_divide remainder pow neg abs sign exp exp2 expm1 log log2 log10 log1p sqrt
rsqrt
reciprocal square sin cos tan asin acos atan atan2 sinh cosh tanh sigmoid erf erfc ndtr relu gelu silu leaky_relu
elu
softplus
hardswish hardsigmoid clamp minimum maximum floor ceil round trunc eq ne lt le gt ge logical_and logical_or logical_not
logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor bitwise_left_shift bitwise_right_shift nan_to_num lerp
addcmul
addcdiv masked_fill clip relu6""")
TESTS = words("where isnan isinf isfinite isclose allclose equal")
REDUCTIONS = words("""sum mean var std prod max min amax amin argmax argmin any all norm logsumexp cumsum cumprod
count_nonzero
nansum nanmean var_mean diff softmax log_softmax""")
MOVEMENT = words("""reshape flatten unflatten squeeze unsqueeze transpose permute swapaxes broadcast_to tile
repeat_interleave
split chunk unbind flip roll pad tril triu diag diagonal movedim narrow""")
JOINING = words("cat stack meshgrid hstack vstack einsum")
INDEXING = words("""gather scatter scatter_add scatter_reduce index_select index_add index_put take_along_dim
masked_select
nonzero one_hot embedding""")
PRODUCTS = words("matmul bmm mm mv dot outer addmm baddbmm linear bilinear tensordot cdist")
SORTING = words("sort argsort topk kthvalue median unique searchsorted bincount histc")
SETTINGS = words("""device gpu set_num_threads get_num_threads grad_enabled is_grad_enabled no_grad enable_grad
set_grad_enabled set_default_dtype get_default_dtype finfo iinfo set_printoptions autograd""")
DTYPES = words("bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 u8 i8 i16 i32 i64 f16 bf16 f32 f64")

METHODS = words("""item tolist numel dim ndim size T mT shape dtype device stride detach clone cpu float double half
bfloat16
long int short char byte bool type_as to new_zeros new_ones new_empty new_full new_tensor fill_ zero_ copy_ view expand
repeat contiguous is_contiguous requires_grad requires_grad_ is_leaf grad grad_fn data backward register_hook
retain_grad
numpy data_ptr element_size multinomial bernoulli uniform_ normal_ bernoulli_ exponential_ t expand_as view_as
reshape_as
__array__ __array_namespace__ __dlpack__ __dlpack_device__ __len__ __iter__ __hash__ __format__ __deepcopy__ __copy__
__reduce_ex__ __bool__ __float__ __int__ __index__ __contains__ __getitem__ __setitem__ __matmul__""")
IN_PLACE = words("""scatter_ scatter_add_ scatter_reduce_ index_add_ index_put_ cumsum_ cumprod_ tril_ triu_ addmm_
baddbmm_
squeeze_ unsqueeze_ transpose_ swapaxes_ swapdims_ t_ detach_""")


@pytest.mark.parametrize(
    "name",
    CREATION + POINTWISE + TESTS + REDUCTIONS + MOVEMENT + JOINING + INDEXING + PRODUCTS + SORTING + SETTINGS + DTYPES,
)
def test_module_has(name):
    assert getattr(lucid, name).__doc__ if callable(getattr(lucid, name)) else hasattr(lucid, name)


@pytest.mark.parametrize(
    "name", POINTWISE + TESTS + REDUCTIONS + MOVEMENT + INDEXING + PRODUCTS + SORTING + METHODS + IN_PLACE
)
def test_tensor_has(name):
    assert hasattr(lucid.Tensor, name)


@pytest.mark.parametrize("name", POINTWISE)
def test_elementwise_functions_have_an_in_place_form(name):
    assert hasattr(lucid.Tensor, f"{name}_")


@pytest.mark.parametrize("name", [name for name in REDUCTIONS if name != "allclose"])
def test_reductions_take_both_spellings(name):
    x = lucid.tensor([[1.0, 4.0], [3.0, 2.0]])
    function = getattr(lucid, name)
    by_dim, by_axis = function(x, dim=1), function(x, axis=1)
    pairs = zip(by_dim, by_axis) if isinstance(by_dim, tuple) else [(by_dim, by_axis)]
    assert all(lucid.equal(*pair) for pair in pairs)
    if name in ("cumsum", "cumprod", "diff", "count_nonzero", "softmax", "log_softmax"):
        return
    kept = function(x, dim=1, keepdims=True)
    assert (kept[0] if isinstance(kept, tuple) else kept).shape == (2, 1)


def test_defaults():
    assert lucid.tensor(1.0).dtype is lucid.float32
    assert lucid.tensor(1).dtype is lucid.int64
    assert lucid.tensor(np.ones(2)).dtype is lucid.float64
    x = lucid.tensor([1.0, 3.0])
    assert x.std().item() == pytest.approx(2**0.5)
    assert lucid.var(x, correction=0).item() == 1.0
    values, indices = x.max(dim=0)
    assert (values.item(), indices.item()) == (3.0, 1)
    assert str(x.device) == "cpu"
    assert lucid.gpu.is_available() in (True, False)
    for sample in (lucid.rand, lucid.randn):
        first = sample(3, generator=lucid.Generator().manual_seed(1))
        assert lucid.equal(first, sample(3, generator=lucid.Generator().manual_seed(1)))


def test_objects():
    x = lucid.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert f"{x[0, 1]:.2f}" == "2.00"
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1.0, 2.0], [3.0, 4.0]]
    assert len({x, x}) == 1
    for copied in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert lucid.equal(copied, x)
        assert copied.data_ptr() != x.data_ptr()
    assert copy.copy(x).data_ptr() == x.data_ptr()
    assert type(np.ones((2, 2)) + x) is lucid.Tensor
    with pytest.raises(RuntimeError):
        bool(x)


def test_in_place_shapes():
    """The handle gets another shape; its memory, other views and its position in the graph stay the same."""
    base = lucid.arange(6.0).reshape(2, 3)
    x = base.clone()
    row = x[1]
    assert x.t_() is x
    assert x.shape == (3, 2)
    assert x.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    x.unsqueeze_(0).swapaxes_(0, 2).squeeze_(2)
    assert x.shape == (2, 3)
    assert row.tolist() == [3.0, 4.0, 5.0]
    row[0] = 9.0
    assert x[1, 0].item() == 9.0
    vector = lucid.arange(3.0)
    assert vector.t_().shape == (3,)
    with pytest.raises(RuntimeError, match="at most 2"):
        lucid.zeros(1, 2, 3).t_()
    with pytest.raises(IndexError):
        lucid.zeros(2).transpose_(0, 3)


def test_in_place_shapes_and_gradients():
    x = lucid.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    part = y[0]
    y.transpose_(0, 1)
    (y * lucid.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[2.0, 6.0, 10.0], [4.0, 8.0, 12.0]]
    x.grad = None
    part.unsqueeze_(0)
    assert part.shape == (1, 3)
    part.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[2.0] * 3, [0.0] * 3]
    x.grad = None
    part.mul_(3.0)
    y.sum().backward()
    assert x.grad.tolist() == [[6.0] * 3, [2.0] * 3]
    with pytest.raises(RuntimeError, match="leaf"):
        x.t_()
    with lucid.no_grad():
        x.t_()
    assert x.shape == (3, 2)
    x.grad = None
    (x * lucid.ones(3, 2)).sum().backward()
    assert x.grad.shape == (3, 2)


@pytest.mark.parametrize(
    "make",
    [
        lucid.zeros_like,
        lucid.ones_like,
        lucid.empty_like,
        lambda x, **rest: lucid.full_like(x, 2, **rest),
        lucid.rand_like,
        lucid.randn_like,
        lambda x, **rest: lucid.randint_like(x, 5, **rest),
    ],
)
def test_like_keeps_the_layout(make):
    dense = lucid.zeros(2, 3, 4, requires_grad=True).permute(2, 0, 1)
    assert make(dense).stride() == dense.stride() == (1, 12, 4)
    assert make(dense, dtype=lucid.float64).stride() == (1, 12, 4)
    assert not make(dense).requires_grad
    assert make(lucid.zeros(4, 6)[:, ::2]).stride() == (3, 1)
    assert make(lucid.zeros(3, 1).expand(3, 4)).stride() == (4, 1)
    assert dense.clone().stride() == (1, 12, 4)
