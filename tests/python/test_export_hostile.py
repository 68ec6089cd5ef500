"""Programs that have the right digest and describe results that do not exist. hostile_test.cpp has more of them."""

import json
import struct

import lucid
import pytest
from test_export_files import DIGEST_BYTES, sealed


def rewritten(data, edit):
    """A file whose program is what `edit` makes of it."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    contents = {name: data[8 + length :][slice(*entry["data_offsets"])] for name, entry in header.items()}
    program = json.loads(contents["lucid.program"])
    edit(program)
    contents["lucid.program"] = json.dumps(program).encode()
    parts, at = [], 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        content = contents[name]
        if name.startswith("lucid."):
            entry["shape"] = [len(content)]
        entry["data_offsets"] = [at, at + len(content)]
        at += len(content)
        parts.append(content)
    assert len(parts[-1]) == DIGEST_BYTES
    text = json.dumps({"__metadata__": metadata, **header}).encode()
    return sealed(struct.pack("<Q", len(text)) + text + b"".join(parts))


VIEWS = {
    "bytes that overflow to 4": ([2**62 + 1], [0]),
    "bytes that overflow to 0": ([2**62], [0]),
    "two sizes": ([2**31 + 1, 2**31], [0, 0]),
    "an empty tensor": ([0, 2**62, 2**62], [1, 1, 1]),
    "2**64 elements": ([2] * 64, [0] * 64),
    "backwards": ([2], [-1]),
    "too many": ([5], [1]),
}
MEMORY = "the file is damaged: a view does not fit into its memory"


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_results_outside_their_memory(view, trusted, tmp_path):
    path, (shape, strides) = tmp_path / "program", view
    lucid.export(lambda x: x + 1, lucid.ones(4), path)
    data = path.read_bytes()

    def edit(program, *, signature):
        program["calls"][0]["results"][0].update(shape=shape, strides=strides)
        if signature:
            program["outputs"][0]["shape"] = shape

    path.write_bytes(rewritten(data, lambda program: edit(program, signature=True)))
    program = lucid.load_program(path, trusted=trusted)
    with pytest.raises(ValueError, match=MEMORY):
        program(lucid.ones(4))
    path.write_bytes(rewritten(data, lambda program: edit(program, signature=False)))
    with pytest.raises(ValueError, match="the file is damaged: a "):
        lucid.load_program(path, trusted=trusted)(lucid.ones(4))


@pytest.mark.parametrize("trusted", [False, True])
def test_results_are_as_the_signature_says(trusted, tmp_path):
    path = tmp_path / "program"
    lucid.export(lambda x: x * 2, lucid.ones(4, 3), path, dynamic={"x": {0: lucid.Dim("n", max=8)}})
    data = path.read_bytes()

    def refusal(edit):
        path.write_bytes(rewritten(data, edit))
        with pytest.raises(ValueError, match="the file is damaged") as caught:
            lucid.load_program(path, trusted=trusted)(lucid.ones(5, 3))
        return str(caught.value).removeprefix("load_program: the file is damaged: ")

    def rank(program):
        program["calls"][0]["results"][0].update(shape=[1] * 17, strides=[0] * 17)

    def size(program):
        for call in program["calls"]:
            call["results"][0]["shape"][0] = 1

    def other_input(program):
        program["inputs"][0]["shape"][1] = 2

    assert refusal(rank) == "a result has a wrong number of dimensions"
    assert refusal(size) == refusal(other_input) == "a call takes or returns other sizes than the program"
