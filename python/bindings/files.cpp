#include "bindings/files.h"

#include <lucid/data.h>
#include <lucid/serialize.h>
#include <nanobind/stl/string.h>

#include <cerrno>

#include "bindings/gil.h"
#include "bindings/tensor_object.h"
#include "bindings/tree.h"
#include "data/byte_source.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// Runs without the interpreter's lock. What the operating system refused becomes the OSError that open() would raise.
template <typename Body>
auto with_file(Body body) {
  try {
    const GilRelease release;
    return body();
  } catch (const FileError& error) {
    errno = error.code();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, error.path().c_str());
    throw nb::python_error();
  }
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def(
      "save_file",
      [](nb::handle object, const std::string& path) {
        const Tree tree = to_tree("save: obj", object, Others::kRefuse);
        with_file([&] { save(tree, path); });
      },
      "obj"_a.none(), "path"_a);
  module.def(
      "load_file", [](const std::string& path) { return from_tree(with_file([&] { return load(path); })); }, "path"_a);
  module.def(
      "save_bytes",
      [](nb::handle object) {
        const std::string bytes = serialize(to_tree("save: obj", object, Others::kRefuse));
        return nb::bytes(bytes.data(), bytes.size());
      },
      "obj"_a.none());
  module.def(
      "load_bytes", [](nb::bytes bytes) { return from_tree(deserialize({bytes.c_str(), bytes.size()})); }, "bytes"_a);
  module.def(
      "read_idx", [](const std::string& path) { return to_object(ref_of(with_file([&] { return read_idx(path); }))); },
      "path"_a);
}

}  // namespace lucid::python
