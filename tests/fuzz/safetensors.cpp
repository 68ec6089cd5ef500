// Fuzzes load() with arbitrary bytes. It must return a tree that can be written and read again, or throw ValueError.

#include <lucid/serialize.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lucid::Tree tree;
  try {
    tree = lucid::deserialize({reinterpret_cast<const char*>(data), size});
  } catch (const lucid::Error& error) {
    if (error.error_class() != lucid::ErrorClass::kValue) std::abort();
    return 0;
  }
  const std::string once = lucid::serialize(tree);
  const std::string twice = lucid::serialize(lucid::deserialize(once));
  if (once != twice) std::abort();
  return 0;
}
