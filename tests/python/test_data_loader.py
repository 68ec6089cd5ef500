"""The data loader: order, workers, shutdown, resuming."""

import gc
import io
import os
import random
import signal
import subprocess
import sys
import time

import lucid
import pytest
from lucid.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info

WORKERS = [0, 1, 2, 3]


class Squares(Dataset):
    def __init__(self, count=20):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index, index * index


class RandomCase(Dataset):
    """Random samples, as data augmentation produces them."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return lucid.rand(2), random.random()


class Failing(Squares):
    def __getitem__(self, index):
        if index == 7:
            raise KeyError("sample seven")
        return super().__getitem__(index)


class Dying(Squares):
    def __getitem__(self, index):
        if index == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Slow(Squares):
    def __getitem__(self, index):
        time.sleep(30)
        return index


class Counting(IterableDataset):
    """An iterable dataset whose workers split the numbers."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, self.count, step))

    def __len__(self):
        return self.count


def orders(loader, epochs=2):
    return [[batch[0].tolist() for batch in loader] for _ in range(epochs)]


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return len(file.read().split())


def wait_for_no_children(before):
    deadline = time.monotonic() + 10
    while children() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    return children()


@pytest.mark.parametrize("workers", WORKERS)
def test_the_order_depends_only_on_the_seed(workers):
    lucid.manual_seed(5)
    expected = orders(DataLoader(Squares(), batch_size=3, shuffle=True))
    lucid.manual_seed(5)
    assert orders(DataLoader(Squares(), batch_size=3, shuffle=True, num_workers=workers)) == expected
    assert expected[0] != expected[1]
    assert sorted(i for batch in expected[0] for i in batch) == list(range(20))


@pytest.mark.parametrize("workers", WORKERS)
def test_a_custom_generator_determines_the_order(workers):
    def run(generator):
        return orders(DataLoader(Squares(), batch_size=4, shuffle=True, generator=generator, num_workers=workers))

    lucid.manual_seed(0)
    first = run(lucid.Generator().manual_seed(9))
    lucid.manual_seed(1)
    assert run(lucid.Generator().manual_seed(9)) == first


def test_random_numbers_do_not_depend_on_the_number_of_workers():
    def run(workers):
        lucid.manual_seed(3)
        loader = DataLoader(RandomCase(), batch_size=2, num_workers=workers)
        return [(x.tolist(), y.tolist()) for x, y in loader]

    assert run(1) == run(2) == run(3)
    assert len({str(batch) for batch in run(2)}) == 6


@pytest.mark.parametrize("workers", [0, 2])
def test_lengths_and_last_batches(workers):
    loader = DataLoader(Squares(10), batch_size=4, num_workers=workers)
    assert len(loader) == 3
    assert [len(batch[0]) for batch in loader] == [4, 4, 2]
    loader = DataLoader(Squares(10), batch_size=4, drop_last=True, num_workers=workers)
    assert len(loader) == 2
    assert [len(batch[0]) for batch in loader] == [4, 4]


@pytest.mark.parametrize("workers", [0, 2])
def test_custom_samplers_and_collation(workers):
    loader = DataLoader(Squares(), sampler=[3, 1, 2], batch_size=2, collate_fn=list, num_workers=workers)
    assert list(loader) == [[(3, 9), (1, 1)], [(2, 4)]]
    loader = DataLoader(Squares(), batch_sampler=[[5], [1, 2]], collate_fn=list, num_workers=workers)
    assert list(loader) == [[(5, 25)], [(1, 1), (2, 4)]]
    loader = DataLoader(Squares(3), batch_size=None, num_workers=workers)
    assert list(loader) == [[0, 0], [1, 1], [2, 4]]


def test_tensor_datasets_are_indexed_by_batch():
    dataset = TensorDataset(lucid.arange(10).reshape(5, 2), lucid.arange(5))
    batches = list(DataLoader(dataset, batch_size=2))
    assert [[part.tolist() for part in batch] for batch in batches] == [
        [[[0, 1], [2, 3]], [0, 1]],
        [[[4, 5], [6, 7]], [2, 3]],
        [[[8, 9]], [4]],
    ]


