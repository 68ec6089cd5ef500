// Fuzzes parse_graph() with arbitrary text. It must return a graph or throw ValueError. The printed graph must parse
// back as the same graph, and verify() must accept it or throw InternalError.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ir/graph.h"

using namespace lucid;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  IRGraph graph;
  try {
    graph = parse_graph({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    if (error.error_class() != ErrorClass::kValue) std::abort();
    return 0;
  }
  const std::string once = to_text(graph);
  const IRGraph again = parse_graph(once);
  if (to_text(again) != once) std::abort();
  // A graph that holds NaN differs from itself.
  if (graph == graph && !(again == graph)) std::abort();
  try {
    verify(graph);
  } catch (const Error& error) {
    if (error.error_class() != ErrorClass::kInternal) std::abort();
  }
  return 0;
}
