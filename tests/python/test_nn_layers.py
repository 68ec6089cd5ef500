"""Settings, errors, statistics and initial values of layers."""

import copy
import math
import pickle

import lucid
import pytest
from interpreter import run_python
from lucid import nn
from module_cases import CASES


def layer_classes():
    for name in nn.__all__:
        found = getattr(nn, name)
        if isinstance(found, type) and issubclass(found, nn.Module):
            yield found


CASES_BY_NAME = {case.name: case for case in reversed(CASES)}
# Arguments of those that need some and have no case.
ARGUMENTS = {
    "LazyLinear": lambda: (3,),
    "ConstantPad1d": lambda: (1, 0.5),
    "ConstantPad3d": lambda: (1, 0.5),
    **{f"MaxUnpool{d}d": lambda: (2,) for d in (1, 2, 3)},
    "TransformerEncoder": lambda: (nn.TransformerEncoderLayer(4, 2, 8), 2),
    "TransformerDecoder": lambda: (nn.TransformerDecoderLayer(4, 2, 8), 2),
}


def make(cls):
    case = CASES_BY_NAME.get(cls.__name__)
    return cls(*case.args, **case.kwargs) if case else cls(*ARGUMENTS.get(cls.__name__, tuple)())


@pytest.mark.parametrize("cls", list(layer_classes()), ids=lambda cls: cls.__name__)
def test_every_layer_is_copied_pickled_printed_and_documented(cls):
    module = make(cls)
    text = repr(module)
    assert cls.__doc__
    for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(made) is cls
        assert repr(made) == text
        assert made._settings() == module._settings()
        assert list(made.state_dict()) == list(module.state_dict())
        for ours, theirs in zip(made.parameters(), module.parameters()):
            assert lucid.equal(ours, theirs)
    assert module.double() is module
    for setting in module._settings():
        before = module._version
        setattr(module, setting, getattr(module, setting))
        assert module._version > before, setting


def test_settings_are_attributes_that_take_effect():
    dropout = nn.Dropout(0.5)
    dropout.p = 1.0
    assert dropout(lucid.ones(4)).sum() == 0
    norm = nn.LayerNorm(4, eps=0.0)
    norm.eps = 1e9
    assert norm(lucid.randn(2, 4)).abs().max() < 1e-3
    with pytest.raises(TypeError, match=r"eps.*number"):
        norm.eps = "text"
    with pytest.raises(AttributeError):
        del norm.eps


@pytest.mark.parametrize(
    ("make_layer", "message"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "3 in_channels cannot be split into 2 groups"),
        (lambda: nn.Conv2d(4, 4, (3, 3, 3)), "kernel_size must be one number or 2, got 3"),
        (lambda: nn.Conv2d(4, 4, 3, padding="some"), "padding must be numbers, 'same' or 'valid', got 'some'"),
        (lambda: nn.Conv2d(4, 4, 3, stride=2, padding="same"), "needs stride 1"),
        (lambda: nn.GroupNorm(3, 4), "4 channels cannot be split into 3 groups"),
        (lambda: nn.Dropout(2), "p must be between 0 and 1, got 2"),
        (lambda: nn.Embedding(4, 2, padding_idx=7), "padding_idx 7 is out of range for 4 rows"),
        (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size must be below hidden_size 4"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), "'tanh' or 'relu', got 'sin'"),
        (lambda: nn.MultiheadAttention(7, 2), "embed_dim 7 cannot be split into 2 heads"),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"), "'relu', 'gelu' or a function"),
        (lambda: nn.BatchNorm2d(3)(lucid.ones(3)), r"BatchNorm2d: expected 4 dimensions, got f32\[3\]"),
        (lambda: nn.LSTM(3, 4)(lucid.ones(5, 2, 7)), r"expected inputs of size 3, got f32\[10,7\]"),
        (lambda: nn.Dropout2d()(lucid.ones(3)), "expected 3 or 4 dimensions"),
    ],
)
def test_errors_describe_the_problem(make_layer, message):
    with pytest.raises(ValueError, match=message):
        make_layer()


