#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "data/byte_source.h"

namespace lucid {

/// One tensor of a safetensors file. Offsets count from the end of the header.
struct SafetensorsEntry {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Dims shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// The header of a safetensors file: 8 bytes with the length of the JSON that follows (little endian), then
/// {"name": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, ..., "__metadata__": {"key": "text"}}.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;                      // in the order of the header
  std::vector<std::pair<std::string, std::string>> metadata;  // read: sorted by name
  uint64_t data_start = 0;
};

/// Reads and checks a header: sizes match the shapes, and the tensors cover the data without gaps or overlaps. Takes
/// O(n log n) for any header. Throws ValueError with the reason if it is invalid.
SafetensorsHeader read_safetensors_header(const ByteSource& source);

/// Returns the bytes before the data. Assigns the offsets of the entries, by descending element size so that all are
/// aligned.
std::string write_safetensors_header(SafetensorsHeader& header);

}  // namespace lucid
