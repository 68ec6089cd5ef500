#include "bindings/files.h"

#include <lucid/data.h>
#include <lucid/serialize.h>
#include <nanobind/stl/string.h>

#include "bindings/gil.h"
#include "bindings/key_places.h"
#include "bindings/tensor_object.h"
#include "bindings/tree.h"
#include "data/byte_source.h"
#include "data/output_file.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// Converts the result of `load` to Python objects. Destroys the tree without the GIL, because it may be large.
template <typename Load>
nb::object load_tree(const Load& load) {
  Tree tree = with_file(load);
  GilYield yield;
  nb::object result = from_tree(tree, &yield);
  const GilRelease release;
  tree = {};
  return result;
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<KeyPlaces>(module, "KeyPlaces", "Refuses keys of a dict or set whose hashes were chosen to collide.")
      .def(nb::init<bool>(), "is_set"_a)
      .def("add", &KeyPlaces::add, "hash"_a, "is_present"_a, "Raises ValueError for keys that collide too often.");
  module.def(
      "save_file",
      [](nb::handle object, const nb::bytes& path) {
        Tree tree = to_tree("save: obj", object, Unsupported::kReject);
        with_file([&, path = path_of(path)] {
          save(tree, path);
          tree = {};
        });
      },
      "obj"_a.none(), "path"_a);
  module.def(
      "load_file", [](const nb::bytes& path) { return load_tree([path = path_of(path)] { return load(path); }); },
      "path"_a);
  module.def(
      "save_bytes",
      [](nb::handle object) {
        Tree tree = to_tree("save: obj", object, Unsupported::kReject);
        const std::string bytes = with_file([&] {
          std::string result = serialize(tree);
          tree = {};
          return result;
        });
        return nb::bytes(bytes.data(), bytes.size());
      },
      "obj"_a.none());
  module.def(
      "load_bytes",
      [](const nb::bytes& bytes) {
        return load_tree([all = std::span(bytes.c_str(), bytes.size())] { return deserialize(all); });
      },
      "bytes"_a);
  module.def(
      "read_idx",
      [](const nb::bytes& path) {
        return to_object(ref_of(with_file([path = path_of(path)] { return read_idx(path); })));
      },
      "path"_a);
}

}  // namespace lucid::python
