"""Changes files of torch.save at random and loads them.

A file either loads or raises ValueError. The process ends if loading imports a module, opens a file, starts a process,
compiles code, takes 10 seconds or needs more than 256 MiB. Every byte of small.pt is changed, too: its entries have
checksums, so a changed file that loads must give an equal object. `--count N` random files, from `--seed`.
"""

import argparse
import faulthandler
import io
import os
import pathlib
import random
import resource
import sys
import zipfile

import lucid
from torch_writer import archive, call, name, number, storage, tensor, text

DATA = pathlib.Path(__file__).parent / "data"
LIMIT = 256 << 20
FORBIDDEN = ("import", "open", "exec", "compile", "pickle.", "os.", "subprocess.", "socket.", "ctypes.", "code.")
NAMES = [
    *("collections.OrderedDict", "collections.Counter", "collections.defaultdict", "torch.Size", "torch.device"),
    *("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter", "torch._tensor._rebuild_from_type_v2"),
    *("torch.FloatStorage", "torch.float32", "torch.complex64", "torch.Tensor", "_codecs.encode", "builtins.set"),
    *("builtins.bytearray", "os.system", "builtins.eval", "torch.storage.UntypedStorage"),
]
OPCODES = [bytes([code]) for code in b"N\x88\x89()t\x85\x86\x87]ae}su\x8f\x90\x91R\x81bQq\x00h\x00\x9401."]
watching = False


def watch(event, arguments):
    if watching and event.startswith(FORBIDDEN):
        os.write(2, f"loading a file: {event} {arguments}\n".encode())
        os._exit(1)


def load(data):
    """The object, or None if the file is rejected."""
    global watching
    faulthandler.dump_traceback_later(10, exit=True)
    watching = True
    try:
        return lucid.load_torch(io.BytesIO(data))
    except ValueError as error:
        if not str(error).startswith("load_torch: "):
            raise
        return None
    finally:
        watching = False
        faulthandler.cancel_dump_traceback_later()


def text_of(obj):
    """A text that is the same for equal objects of the fuzzer's files."""
    if isinstance(obj, lucid.Tensor):
        return f"{obj.dtype} {obj.stride()} {obj.tolist()}"
    if isinstance(obj, dict):
        return str([(key, text_of(value)) for key, value in obj.items()])
    return f"{type(obj)} {obj}"


def change_every_byte():
    data = (DATA / "small.pt").read_bytes()
    expected = text_of(load(data))
    loaded = 0
    for at in range(len(data)):
        for mask in (1, 0xFE):
            found = load(data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :])
            assert found is None or text_of(found) == expected, (at, mask)
            loaded += found is not None
    return loaded


def pickles():
    """Pickles of the committed files, without their first and last opcode, and the storages that they use."""
    for file in ("small.pt", "checkpoint.pt", "checkpoint_protocol_5.pt"):
        with zipfile.ZipFile(DATA / file) as entries:
            root = entries.namelist()[0].split("/")[0]
            storages = {n.split("/")[-1]: entries.read(n) for n in entries.namelist() if f"{root}/data/" in n}
            yield entries.read(f"{root}/data.pkl")[2:-1], storages


def written(draw):
    """A pickle of random opcodes."""
    parts = [
        lambda: draw.choice(OPCODES),
        lambda: name(draw.choice(NAMES)),
        lambda: call(draw.choice(NAMES), *(draw.choice(VALUES) for _ in range(draw.randrange(4)))),
        lambda: draw.choice(VALUES),
    ]
    return b"".join(draw.choice(parts)() for _ in range(draw.randrange(1, 30)))


VALUES = [tensor(), storage(), text("a"), number(3), number(-1), number(2**80), b"N", b"]", b"}", b")", b"\x8f"]
VALUES += [tensor((2, 2), (0, 2)), tensor(memory=storage("torch.IntStorage")), text("latin1"), name("torch.Tensor")]
# A list that holds a list twice, 60 levels deep.
VALUES += [b"]q\x400" + b"".join(b"](h%ch%ceq%c0" % (i, i, i + 1) for i in range(64, 124)) + b"h\x7c"]


def mutated(data, draw):
    data = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(data))
        kind = draw.randrange(5)
        if kind == 0:
            data[at] = draw.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 2:
            del data[at : at + draw.randrange(1, 16)]
        elif kind == 3:
            data[at:at] = draw.choice([*OPCODES, *VALUES, name(draw.choice(NAMES))])
        else:
            start = draw.randrange(len(data))
            data[at:at] = data[start : start + draw.randrange(1, 64)]
        data = data or bytearray(b"N")
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    # Modules that are imported when a file is first loaded.
    assert load(archive(tensor(memory=storage("torch.BFloat16Storage")), storages={"0": bytes(12)})) is not None
    sys.addaudithook(watch)
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + LIMIT, used + LIMIT))

    print(f"of every byte: {change_every_byte()} loaded")
    known = list(pickles())
    whole = [(DATA / file).read_bytes() for file in ("small_legacy.pt", "checkpoint_legacy.pt", "small.pt")]
    loaded = 0
    for _ in range(arguments.count):
        kind = draw.randrange(4)
        if kind == 0:
            data = mutated(draw.choice(whole), draw)
        elif kind == 1:
            data = archive(written(draw))
        else:
            opcodes, storages = known[0] if kind == 2 else draw.choice(known)
            data = archive(mutated(opcodes, draw), storages)
        loaded += load(data) is not None
    print(f"of {arguments.count} random files: {loaded} loaded")


if __name__ == "__main__":
    main()