def test_errors_of_calls():
    with pytest.raises(TypeError, match=r"Linear.forward: argument 'input' is missing"):
        nn.Linear(2, 2)()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'other'"):
        nn.Linear(2, 2)(lucid.ones(2), other=1)
    with pytest.raises(TypeError, match=r"must be a tensor"):
        nn.Linear(2, 2)([1.0, 2.0])
    with pytest.raises(TypeError, match=r"'target' is missing"):
        nn.MSELoss()(lucid.ones(2))


def test_batch_norm_keeps_statistics():
    norm = nn.BatchNorm1d(2, momentum=None)
    batches = [lucid.randn(8, 2) for _ in range(3)]
    for batch in batches:
        norm(batch)
    assert norm.num_batches_tracked.item() == 3
    mean = sum(batch.mean(0) for batch in batches) / 3
    assert lucid.allclose(norm.running_mean, mean, atol=1e-6)
    kept = norm.running_mean
    norm.eval()
    norm(lucid.randn(8, 2))
    assert norm.running_mean is kept
    assert lucid.allclose(kept, mean, atol=1e-6)
    norm.reset_running_stats()
    assert norm.num_batches_tracked.item() == 0
    assert norm.running_var.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_of_rows_are_divided_by_their_uses(mode):
    indices = lucid.tensor([[0, 1, 2, 0, 2], [1, 1, 0, 2, 2]])
    plain, scaled = (nn.EmbeddingBag(4, 2, mode=mode, padding_idx=1, scale_grad_by_freq=s) for s in (False, True))
    scaled.load_state_dict(plain.state_dict())
    assert lucid.equal(scaled(indices), plain(indices))
    for bag in (plain, scaled):
        (bag(indices) ** 2).sum().backward()
    assert lucid.allclose(scaled.weight.grad, plain.weight.grad / lucid.tensor([[3], [1], [4], [1]]))
    assert scaled.weight.grad[2].abs().sum() > 0
    functional = nn.functional.embedding_bag(indices, plain.weight, mode=mode, padding_idx=1, scale_grad_by_freq=True)
    plain.weight.grad = None
    (functional**2).sum().backward()
    assert lucid.equal(plain.weight.grad, scaled.weight.grad)


def test_rows_whose_gradients_are_divided_keep_their_values():
    weight = nn.Parameter(lucid.tensor([[math.inf, -0.0], [math.nan, 1.0]]))
    rows = nn.functional.embedding(lucid.tensor([0, 0, 1]), weight, scale_grad_by_freq=True)
    assert str(rows.tolist()) == "[[inf, -0.0], [inf, -0.0], [nan, 1.0]]"
    rows.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="not 'max'"):
        nn.functional.embedding_bag(lucid.tensor([[0]]), weight, mode="max", scale_grad_by_freq=True)


def test_initial_values_have_the_right_spread():
    lucid.manual_seed(0)
    linear = nn.Linear(100, 400)
    assert linear.weight.abs().max() <= 0.1
    assert abs(linear.weight.std().item() - 0.1 / math.sqrt(3)) < 1e-3
    conv = nn.Conv2d(4, 50, 5)
    assert conv.weight.abs().max() <= 0.1
    assert conv.bias.abs().max() <= 0.1
    embedding = nn.Embedding(200, 100)
    assert abs(embedding.weight.std().item() - 1) < 0.02
    lstm = nn.LSTM(10, 25)
    assert max(p.abs().max().item() for p in lstm.parameters()) <= 0.2
    attention = nn.MultiheadAttention(48, 4)
    assert attention.in_proj_weight.abs().max() <= math.sqrt(6 / (48 * 4))
    assert attention.out_proj.bias.abs().sum() == 0


def test_initialisers_use_the_given_generator():
    first = lucid.Generator().manual_seed(3)
    second = lucid.Generator().manual_seed(3)
    a = nn.init.kaiming_normal_(lucid.empty(4, 4), generator=first)
    lucid.rand(7)
    b = nn.init.kaiming_normal_(lucid.empty(4, 4), generator=second)
    assert lucid.equal(a, b)
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        nn.init.xavier_uniform_(lucid.empty(3))
    with pytest.raises(ValueError, match="unknown nonlinearity 'sin'"):
        nn.init.calculate_gain("sin")
    parameter = nn.init.ones_(nn.Parameter(lucid.zeros(2)))
    assert parameter.tolist() == [1.0, 1.0]
    assert parameter.is_leaf


