"""lucid.models.load_weights: files of Hugging Face, names of other libraries, and weights that do not fit."""

import io
import json
import pathlib
import shutil

import lucid
import pytest
from lucid.models import layouts, load_weights

PUBLISHED = pathlib.Path(__file__).parent / "data" / "published"
GPT = {"vocab_size": 11, "context": 6, "dim": 8, "heads": 2, "layers": 2}
BERT = {**GPT, "hidden": 12}
VIT = {
    "image_size": 8,
    "patch_size": 4,
    "dim": 8,
    "heads": 2,
    "layers": 2,
    "hidden": 12,
    "num_classes": 3,
}


def close(got, expected):
    assert lucid.allclose(got, expected, rtol=0, atol=1e-12), (got - expected).abs().max()


def load_published(name, model):
    """The network with the weights of a folder, in double precision, and the inputs and results of the folder."""
    model = load_weights(model, PUBLISHED / name)
    return model.to(lucid.float64).eval(), lucid.load(PUBLISHED / name / "expected.safetensors")


@pytest.mark.parametrize("name", ["gpt2", "gpt2_base"])
def test_gpt2(name):
    """The first is in two files with an index, the second is a pickle without an output layer."""
    model, expected = load_published(name, lucid.models.gpt(**GPT))
    close(model(expected["tokens"]), expected["result 0"])


@pytest.mark.parametrize("name", ["BertModel", "BertForMaskedLM", "BertForSequenceClassification"])
def test_bert(name):
    has_pooler = name != "BertForMaskedLM"
    model, expected = load_published(name, lucid.models.bert(**BERT, pooler=has_pooler))
    found = model(expected["tokens"], attention_mask=expected["mask"])
    close(found[0] if has_pooler else found, expected["result 0"])
    if has_pooler:
        close(found[1], expected["result 1"])


def test_bert_without_the_pooler_of_the_file():
    model, expected = load_published("BertModel", lucid.models.bert(**BERT, pooler=False))
    close(model(expected["tokens"], attention_mask=expected["mask"]), expected["result 0"])


def test_vision_transformer():
    model, expected = load_published("vit", lucid.models.vit(**VIT))
    close(model(expected["images"]), expected["result 0"])


RESNETS = {"basic": ([1, 2, 1, 1], False), "bottleneck": ([1, 1, 2, 1], True)}


@pytest.mark.parametrize("kind", RESNETS)
def test_resnet_of_hugging_face(kind):
    names = json.loads((PUBLISHED / "names.json").read_text())[kind]
    state = {name: lucid.full(shape, i) for i, (name, shape) in enumerate(names.items())}
    model = load_weights(lucid.models.ResNet(*RESNETS[kind]), state)
    assert len(model.state_dict()) == len(names)
    places = {name: i for i, name in enumerate(names)}
    found = {name: value.flatten()[0].item() for name, value in model.state_dict().items()}
    assert sorted(found.values()) == sorted(places.values())
    assert found["conv1.weight"] == places["resnet.embedder.embedder.convolution.weight"]
    for ours, theirs in {
        "layer1.0.conv1.weight": "0.layers.0.layer.0.convolution.weight",
        "layer2.0.conv2.weight": "1.layers.0.layer.1.convolution.weight",
        "layer3.0.bn2.running_var": "2.layers.0.layer.1.normalization.running_var",
        "layer4.0.downsample.0.weight": "3.layers.0.shortcut.convolution.weight",
        "layer4.0.downsample.1.bias": "3.layers.0.shortcut.normalization.bias",
    }.items():
        assert found[ours] == places[f"resnet.encoder.stages.{theirs}"]
    assert found["fc.bias"] == places["classifier.1.bias"]


def renamed(state, *changes):
    for old, new in changes:
        state = {name.replace(old, new): value for name, value in state.items()}
    return state


BLOCK = "encoder.layers.encoder_layer_"


def test_vision_transformers_of_timm_and_torchvision():
    trained = lucid.models.vit(**VIT)
    for parameter in trained.parameters():
        parameter.data.normal_()
    state = trained.state_dict()
    old = renamed(state, ("mlp.0", "mlp.linear_1"), ("mlp.3", "mlp.linear_2"))
    assert f"{BLOCK}1.mlp.linear_2.bias" in old
    timm = renamed(
        state,
        *((BLOCK, "blocks."), ("ln_1", "norm1"), ("ln_2", "norm2"), ("self_attention.in_proj_", "attn.qkv.")),
        *(("self_attention.out_proj", "attn.proj"), ("mlp.0", "mlp.fc1"), ("mlp.3", "mlp.fc2")),
        *(("encoder.ln", "norm"), ("heads.head", "head"), ("class_token", "cls_token")),
        *(("encoder.pos_embedding", "pos_embed"), ("conv_proj", "patch_embed.proj")),
    )
    assert {"blocks.1.attn.qkv.bias", "norm.weight", "pos_embed", "head.bias"} <= set(timm)
    for other in (state, old, timm):
        model = load_weights(lucid.models.vit(**VIT), other)
        for name, value in model.state_dict().items():
            assert lucid.equal(value, state[name]), name