@pytest.mark.parametrize("workers", WORKERS)
def test_iterable_datasets_are_split_between_workers(workers):
    loader = DataLoader(Counting(10), batch_size=2, num_workers=workers)
    for _ in range(2):
        assert sorted(i for batch in loader for i in batch.tolist()) == list(range(10))
    assert len(loader) == 5
    assert list(DataLoader(Counting(3), batch_size=None, num_workers=workers)) == ([0, 1, 2])


def test_worker_init_fn_and_information():
    def init(number):
        info = get_worker_info()
        assert info.id == number
        assert info.num_workers == 2
        os.environ["LUCID_TEST_WORKER"] = str(number)

    class Where(Squares):
        def __getitem__(self, index):
            return int(os.environ["LUCID_TEST_WORKER"])

    loader = DataLoader(Where(8), batch_size=2, num_workers=2, worker_init_fn=init)
    assert [batch.tolist() for batch in loader] == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert get_worker_info() is None


def test_an_exception_in_init_fn_is_raised():
    loader = DataLoader(Squares(), num_workers=1, worker_init_fn=lambda number: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        next(iter(loader))


@pytest.mark.parametrize("workers", [0, 2])
def test_exceptions_are_raised_with_their_traceback(workers):
    before = children()
    loader = DataLoader(Failing(), batch_size=2, num_workers=workers)
    with pytest.raises(KeyError, match="sample seven") as caught:
        list(loader)
    if workers:
        assert 'raise KeyError("sample seven")' in str(caught.value.__cause__)
    del caught, loader
    gc.collect()
    assert wait_for_no_children(before) == before


def test_a_killed_worker_is_reported():
    loader = DataLoader(Dying(), batch_size=2, num_workers=2)
    with pytest.raises(RuntimeError, match=r"worker \d of the DataLoader .* signal 9"):
        list(loader)


def test_a_timeout_is_reported():
    loader = DataLoader(Slow(), num_workers=1, timeout=0.5)
    with pytest.raises(RuntimeError, match=r"within 0\.5 seconds"):
        next(iter(loader))


def test_results_that_cannot_be_sent_are_reported():
    class Unsendable(Squares):
        def __getitem__(self, index):
            return lambda: index

    with pytest.raises(Exception, match="pickle"):
        list(DataLoader(Unsendable(), num_workers=1, collate_fn=list))


def test_breaking_out_of_the_loop_ends_the_workers():
    before = children()
    for _ in DataLoader(Squares(1000), num_workers=2):
        break
    gc.collect()
    assert wait_for_no_children(before) == before


def test_persistent_workers_live_as_long_as_the_loader():
    before = children()

    class Process(Squares):
        def __getitem__(self, index):
            return os.getpid()

    loader = DataLoader(Process(8), num_workers=2, persistent_workers=True)
    first = {i for batch in loader for i in batch.tolist()}
    second = {i for batch in loader for i in batch.tolist()}
    assert first == second
    assert len(first) == 2
    for _ in loader:
        break
    assert {i for batch in loader for i in batch.tolist()} == first
    del loader
    gc.collect()
    assert wait_for_no_children(before) == before


def test_an_interrupt_ends_everything():
    code = (
        "import signal, time\n"
        "from lucid.utils.data import DataLoader\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells let what they start behind them ignore it
        "class Slow:\n"
        "    def __len__(self): return 100\n"
        "    def __getitem__(self, i): time.sleep(0.2); return i\n"
        "print('ready', flush=True)\n"
        "for batch in DataLoader(Slow(), num_workers=2): pass\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode in (1, -signal.SIGINT, 130)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("taken", [0, 1, 3, 7])
def test_a_loader_resumes_in_the_middle_of_an_epoch(workers, own, taken):
    def make(seed):
        generator = lucid.Generator().manual_seed(seed) if own else None
        return DataLoader(Squares(), batch_size=3, shuffle=True, generator=generator, num_workers=workers)

    def train(loader, batches):
        """Takes batches and uses the default generator, as training does."""
        seen = []
        for batch in batches:
            seen.append((batch[0].tolist(), lucid.rand(1).item()))
        return seen

    lucid.manual_seed(1)
    loader = make(4)
    whole = train(loader, loader) + train(loader, loader)

    lucid.manual_seed(1)
    loader = make(4)
    batches = iter(loader)
    seen = train(loader, (next(batches) for _ in range(taken)))
    file = io.BytesIO()
    lucid.save({"loader": loader.state_dict(), "rng": lucid.get_rng_state()}, file)

    lucid.manual_seed(77)
    resumed = make(99)
    saved = lucid.load(io.BytesIO(file.getvalue()))
    resumed.load_state_dict(saved["loader"])
    lucid.set_rng_state(saved["rng"])
    assert resumed.state_dict()["batches"] == taken
    seen += train(resumed, resumed)
    assert seen + train(resumed, resumed) == whole


def test_a_loader_that_has_not_started_resumes_at_the_beginning():
    generator = lucid.Generator().manual_seed(4)
    loader = DataLoader(Squares(), shuffle=True, generator=generator)
    state = loader.state_dict()
    expected = orders(loader)
    other = DataLoader(Squares(), shuffle=True, generator=lucid.Generator().manual_seed(5))
    other.load_state_dict(state)
    assert orders(other) == expected
    with pytest.raises(ValueError, match="epoch_start"):
        other.load_state_dict({"batches": 1})


def test_iterable_datasets_resume():
    loader = DataLoader(Counting(10), batch_size=2)
    batches = iter(loader)
    next(batches)
    next(batches)
    other = DataLoader(Counting(10), batch_size=2)
    other.load_state_dict(loader.state_dict())
    assert [batch.tolist() for batch in other] == [[4, 5], [6, 7], [8, 9]]


def test_progress_is_shown_only_on_request(capfd):
    list(DataLoader(Squares(4), batch_size=2))
    assert capfd.readouterr().err == ""
    list(DataLoader(Squares(4), batch_size=2, progress=True))
    assert "2/2" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"num_workers": -1}, "num_workers"),
        ({"timeout": -1}, "timeout"),
        ({"shuffle": True, "sampler": [1]}, "shuffle"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler"),
        ({"batch_size": None, "drop_last": True}, "drop"),
        ({"prefetch_factor": 2}, "num_workers"),
        ({"persistent_workers": True}, "num_workers"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor"),
    ],
)
def test_contradictory_options_are_reported(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(Squares(), **options)


def test_many_loaders_leak_nothing():
    before = children()
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        list(DataLoader(Squares(4), num_workers=2))
    gc.collect()
    assert wait_for_no_children(before) == before
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 2


@pytest.mark.parametrize("workers", [0, 2])
def test_nested_iteration_of_one_loader(workers):
    loader = DataLoader(Squares(4), batch_size=2, num_workers=workers)
    seen = [(outer[0].tolist(), inner[0].tolist()) for outer in loader for inner in loader]
    assert seen == [(first, second) for first in ([0, 1], [2, 3]) for second in ([0, 1], [2, 3])]


def test_persistent_workers_serve_one_epoch_at_a_time():
    loader = DataLoader(Squares(8), num_workers=1, persistent_workers=True)
    first = iter(loader)
    next(first)
    assert len(list(loader)) == 8
    with pytest.raises(RuntimeError, match="another epoch"):
        next(first)


class StopsAt(Dataset):
    def __getitem__(self, number):
        if number == 5:
            raise StopIteration
        return number

    def __len__(self):
        return 8


class StopsInGetItems(StopsAt):
    def __getitems__(self, numbers):
        return [self[number] for number in numbers]


class StopsAtIter(IterableDataset):
    def __iter__(self):
        raise StopIteration


def stop(*args):
    raise StopIteration


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("dataset", "options", "names"),
    [
        (StopsAt(), {"batch_size": 2}, r"StopsAt\.__getitem__\(5\)"),
        (StopsAt(), {"batch_size": None}, r"StopsAt\.__getitem__\(5\)"),
        (StopsInGetItems(), {"batch_size": 2}, r"StopsInGetItems\.__getitems__\(\[4, 5\]\)"),
        (list(range(4)), {"collate_fn": stop}, "collate_fn stop"),
        (StopsAtIter(), {"batch_size": 2}, r"StopsAtIter\.__iter__\(\)"),
    ],
    ids=["sample", "whole", "getitems", "collate", "iter"],
)
def test_a_stop_iteration_of_the_users_code_does_not_end_the_epoch(dataset, options, names, workers):
    with pytest.raises(RuntimeError, match=f"DataLoader: {names} raised StopIteration"):
        list(DataLoader(dataset, num_workers=workers, **options))


def test_a_stop_iteration_while_a_worker_starts_is_an_error():
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(list(range(4)), num_workers=1, worker_init_fn=stop))
