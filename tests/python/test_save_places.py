"""Targets of lucid.save: permissions, owners, links, devices, FIFOs, and invalid paths."""

import errno
import io
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading

import lucid
import pytest
from lucid.utils import data

THREE = {"a": 3}


@pytest.fixture
def umask():
    """Sets the process's umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_a_new_file_has_the_permissions_of_open(mask, tmp_path, umask):
    umask(mask)
    lucid.save(THREE, tmp_path / "f")
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "other").stat().st_mode


NO_UMASK = """
import ctypes, struct
# A seccomp filter: umask(), number 95, ends the process; everything else is allowed.
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, 95), (RETURN, 0, 0, 0x80000000), (RETURN, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0) == 0
"""


@pytest.mark.parametrize("call", ["lucid.save({'a': 3}, sys.argv[1])", "os.umask(0o022)"])
def test_saving_never_changes_the_umask(call, tmp_path):
    """Not even temporarily: the umask belongs to the whole process, and other threads create files."""
    code = f"import os, sys, lucid\n{NO_UMASK}\nfor _ in range(2): {call}\nprint('done')"
    result = subprocess.run([sys.executable, "-c", code, tmp_path / "f"], capture_output=True, text=True, timeout=60)
    if "save" in call:
        assert result.stdout == "done\n", result.stderr
    else:
        assert result.returncode == -signal.SIGSYS, result.stderr  # the filter works


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_a_replaced_file_keeps_its_permissions(mode, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"")
    path.chmod(mode)
    lucid.save(THREE, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert lucid.load(path) == THREE


def test_a_replaced_file_keeps_its_owner(tmp_path):
    """Only root may give files away."""
    path = tmp_path / "f"
    path.write_bytes(b"")
    owner = (1234, 1235) if os.getuid() == 0 else (os.getuid(), os.getgid())
    os.chown(path, *owner)
    path.chmod(0o6755)
    lucid.save(THREE, path)
    assert (path.stat().st_uid, path.stat().st_gid) == owner
    assert stat.S_IMODE(path.stat().st_mode) == 0o6755


def test_other_hard_links_keep_the_old_contents(tmp_path):
    lucid.save({"old": 1}, tmp_path / "a")
    os.link(tmp_path / "a", tmp_path / "b")
    lucid.save(THREE, tmp_path / "a")
    assert lucid.load(tmp_path / "a") == THREE
    assert lucid.load(tmp_path / "b") == {"old": 1}


@pytest.mark.parametrize("exists", [True, False])
def test_a_symlink_is_kept_and_its_target_written(exists, tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    if exists:
        target.write_bytes(b"old")
    os.symlink("folder/hop", tmp_path / "link")
    os.symlink("target", tmp_path / "folder" / "hop")
    lucid.save(THREE, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "hop").is_symlink()
    assert not target.is_symlink()
    assert lucid.load(target) == THREE
    assert sorted(os.listdir(tmp_path / "folder")) == ["hop", "target"]


def test_dangling_symlinks_raise(tmp_path):
    os.symlink("b", tmp_path / "a")
    os.symlink("a", tmp_path / "b")
    os.symlink("no/folder", tmp_path / "gone")
    with pytest.raises(OSError, match="symbolic links"):
        lucid.save(THREE, tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        lucid.save(THREE, tmp_path / "gone")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "gone"]


def test_names_of_any_length_that_a_file_may_have(tmp_path):
    path = tmp_path / ("n" * 255)
    lucid.save(THREE, path)
    assert lucid.load(path) == THREE
    with pytest.raises(OSError, match="name too long"):
        lucid.save(THREE, tmp_path / ("n" * 256))
    assert len(os.listdir(tmp_path)) == 1


def test_names_that_are_not_valid_text(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe")
    with pytest.raises(FileNotFoundError):
        lucid.load(path)
    lucid.save(THREE, path)
    assert lucid.load(path) == THREE
    assert lucid.load(os.fsdecode(path)) == THREE


def read_exactly(descriptor, count, found):
    while len(found) < count and (part := os.read(descriptor, count - len(found))):
        found += part


def test_a_fifo_is_written_and_kept(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    large = {"a": lucid.arange(100_000), "b": lucid.ones(3).expand(2, 3)}
    lucid.save(large, tmp_path / "file")
    expected = (tmp_path / "file").read_bytes()
    # Open for reading and writing, so that reading never reaches the end.
    descriptor, found = os.open(path, os.O_RDWR), bytearray()
    reader = threading.Thread(target=read_exactly, args=(descriptor, len(expected), found), daemon=True)
    reader.start()
    lucid.save(large, path)
    reader.join(60)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert found == expected
    os.close(descriptor)
    with pytest.raises(OSError, match="Illegal seek"):  # at once, though nobody writes to it
        lucid.load(path)


def test_a_fifo_without_a_reader_raises(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with pytest.raises(OSError, match="this FIFO has no reader") as caught:
        lucid.save(THREE, path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENXIO, str(path))
    assert os.listdir(tmp_path) == ["fifo"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_ctrl_c_ends_the_wait_for_a_slow_reader(tmp_path):
    """A reader opens the FIFO but reads nothing. Other threads run meanwhile."""
    code = (
        "import os, signal, sys, threading, time, lucid\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells let what they start behind them ignore it
        "big = {'x': lucid.ones(1_000_000)}\n"
        "reader = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)\n"
        "def interrupt():\n"
        "    for _ in range(3): time.sleep(0.1)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "try: lucid.save(big, sys.argv[1])\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    path = tmp_path / "fifo"
    os.mkfifo(path)
    result = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
    assert result.stdout == "interrupted\n", result.stderr
    assert os.listdir(tmp_path) == ["fifo"]


def test_a_signal_with_a_handler_does_not_end_the_wait(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    large = {"a": lucid.arange(1_000_000)}
    lucid.save(large, tmp_path / "file")
    expected = (tmp_path / "file").read_bytes()
    descriptor, found, calls = os.open(path, os.O_RDWR), bytearray(), []
    reader = threading.Timer(0.5, read_exactly, (descriptor, len(expected), found))
    reader.daemon = True
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(len(calls)))
    try:
        reader.start()
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        lucid.save(large, path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    reader.join(60)
    os.close(descriptor)
    assert len(calls) > 1
    assert found == expected


def test_a_device_is_written_and_kept(tmp_path):
    """Root could replace the system's devices, so the test creates its own."""
    folder = tmp_path if os.getuid() == 0 else pathlib.Path("/dev")
    if os.getuid() == 0:
        for name, number in ("null", 3), ("full", 7):
            os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, number))
    lucid.save(THREE, folder / "null")
    with pytest.raises(OSError, match="No space left"):
        lucid.save(THREE, folder / "full")
    assert stat.S_ISCHR((folder / "null").stat().st_mode)
    assert stat.S_ISCHR((folder / "full").stat().st_mode)


