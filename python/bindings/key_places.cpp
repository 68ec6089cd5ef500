#include "bindings/key_places.h"

#include <bit>
#include <utility>

#include "base/error.h"

namespace lucid::python {
namespace {

/// A free place. Python's hashes are never -1.
constexpr int64_t kFree = -1;
constexpr size_t kSmallest = 8;
constexpr unsigned kPerturbShift = 5;
/// The neighbours of a place that sets try before they go to another place.
constexpr size_t kNeighbours = 9;

/// The mean for a key. Keys that are not chosen to collide take 2 to 6 probes, but multiples of a large power of two up
/// to 50 in a dict and 130 in a set.
constexpr size_t kMaxProbes = 256;
/// So that few keys may collide.
constexpr size_t kFreeProbes = 4096;

}  // namespace

KeyPlaces::KeyPlaces(bool is_set) : is_set_(is_set), places_(kSmallest, kFree) {}

size_t KeyPlaces::probe(int64_t hash, bool is_present) {
  const size_t mask = places_.size() - 1;
  auto perturb = static_cast<uint64_t>(hash);
  size_t place = perturb & mask;
  while (true) {
    const size_t neighbours = is_set_ && place + kNeighbours <= mask ? kNeighbours : 0;
    for (size_t i = place; i <= place + neighbours; ++i) {
      ++probes_;
      if (places_[i] == kFree || (is_present && places_[i] == hash)) return i;
    }
    perturb >>= kPerturbShift;
    place = (place * 5 + perturb + 1) & mask;
  }
}

void KeyPlaces::grow(size_t wanted) {
  const std::vector<int64_t> before = std::exchange(places_, std::vector<int64_t>(std::bit_ceil(wanted), kFree));
  for (const int64_t hash : before)
    if (hash != kFree) places_[probe(hash, false)] = hash;
}

void KeyPlaces::add(int64_t hash, bool is_present) {
  ++calls_;
  if (!is_set_ && count_ == places_.size() * 2 / 3) grow(count_ * 3);
  int64_t& place = places_[probe(hash, is_present)];
  if (place == kFree && !is_present) {
    place = hash;
    ++count_;
    if (is_set_ && count_ * 5 >= (places_.size() - 1) * 3) grow(count_ * (count_ > 50'000 ? 2 : 4) + 1);
  }
  if (probes_ > kMaxProbes * calls_ + kFreeProbes)
    throw ValueError("the keys of a {} are chosen such that they collide in its hash table", is_set_ ? "set" : "dict");
}

}  // namespace lucid::python
