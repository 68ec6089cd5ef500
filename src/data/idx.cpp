// The IDX format: two zero bytes, the dtype code, the number of dimensions, each size as a 32-bit number, then the
// elements in row-major order. Everything is big endian.

#include <lucid/data.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/checked_int.h"
#include "base/shape.h"
#include "data/byte_source.h"
#include "tensor/api.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

constexpr size_t kPrefix = 4;
// Maximum ratio of uncompressed to compressed size of a deflate stream.
constexpr uint64_t kMaxInflation = 1032;

struct IdxHeader {
  Dtype dtype = Dtype::kU8;
  Dims shape;
  size_t header_bytes = 0;
  uint64_t data_bytes = 0;
};

Dtype dtype_of_code(uint8_t code) {
  switch (code) {
    case 0x08:
      return Dtype::kU8;
    case 0x09:
      return Dtype::kI8;
    case 0x0B:
      return Dtype::kI16;
    case 0x0C:
      return Dtype::kI32;
    case 0x0D:
      return Dtype::kF32;
    case 0x0E:
      return Dtype::kF64;
    default:
      throw ValueError("read_idx: not a valid IDX file: 0x{:02x} is not a dtype code", code);
  }
}

/// `begin` holds the first bytes of the file, possibly too few. `max_bytes` bounds the size of the data that follows.
IdxHeader parse_header(std::span<const uint8_t> begin, uint64_t max_bytes) {
  if (begin.size() < kPrefix || begin[0] != 0 || begin[1] != 0)
    throw ValueError("read_idx: not a valid IDX file: it does not begin with two zero bytes");
  IdxHeader header;
  header.dtype = dtype_of_code(begin[2]);
  const size_t rank = begin[3];
  header.header_bytes = kPrefix + 4 * rank;
  if (begin.size() < header.header_bytes)
    throw ValueError("read_idx: not a valid IDX file: it ends within the sizes of its {} dimensions", rank);
  for (size_t i = 0; i < rank; ++i) {
    const uint8_t* at = begin.data() + kPrefix + 4 * i;
    header.shape.push_back(int64_t{at[0]} << 24 | int64_t{at[1]} << 16 | int64_t{at[2]} << 8 | at[3]);
  }
  const std::optional<int64_t> bytes = checked_bytes(header.shape, size_of(header.dtype)).value();
  if (!bytes) throw ValueError("read_idx: not a valid IDX file: its sizes are too large");
  header.data_bytes = static_cast<uint64_t>(*bytes);
  if (header.data_bytes > max_bytes)
    throw ValueError("read_idx: not a valid IDX file: it should hold {} bytes of data, but can hold at most {}",
                     header.data_bytes, max_bytes);
  return header;
}

Tensor make_result(const IdxHeader& header, const uint8_t* data) {
  const TensorRef tensor = make_tensor(header.dtype, header.shape);
  const size_t size = size_of(header.dtype);
  auto* to = static_cast<uint8_t*>(tensor->data());
  for (uint64_t i = 0; i < header.data_bytes; i += size) std::reverse_copy(data + i, data + i + size, to + i);
  return wrap(tensor);
}

/// Decompresses incrementally.
class Inflater {
 public:
  explicit Inflater(std::span<const char> bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    left_ = bytes.size();
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw RuntimeError("read_idx: zlib could not be initialized");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Appends bytes until there are `target`, or the stream ends.
  void read_until(std::vector<uint8_t>& bytes, uint64_t target) {
    constexpr uint64_t kChunk = 1 << 20;
    while (bytes.size() < target && !ended_) {
      const size_t before = bytes.size();
      const auto chunk = static_cast<uInt>(std::min<uint64_t>(kChunk, target - before));
      bytes.resize(before + chunk);
      stream_.next_out = bytes.data() + before;
      stream_.avail_out = chunk;
      while (stream_.avail_out != 0 && !ended_) step();
      bytes.resize(before + chunk - stream_.avail_out);
    }
  }

  /// Reads to the end of the stream, where zlib verifies the checksum. Throws if there is more data.
  void finish() {
    uint8_t extra = 0;
    stream_.next_out = &extra;
    stream_.avail_out = 1;
    while (!ended_ && stream_.avail_out != 0) step();
    if (stream_.avail_out == 0) throw ValueError("read_idx: not a valid IDX file: data follows the array");
  }

 private:
  void step() {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(std::min<uint64_t>(left_, 1u << 30));
      left_ -= stream_.avail_in;
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ended_ = true;
      return;
    }
    if (status == Z_BUF_ERROR && stream_.avail_in == 0 && left_ == 0)
      throw ValueError("read_idx: the compressed file was cut short");
    if (status != Z_OK)
      throw ValueError("read_idx: the compressed file is damaged: {}", stream_.msg ? stream_.msg : "unexpected data");
  }

  z_stream stream_{};
  uint64_t left_ = 0;
  bool ended_ = false;
};

Tensor parse_compressed(std::span<const char> bytes) {
  Inflater inflater(bytes);
  std::vector<uint8_t> plain;
  inflater.read_until(plain, kPrefix);
  if (plain.size() == kPrefix) inflater.read_until(plain, kPrefix + 4 * uint64_t{plain[3]});
  const IdxHeader header = parse_header(plain, bytes.size() * kMaxInflation);
  const uint64_t total = header.header_bytes + header.data_bytes;
  inflater.read_until(plain, total);
  if (plain.size() < total)
    throw ValueError("read_idx: not a valid IDX file: it should hold {} bytes of data, but holds {}", header.data_bytes,
                     plain.size() - header.header_bytes);
  inflater.finish();
  return make_result(header, plain.data() + header.header_bytes);
}

}  // namespace

Tensor parse_idx(std::span<const char> bytes) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() >= 2 && begin[0] == 0x1f && begin[1] == 0x8b) return parse_compressed(bytes);
  const IdxHeader header = parse_header({begin, bytes.size()}, bytes.size());
  const uint64_t data_bytes = bytes.size() - header.header_bytes;
  if (data_bytes != header.data_bytes)
    throw ValueError("read_idx: not a valid IDX file: it should hold {} bytes of data, but holds {}", header.data_bytes,
                     data_bytes);
  return make_result(header, begin + header.header_bytes);
}

Tensor read_idx(const std::string& path) {
  on_external_effect("reads a file");
  const FileSource source("read_idx", path);
  std::vector<char> bytes(source.size());
  source.read(0, bytes.data(), bytes.size());
  return parse_idx(bytes);
}

}  // namespace lucid
