// load() on any bytes: it gives a tree or says what is wrong, and a tree that it gave can be written and read again.

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
