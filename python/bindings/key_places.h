#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lucid::python {

/// The numbers and tuples among the keys of one dict or set that an untrusted file fills. Python randomizes the hashes
/// of texts only: a file can choose other keys such that they all probe the same places of the hash table, and building
/// it takes quadratic time. This repeats the probes of CPython's tables, and throws ValueError once they are too many
/// for the number of keys.
class KeyPlaces {
 public:
  explicit KeyPlaces(bool is_set);
  /// Counts the probes for a key with this hash. It is added unless it is present.
  void add(int64_t hash, bool is_present);

 private:
  /// Finds a free place, or that of the hash if the key is present.
  size_t probe(int64_t hash, bool is_present);
  void grow(size_t wanted);

  const bool is_set_;
  std::vector<int64_t> places_;
  size_t count_ = 0;
  size_t calls_ = 0;
  size_t probes_ = 0;
};

}  // namespace lucid::python