def test_older_names_of_bert():
    trained = lucid.models.bert(**BERT)
    state = renamed(trained.state_dict(), ("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta"))
    state = {f"bert.{name}": value for name, value in state.items()}
    state["bert.embeddings.position_ids"] = lucid.arange(6).reshape(1, 6)
    state["cls.predictions.bias"] = lucid.zeros(11)
    model = load_weights(lucid.models.bert(**BERT), state)
    for name, value in trained.state_dict().items():
        assert lucid.equal(model.state_dict()[name], value), name


def test_masks_in_files_of_gpt2_are_ignored():
    trained = lucid.load_torch(PUBLISHED / "gpt2_base" / "pytorch_model.bin")
    trained |= {"h.0.attn.bias": lucid.ones(1, 1, 6, 6), "h.0.attn.masked_bias": lucid.tensor(-1e4)}
    model = load_weights(lucid.models.gpt(**GPT), trained)
    assert lucid.equal(model.head.weight, model.tok.weight)
    assert model.head.weight.data_ptr() != model.tok.weight.data_ptr()


@pytest.mark.parametrize("make", [lucid.models.lenet_5, lucid.models.resnet_18, lucid.models.mobilenet_v2])
def test_names_of_the_network_itself(make, tmp_path):
    trained = make()
    lucid.save(trained.state_dict(), tmp_path / "weights")
    model = make()
    assert load_weights(model, tmp_path / "weights") is model
    for name, value in model.state_dict().items():
        assert lucid.equal(value, trained.state_dict()[name]), name


def test_files_before_num_batches_tracked():
    state = {
        name: value for name, value in lucid.models.ResNet([1, 1, 1, 1]).state_dict().items() if "num_b" not in name
    }
    load_weights(lucid.models.ResNet([1, 1, 1, 1]), state)


