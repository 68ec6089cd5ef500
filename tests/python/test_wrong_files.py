"""Loaders say what a file is that they cannot read, and which function reads it."""

import gzip
import io
import json
import pickle
import zipfile

import lucid
import numpy as np
import pytest


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def zipped(*names):
    def write(file):
        with zipfile.ZipFile(file, "w") as archive:
            for name in names:
                archive.writestr(name, b"\x80\x02}.")

    return written(write)


TORCH = "a file of torch.save; lucid.load_torch reads it"
SAFETENSORS = written(lambda file: lucid.save({"x": lucid.ones(2)}, file))
# Contents, and what the message says.
FILES = {
    "torch": (zipped("archive/data.pkl", "archive/version"), TORCH),
    "torch, the version first": (zipped("model/.format_version", "model/data.pkl"), TORCH),
    "old torch": (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + bytes(99), TORCH),
    "pickle": (pickle.dumps({"x": 1}), "a pickle; lucid.load_torch reads those of torch.save"),
    "npy": (written(lambda file: np.save(file, np.ones(3))), "a .npy file of NumPy; numpy.load reads it"),
    "npz": (written(lambda file: np.savez(file, x=np.ones(3))), "a .npz file of NumPy; numpy.load reads it"),
    "zip": (zipped("a.txt"), "a zip archive"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file; h5py reads it"),
    "gguf": (b"GGUF" + bytes(99), "a GGUF file; convert it to safetensors"),
    "gzip": (gzip.compress(SAFETENSORS), "a file in gzip; unpack it, or use lucid.data.read_idx"),
    "onnx": (b"\x08\x08\x12\x07pytorch\x1a\x032.13" + bytes(9), "an ONNX file; lucid.onnx.load reads it"),
    "idx": (b"\0\0\x08\x01\0\0\0\x02ab", "an IDX file; lucid.data.read_idx reads it"),
    "html": (b"<!DOCTYPE html>\n<html>404", "a web page, probably of a download that failed"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid", "a pointer of Git LFS"),
    "json": (json.dumps({"weight_map": {}}).encode(), "a text in JSON; json.load reads it"),
}


@pytest.mark.parametrize("kind", FILES)
def test_load_names_the_function_that_reads_the_file(kind, tmp_path):
    data, message = FILES[kind]
    path = tmp_path / "file"
    path.write_bytes(data)
    for source in (path, str(path), io.BytesIO(data)):
        with pytest.raises(ValueError, match=r"^load: this is ") as caught:
            lucid.load(source)
        assert message in str(caught.value)


def test_other_loaders_do_so_too(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(SAFETENSORS)
    for load in (lucid.load_torch, lucid.data.read_idx, lucid.onnx.load):
        with pytest.raises(ValueError, match=r"this is a safetensors file; lucid\.load reads it"):
            load(str(path))
    path.write_bytes(FILES["torch"][0])
    for load in (lucid.load, lucid.load_program, lucid.data.read_idx, lucid.onnx.load):
        with pytest.raises(ValueError, match=r"this is a file of torch\.save; lucid\.load_torch reads it"):
            load(str(path))
    with pytest.raises(ValueError, match=r"load_torch: this is a \.npz file of NumPy"):
        lucid.load_torch(io.BytesIO(FILES["npz"][0]))
    with pytest.raises(ValueError, match=r"load_weights: .*JSON|load_torch: this is a text in JSON"):
        lucid.models.load_weights(lucid.nn.Linear(1, 1), io.BytesIO(FILES["json"][0]))


def test_files_of_the_own_format_keep_their_messages(tmp_path):
    """A damaged file is damaged, not of another kind."""
    with pytest.raises(ValueError, match=r"load: not a valid safetensors file: .*cut short"):
        lucid.load(io.BytesIO(SAFETENSORS[:-1]))
    with pytest.raises(ValueError, match="load: not a valid safetensors file: it has only 0 bytes"):
        lucid.load(io.BytesIO(b""))
    with pytest.raises(ValueError, match="load_torch: "):
        lucid.load_torch(io.BytesIO(FILES["torch"][0][:-9]))


@pytest.mark.parametrize("load", [lucid.load, lucid.load_torch])
def test_files_that_are_open_for_text(load, tmp_path):
    path = tmp_path / "file"
    path.write_text("text")
    with path.open() as file, pytest.raises(TypeError, match=r"open for text; open it with open\(path, 'rb'\)"):
        load(file)
