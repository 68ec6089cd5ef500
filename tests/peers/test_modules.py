"""Output, gradients and state of every module compared with PyTorch, with PyTorch's parameters loaded, in float64."""

import copy

import lucid
import numpy as np
import pytest
import torch
from module_cases import CASES, RANDOM, TOLERANCE


def to_both(value):
    if isinstance(value, np.ndarray):
        return lucid.tensor(value), torch.tensor(value)
    return value, value


def make(case):
    pairs = [to_both(value) for value in case.args]
    named = {name: to_both(value) for name, value in case.kwargs.items()}
    ours = getattr(lucid.nn, case.name)(*[a for a, _ in pairs], **{k: a for k, (a, _) in named.items()})
    theirs = getattr(torch.nn, case.name)(*[b for _, b in pairs], **{k: b for k, (_, b) in named.items()})
    return ours.double().train(case.train), theirs.double().train(case.train)


def state_of(module):
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items()}


def flat(value):
    """The tensors of a result, in order."""
    if isinstance(value, tuple | list):
        return [tensor for part in value for tensor in flat(part)]
    return [] if value is None else [value]


def close(ours, theirs, what, tolerance=TOLERANCE):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=what)


def same_states(ours, theirs, what):
    mine, other = state_of(ours), state_of(theirs)
    assert list(mine) == list(other), what
    for name in mine:
        close(mine[name], other[name], f"{what}: {name}")


def backward(library, outputs, weights):
    total = sum((output * library.tensor(weight)).sum() for output, weight in zip(outputs, weights))
    total.backward()


def run(library, module, arrays, named, weights, learned):
    inputs = [library.tensor(array) for array in arrays]
    for tensor in inputs[:learned]:
        if tensor.is_floating_point():
            tensor.requires_grad_()
    given = {name: library.tensor(v) if isinstance(v, np.ndarray) else v for name, v in named.items()}
    outputs = [o for o in flat(module(*inputs, **given)) if o.is_floating_point()]
    differentiable = [o for o in outputs if o.requires_grad]
    if differentiable:
        backward(library, differentiable, weights[: len(differentiable)])
    return inputs, outputs


@pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:Using padding")
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module_matches_torch(case):
    ours, theirs = make(case)
    assert [(n, tuple(p.shape)) for n, p in ours.named_parameters()] == [
        (n, tuple(p.shape)) for n, p in theirs.named_parameters()
    ] or case.name == "MultiheadAttention"
    ours.load_state_dict({name: lucid.tensor(array) for name, array in state_of(theirs).items()})
    # Random inputs are shared, so that both see the same numbers.
    arrays = []
    for make_input in case.inputs:
        repeated = next((a for a, other in zip(arrays, case.inputs) if other is make_input), None)
        arrays.append(make_input() if repeated is None else repeated)
    with torch.no_grad():
        expected = flat(
            copy.deepcopy(theirs)(
                *map(torch.tensor, arrays),
                **{name: torch.tensor(v) if isinstance(v, np.ndarray) else v for name, v in case.named.items()},
            )
        )
    weights = [RANDOM.uniform(-1, 1, tuple(output.shape)) for output in expected if output.is_floating_point()]
    inputs, outputs = run(lucid, ours, arrays, case.named, weights, case.learned)
    other_inputs, other_outputs = run(torch, theirs, arrays, case.named, weights, case.learned)
    assert len(outputs) == len(other_outputs)
    for i, (a, b) in enumerate(zip(outputs, other_outputs)):
        close(a.detach().numpy(), b.detach().numpy(), f"output {i}")
    for i, (a, b) in enumerate(zip(inputs, other_inputs)):
        if b.grad is not None:
            close(a.grad.numpy(), b.grad.numpy(), f"gradient of input {i}", case.gradients)
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        if gradients[name] is not None:
            close(parameter.grad.numpy(), gradients[name].numpy(), f"gradient of {name}")
    same_states(ours, theirs, "state afterwards")


