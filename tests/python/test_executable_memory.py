"""Behaviour on systems that do not allow executable memory."""

from interpreter import run_python

# PR_SET_MDWE exists since Linux 6.3. On older kernels, a seccomp filter rejects the same calls.
FORBID = """
import ctypes, errno, struct
libc = ctypes.CDLL(None, use_errno=True)
def forbid_executable_memory():
    PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1
    if libc.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0:
        return
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
    SYS_mprotect, PROT_EXEC = 10, 4
    # Load the number of the call; if it is mprotect and its third argument has PROT_EXEC, EACCES.
    program = [(0x20, 0, 0, 0), (0x15, 0, 3, SYS_mprotect), (0x20, 0, 0, 32), (0x45, 0, 1, PROT_EXEC),
               (0x06, 0, 0, 0x50000 | errno.EACCES), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) == 0
"""


def test_the_error_names_executable_memory():
    source = (
        FORBID
        + """
import lucid
x = lucid.ones(3)  # before it, so that the library itself is loaded
forbid_executable_memory()
for attempt in range(2):
    try:
        (x + 1).tolist()
    except RuntimeError as error:
        print(type(error).__name__, error)
f = lucid.compile(lambda x: x * 3 + 1)
try:
    f(x)
except RuntimeError as error:
    print(str(error).startswith("the system does not let this process make memory executable"))
print(x.shape)
"""
    )
    lines = run_python(source).splitlines()
    assert len(lines) == 4
    assert lines[0] == lines[1]
    assert lines[0].startswith("RuntimeError the system does not let this process make memory executable (")
    assert "MemoryDenyWriteExecute=no" in lines[0]
    assert lines[2:] == ["True", "(3,)"]


def test_kernels_loaded_before_still_run():
    source = (
        FORBID
        + """
import lucid
x = lucid.ones(3)
f = lucid.compile(lambda x: x + 1)
expected = [f(x).tolist() for _ in range(3)]
forbid_executable_memory()
print([f(x).tolist() for _ in range(3)] == expected, (x + 1).tolist() == expected[0])
"""
    )
    assert run_python(source) == "True True\n"