def test_sources(tmp_path):
    folder = PUBLISHED / "BertModel"
    expected = lucid.load(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    shutil.copytree(PUBLISHED / "gpt2", tmp_path / "gpt2")
    with open(folder / "model.safetensors", "rb") as file:
        for source in (folder, str(folder), folder / "model.safetensors", file):
            model = load_weights(lucid.models.bert(**BERT), source)
            assert lucid.equal(model.state_dict()["embeddings.word_embeddings.weight"], expected)
    data = (PUBLISHED / "gpt2_base" / "pytorch_model.bin").read_bytes()
    load_weights(lucid.models.gpt(**GPT), io.BytesIO(data))
    load_weights(lucid.models.gpt(**GPT), tmp_path / "gpt2" / "model.safetensors.index.json")
    with pytest.raises(FileNotFoundError, match=r"has none of model\.safetensors"):
        load_weights(lucid.models.gpt(**GPT), tmp_path)
    with pytest.raises(FileNotFoundError):
        load_weights(lucid.models.gpt(**GPT), tmp_path / "nothing.pth")


def test_any_module_with_its_own_names():
    class Net(lucid.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = lucid.nn.Linear(2, 3)

    state = {"layer.weight": lucid.ones(3, 2), "layer.bias": lucid.zeros(3)}
    assert load_weights(Net(), state).layer.weight.tolist() == [[1, 1]] * 3
    with pytest.raises(ValueError, match=r"the state dict does not fit Net: missing 'layer\.bias'"):
        load_weights(Net(), {"layer.weight": lucid.ones(3, 2)})


def test_a_subclass_and_a_compiled_model():
    class Mine(lucid.models.Bert):
        pass

    load_weights(Mine(**BERT), PUBLISHED / "BertForSequenceClassification")
    load_weights(lucid.models.bert(**BERT).compile(), PUBLISHED / "BertForSequenceClassification")


def test_values_are_cast_to_the_dtype_of_the_network():
    model = load_weights(lucid.models.bert(**BERT).to(lucid.bfloat16), PUBLISHED / "BertModel")
    assert {value.dtype for value in model.parameters()} == {lucid.bfloat16}


def test_everything_wrong_is_listed_at_once_and_nothing_is_written():
    model = lucid.models.gpt(**GPT)
    state = {f"transformer.{k}": v for k, v in lucid.load_torch(PUBLISHED / "gpt2_base" / "pytorch_model.bin").items()}
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for name in [name for name in state if ".h.1." in name]:
        del state[name]
    state |= {"transformer.h.7.ln_1.bias": lucid.ones(8), "odd": lucid.ones(1), "tok.weight": lucid.ones(1)}
    state["transformer.h.0.attn.c_attn.weight"] = lucid.ones(24, 8)
    with pytest.raises(ValueError, match="load_weights: the state dict does not fit GPT: ") as error:
        load_weights(model, state)
    assert str(error.value).removeprefix("load_weights: the state dict does not fit GPT: ").split("; ") == [
        "missing 'blocks.1.ln1.weight', 'blocks.1.ln1.bias', 'blocks.1.ln2.weight', 'blocks.1.ln2.bias', "
        "'blocks.1.qkv.weight' and 7 more",
        "unexpected 'transformer.h.7.ln_1.bias', 'odd'",
        "given twice: 'tok.weight'",
        "'blocks.0.qkv.weight' has shape (8, 24), expected (24, 8)",
    ]
    for name, value in model.state_dict().items():
        assert lucid.equal(value, before[name]), name


def test_a_part_of_a_weight_that_is_missing():
    state = dict(lucid.load(PUBLISHED / "vit" / "model.safetensors"))
    del state["vit.encoder.layer.0.attention.attention.key.bias"]
    with pytest.raises(ValueError, match=f"missing '{BLOCK}0.self_attention.in_proj_bias'$"):
        load_weights(lucid.models.vit(**VIT), state)


def test_checkpoints_are_not_state_dicts():
    with pytest.raises(ValueError, match=r"has dict objects among its tensors, at key 'model'; pass the state dict"):
        load_weights(lucid.models.gpt(**GPT), {"model": {}, "epoch": 3})
    file = io.BytesIO()
    lucid.save([lucid.ones(2)], file)
    with pytest.raises(ValueError, match="the file contains a list, not a dict of tensors"):
        load_weights(lucid.models.gpt(**GPT), io.BytesIO(file.getvalue()))
    with pytest.raises(ValueError, match="load_torch: "):
        load_weights(lucid.models.gpt(**GPT), io.BytesIO(b"no weights"))


BAD_INDEXES = {
    "no JSON": (b"{", "is not a JSON file"),
    "no text": (b"\xff\xfe\x00", "is not a JSON file"),
    "deep": (b"[" * 100_000, "is not a JSON file"),
    "a list": (b"[]", "has no weight_map"),
    "no map": (b'{"weight_map": 3}', "has no weight_map"),
    "no names": (b'{"weight_map": {"a": 3}}', "has no weight_map"),
    "elsewhere": (b'{"weight_map": {"a": "../secret"}}', "'../secret', which is not in its folder"),
    "absolute": (b'{"weight_map": {"a": "/etc/passwd"}}', "not in its folder"),
    "the folder": (b'{"weight_map": {"a": ".."}}', "not in its folder"),
    "a zero byte": (b'{"weight_map": {"a": "\\u0000"}}', "not in its folder"),
    "another name": (b'{"weight_map": {"a": "model.safetensors"}}', "does not contain 'a'"),
}


@pytest.mark.parametrize("kind", BAD_INDEXES)
def test_bad_indexes(kind, tmp_path):
    data, message = BAD_INDEXES[kind]
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(data)
    shutil.copy(PUBLISHED / "BertModel" / "model.safetensors", tmp_path)
    with pytest.raises(ValueError, match=message):
        load_weights(lucid.models.bert(**BERT), path)


def test_every_pattern_leads_to_a_weight():
    models = {
        lucid.models.GPT: lucid.models.gpt(**GPT),
        lucid.models.Bert: lucid.models.bert(**BERT),
        lucid.models.ResNet: lucid.models.ResNet([1, 1, 1, 1]),
        lucid.models.VisionTransformer: lucid.models.vit(**VIT),
    }
    assert set(models) == set(layouts.LAYOUTS)
    for kind, layout in layouts.LAYOUTS.items():
        names = models[kind].state_dict()
        for pattern, target in layout.names.items():
            rest = ["embeddings"] if pattern.startswith("*") else ["weight", "bias"]
            examples = [pattern.replace("#", "1", 1).replace("#", "0").replace("*", word) for word in rest]
            found = [layouts.find_target(layout, example, names.__contains__) for example in examples]
            assert any(each.name in names for each in found), (pattern, target, found)