@pytest.mark.parametrize("kind", ["pipe", "file", "deleted"])
def test_standard_output_is_written(kind, tmp_path):
    """Also if it is a regular file: the open file is written, not the file that its name refers to.

    Uses a link like /dev/stdout, which a faulty save could replace.
    """
    os.symlink("/proc/self/fd/1", tmp_path / "stdout")
    code = "import lucid, sys\nlucid.save({'a': 3}, sys.argv[1])"
    with open(tmp_path / "out", "w+b") as out:
        if kind == "deleted":
            os.remove(tmp_path / "out")
        stdout = subprocess.PIPE if kind == "pipe" else out
        result = subprocess.run([sys.executable, "-c", code, tmp_path / "stdout"], stdout=stdout, timeout=60)
        written = result.stdout if kind == "pipe" else out.read()
    assert lucid.load(io.BytesIO(written)) == THREE
    assert sorted(os.listdir(tmp_path)) == (["stdout"] if kind == "deleted" else ["out", "stdout"])
    assert os.readlink(tmp_path / "stdout") == "/proc/self/fd/1"


def test_a_folder_is_rejected(tmp_path):
    with pytest.raises(IsADirectoryError):
        lucid.save(THREE, tmp_path)
    with pytest.raises(FileNotFoundError):
        lucid.save(THREE, "")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", [str, os.fsencode])
def test_null_bytes_in_paths_are_rejected(kind, tmp_path):
    lucid.save(THREE, tmp_path / "secret")
    path = kind(os.fspath(tmp_path / "secret") + "\0.safetensors")
    for name, call in (
        ("load", lucid.load),
        ("read_idx", data.read_idx),
        ("save", lambda path: lucid.save({}, path)),
    ):
        with pytest.raises(ValueError, match=f"{name}: embedded null byte in the path"):
            call(path)
    assert lucid.load(tmp_path / "secret") == THREE