_EMPTY = """
from lucid import nn
import lucid, signal
signal.alarm(50)
shapes = [(0,), (0, 3), (3, 0), (3, 3, 0), (0, 3, 3), (3, 0, 2, 2), (2, 2, 2, 0, 2)]
shapes += [(0, 2**40), (2**40, 0), (2**31, 0, 3)]
for shape in shapes:
    for init in (
        *(nn.init.uniform_, nn.init.normal_, nn.init.trunc_normal_, nn.init.ones_, nn.init.zeros_, nn.init.eye_),
        *(nn.init.xavier_uniform_, nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_),
        *(nn.init.orthogonal_, lambda x: nn.init.constant_(x, 1.0), lambda x: nn.init.sparse_(x, 0.5)),
        *(lambda x, groups=groups: nn.init.dirac_(x, groups) for groups in (1, 2, 3, 2**40, 2**62)),
        lambda x: nn.init.trunc_normal_(x, 0.0, 1.0, 5.0, 6.0),
    ):
        x = lucid.zeros(shape)
        try:
            assert init(x) is x and x.shape == shape
        except ValueError:
            pass
print("done")
"""


def test_initialisers_do_nothing_to_tensors_without_elements():
    assert run_python(_EMPTY) == "done\n"
    assert nn.init.dirac_(lucid.zeros(3, 3, 0)).shape == (3, 3, 0)


def test_sparse_refuses_more_zeros_than_elements():
    for sparsity in (2.0, -0.5, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            nn.init.sparse_(lucid.zeros(3, 3), sparsity)
    assert nn.init.sparse_(lucid.zeros(3, 3), 1.0).abs().sum() == 0


def test_attention_can_be_replaced_by_python():
    class Mean(nn.Module):
        def forward(self, query, key, value, **options):
            self.options = options
            return value.mean(0, keepdim=True).expand(query.shape), None

    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation=lambda x: x * 0)
    layer.self_attn = Mean()
    encoder = nn.TransformerEncoder(layer, 2)
    assert encoder(lucid.randn(5, 2, 4)).shape == (5, 2, 4)
    assert encoder.layers[1].self_attn.options["need_weights"] is False
    assert layer.self_attn is not encoder.layers[0].self_attn


def test_functional_has_the_table_and_more():
    functional = nn.functional
    x = lucid.tensor([-1.0, 2.0])
    assert functional.relu(x).tolist() == [0.0, 2.0]
    assert functional.relu(x, inplace=True) is x
    assert functional.softmax(x, dim=0).sum().item() == pytest.approx(1)
    assert functional.pad(x, (1, 1)).shape == (4,)
    assert functional.mse_loss(x, x).item() == 0
    assert "layer_norm" in dir(functional)
    with pytest.raises(AttributeError, match="nothing"):
        _ = functional.nothing
    with pytest.raises(ValueError, match="between 0 and 1"):
        functional.dropout(x, 2)


def test_pruning_and_weight_norm_of_cpp_layers():
    layer = nn.Linear(4, 2)
    nn.utils.prune.l1_unstructured(layer, "weight", 6)
    assert int((layer.weight == 0).sum()) == 6
    layer(lucid.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad is not None
    assert int((layer.weight_orig.grad == 0).sum()) == 6
    nn.utils.prune.l1_unstructured(layer, "weight", 1)
    assert int((layer.weight == 0).sum()) == 7
    nn.utils.prune.remove(layer, "weight")
    assert not nn.utils.prune.is_pruned(layer)
    normed = nn.utils.weight_norm(nn.Linear(4, 2))
    with pytest.raises(RuntimeError, match="already"):
        nn.utils.weight_norm(normed)
    with pytest.raises(ValueError, match="weight"):
        nn.utils.remove_weight_norm(nn.Linear(2, 2))
