"""Threads, forked processes, several processes at once, and processes that are killed."""

import os
import signal
import subprocess
import sys
import threading

import lucid
import pytest
from lucid.utils.data import DataLoader
from same import bits


def test_eight_threads_at_once():
    x = lucid.randn(64, 64)
    expected = bits((x @ x).relu().sum(0))
    failures = []

    def work():
        for _ in range(20):
            y = x.gpu()
            if bits((y @ y).relu().sum(0)) != expected:
                failures.append("different")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_forked_child_gets_an_exception():
    x = lucid.ones(4, device="gpu")
    assert x.sum().item() == 4
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            x.sum().item()
            message = "no error"
        except RuntimeError as error:
            message = str(error)
        os.write(write, message.encode())
        os._exit(0)
    os.close(write)
    message = os.read(read, 1000).decode()
    assert os.waitpid(child, 0)[1] == 0
    assert "forked process" in message
    assert "spawn" in message
    assert x.sum().item() == 4


def test_forks_while_gpus_are_looked_for():
    # A child either was forked before the parent looked, and has a gpu, or gets the exception of forked processes.
    code = (
        "import lucid, os, threading\n"
        "thread = threading.Thread(target=lucid.gpu.is_available)\n"
        "thread.start()\n"
        "children = []\n"
        "while thread.is_alive() and len(children) < 40:\n"
        "    children.append(os.fork())\n"
        "    if children[-1] == 0:\n"
        "        try:\n"
        "            lucid.ones(2).to('gpu')\n"
        "        except RuntimeError:\n"
        "            pass\n"
        "        except BaseException as error:\n"
        "            print(repr(error), flush=True)\n"
        "        os._exit(0)\n"
        "for child in children: os.waitpid(child, 0)\n"
        "print('done')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout == "done\n", run.stderr


class Numbers:
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return lucid.full((3,), float(index))


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loaders_beside_a_gpu(workers):
    model = lucid.nn.Linear(3, 2).to("gpu")
    seen = []
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=workers, pin_memory=True):
        moved = batch.to("gpu", non_blocking=True)
        model(moved)
        seen += moved[:, 0].tolist()
    assert seen == [float(number) for number in range(12)]


def test_workers_of_a_program_whose_default_device_is_a_gpu():
    try:
        lucid.set_default_device("gpu")
        assert lucid.ones(2).sum().item() == 2
        seen = [
            number for batch in DataLoader(Numbers(), batch_size=6, num_workers=2) for number in batch[:, 0].tolist()
        ]
    finally:
        lucid.set_default_device(None)
    assert seen == [float(number) for number in range(12)]


WORK = """
import lucid, sys
x = lucid.ones(256, 256).gpu()
print("started", flush=True)
while True:
    x = (x @ x).clamp(0, 1)
    if len(sys.argv) > 1:
        print(x.sum().item())
        break
"""


def test_killing_a_process_does_not_disturb_others():
    victims = [subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE) for _ in range(2)]
    for victim in victims:
        assert victim.stdout.readline() == b"started\n"
    victims[0].send_signal(signal.SIGKILL)
    assert victims[0].wait() == -signal.SIGKILL
    other = subprocess.run([sys.executable, "-c", WORK, "once"], capture_output=True, text=True, timeout=120)
    assert other.stdout == "started\n65536.0\n"
    victims[1].send_signal(signal.SIGTERM)
    victims[1].wait(timeout=60)
    for victim in victims:
        victim.stdout.close()
    assert lucid.ones(3, device="gpu").sum().item() == 3


def test_exhausting_memory():
    code = (
        "import lucid\n"
        "kept = []\n"
        "try:\n"
        "    while True: kept.append(lucid.zeros(1 << 20, device='gpu'))\n"
        "except MemoryError as error:\n"
        "    print('gpu' in str(error))\n"
        "count = len(kept)\n"
        "del kept[:]\n"
        "print(count > 2, lucid.ones(1 << 20, device='gpu').sum().item())\n"
    )
    limit = {**os.environ, "LUCID_GPU_MEMORY_LIMIT": str(256 << 20)}
    run = subprocess.run([sys.executable, "-c", code], env=limit, capture_output=True, text=True, timeout=120)
    assert run.stdout == "True\nTrue 1048576.0\n", run.stderr


def test_the_exit_does_not_wait_for_all_queued_work():
    # Many minutes of work are queued. Output and exit status are those of the program.
    code = (
        "import lucid, sys\n"
        "x = lucid.randn(1000, 1000, device='gpu') * 1e-3\n"
        "def work():\n"
        "    global x\n"
        "    for _ in range(1000): x = x @ x\n"
        "work()\n"
        "print('queued')\n"
        "sys.exit(3)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (run.returncode, run.stdout) == (3, "queued\n"), run.stderr