def test_every_module_is_compared():
    compared = {case.name for case in CASES}
    apart = {
        *("Module", "Parameter", "Buffer", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"),
        # Tested below, or the same as another module.
        *("TransformerEncoder", "TransformerDecoder", "CTCLoss", "LazyLinear"),
        *("MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Dropout1d", "Dropout3d", "ConstantPad1d", "ConstantPad3d"),
    }
    found = {name for name in lucid.nn.__all__ if isinstance(getattr(lucid.nn, name), type)}
    assert found - compared - apart == set()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:Using padding")
def test_reprs_match_torch():
    # Lucid prints the number as it was passed. Its transformers store dropout as a number, not as modules.
    for case in CASES:
        if (
            case.name == "AvgPool1d"
            or case.name.startswith("Transformer")
            or any(isinstance(v, np.ndarray) for v in case.kwargs.values())
        ):
            continue
        ours, theirs = make(case)
        text = repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")
        assert repr(ours).lower() == text.lower(), case


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc(reduction):
    logits = RANDOM.uniform(-1, 1, (6, 2, 4))
    targets, input_lengths, target_lengths = np.array([[1, 2, 2], [3, 1, 0]]), (6, 5), (3, 2)
    results = []
    for library in (lucid, torch):
        x = library.tensor(logits).requires_grad_()
        loss = library.nn.CTCLoss(reduction=reduction)(
            x.log_softmax(2), library.tensor(targets), input_lengths, target_lengths
        )
        loss.sum().backward()
        results.append((loss.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*results):
        close(ours, theirs, "ctc")


@pytest.mark.parametrize("d", [1, 2, 3])
def test_unpooling(d):
    x = RANDOM.uniform(-1, 1, (2, 3, *[6] * d))
    results = []
    for library in (lucid, torch):
        values, indices = getattr(library.nn, f"MaxPool{d}d")(2, return_indices=True)(library.tensor(x))
        results.append(getattr(library.nn, f"MaxUnpool{d}d")(2)(values, indices).numpy())
    close(*results, "unpooling")


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("sorted_lengths", [True, False])
def test_packed_sequences(kind, sorted_lengths):
    lengths = [5, 3, 1] if sorted_lengths else [1, 5, 3]
    x = RANDOM.uniform(-1, 1, (5, 3, 3))
    ours = getattr(lucid.nn, kind)(3, 4, num_layers=2, bidirectional=True).double()
    theirs = getattr(torch.nn, kind)(3, 4, num_layers=2, bidirectional=True).double()
    ours.load_state_dict({name: lucid.tensor(array) for name, array in state_of(theirs).items()})
    results = []
    for library, module in ((lucid, ours), (torch, theirs)):
        rnn = library.nn.utils.rnn
        packed = rnn.pack_padded_sequence(library.tensor(x), lengths, enforce_sorted=sorted_lengths)
        output, state = module(packed)
        padded, found = rnn.pad_packed_sequence(output)
        results.append([t.detach().numpy() for t in flat((padded, found, state))])
    for a, b in zip(*results):
        close(a, b, "packed")


def test_clipping():
    arrays = [RANDOM.uniform(-1, 1, shape) for shape in ((3, 4), (5,))]
    for norm_type in (1.0, 2.0, float("inf")):
        results = []
        for library in (lucid, torch):
            parameters = [library.nn.Parameter(library.tensor(array)) for array in arrays]
            for parameter, array in zip(parameters, arrays):
                parameter.grad = library.tensor(array * 3)
            total = library.nn.utils.clip_grad_norm_(parameters, 0.5, norm_type)
            results.append([total.numpy(), *(p.grad.numpy() for p in parameters)])
        for a, b in zip(*results):
            close(a, b, "clipped")


@pytest.mark.parametrize("wrap", ["weight_norm", "spectral_norm"])
def test_computed_weights(wrap):
    theirs = torch.nn.Linear(4, 3).double()
    ours = lucid.nn.Linear(4, 3).double()
    ours.load_state_dict({name: lucid.tensor(array) for name, array in state_of(theirs).items()})
    with pytest.warns(FutureWarning) if wrap == "weight_norm" else nothing():
        theirs = getattr(torch.nn.utils, wrap)(theirs)
    ours = getattr(lucid.nn.utils, wrap)(ours)
    ours.load_state_dict({name: lucid.tensor(array) for name, array in state_of(theirs).items()})
    x = RANDOM.uniform(-1, 1, (2, 4))
    for _ in range(2):
        a, b = ours(lucid.tensor(x)), theirs(torch.tensor(x))
        close(a.detach().numpy(), b.detach().numpy(), wrap)
    a.sum().backward()
    b.sum().backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        close(parameter.grad.numpy(), gradients[name].numpy(), name)


class nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None
