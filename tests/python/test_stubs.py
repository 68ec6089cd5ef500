"""The type stubs list exactly the names that exist."""

import ast
import pathlib

import lucid

PACKAGE = pathlib.Path(lucid.__file__).parent
# Names that every class has, declared or not, and names that come with __setitem__.
IMPLIED = {
    "__class_getitem__",
    "__delitem__",
    "__doc__",
    "__module__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__str__",
}


def declared(body):
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname for alias in node.names if alias.asname)
    return names


def stub(name):
    return ast.parse((PACKAGE / name).read_text()).body


def overloads():
    """The arguments of each declaration in the package's stub, by the function's name."""
    found = {}
    for node in stub("__init__.pyi"):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node.args)
    return found


def test_stubs_list_every_name_of_a_parameter():
    declarations = overloads()
    for entry in lucid._core.op_table():
        if not entry["public"] or entry["name"] not in declarations:
            continue
        found = set()
        for arguments in declarations[entry["name"]]:
            found.update(a.arg for a in [*arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.vararg])])
        names = {name for p in entry["parameters"] for name in (p["name"], *p["aliases"])}
        extras = {"device", "requires_grad", "alpha"}
        assert found - extras == names - extras, entry["name"]


def test_stubs_require_one_of_the_names_of_an_argument():
    declarations = overloads()
    for name, count in {"relu": 1, "add": 2, "cumsum": 2, "transpose": 3}.items():
        for arguments in declarations[name]:
            assert len(arguments.args) - len(arguments.defaults) == count, name


def test_the_package_stub_matches_the_package():
    public = {name for name in dir(lucid) if not name.startswith("_")} - {"TYPE_CHECKING", "array_api"} | {
        "__version__"
    }
    found = {name for name in declared(stub("__init__.pyi")) if not name.startswith("_") or name == "__version__"}
    assert found == public


def test_the_tensor_stub_matches_tensor():
    (tensor,) = (node for node in stub("_core.pyi") if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    special = {name for name in dir(lucid.Tensor) if name not in dir(object)} | {"__eq__", "__hash__"}
    missing = {name for name in special if name not in declared(tensor.body)} - IMPLIED
    assert missing == set()
    extra = {name for name in declared(tensor.body) if not hasattr(lucid.Tensor, name)} - {"__buffer__"}
    assert extra == set()


def test_the_core_stub_matches_core():
    body = stub("_core.pyi")
    for name in declared(body):
        aliases = ("Like", "Ints", "_Index", "_Slot", "_Stage", "_Symbols", "_Inputs", "_Calls")
        assert hasattr(lucid._core, name) or name.endswith(aliases), name
    public = {name for name in vars(lucid._core) if not name.startswith("_")}
    assert public - declared(body) == set()
