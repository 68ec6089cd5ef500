#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "loop/builder.h"
#include "run_code.h"

// load_alternate and load_twice on a page between two inaccessible pages.
namespace lucid::codegen {
namespace {

/// One accessible page between two inaccessible ones.
class GuardedPage {
 public:
  GuardedPage() : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    start_ = static_cast<std::byte*>(mmap(nullptr, 3 * bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(start_), MAP_FAILED);
    EXPECT_EQ(mprotect(start_ + bytes_, bytes_, PROT_READ | PROT_WRITE), 0);
  }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage() { munmap(start_, 3 * bytes_); }

  std::byte* begin() const { return start_ + bytes_; }
  std::byte* end() const { return begin() + bytes_; }

 private:
  size_t bytes_;
  std::byte* start_;
};

struct Case {
  CpuLevel target;
  Dtype dtype;
  bool twice;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.target) << " " << name_of(c.dtype) << (c.twice ? " twice" : " alternate");
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (CpuLevel target : test::runnable_levels())
    for (Dtype dtype : {Dtype::kU8, Dtype::kBF16, Dtype::kF32, Dtype::kF64})
      for (bool twice : {false, true}) all.push_back({target, dtype, twice});
  return all;
}

class ShuffledLoads : public testing::TestWithParam<Case> {
 protected:
  /// Loads from element 0 of @0, if `masked` with the bits of param 0 as the mask, and stores all lanes to @1.
  loop::Kernel kernel(bool masked) const {
    loop::Builder b("apart");
    const auto in = b.argument(GetParam().dtype), out = b.argument(GetParam().dtype);
    const loop::Value bits = b.splat(b.convert(b.param(), Dtype::kI32));
    const loop::Value set = b.binary(loop::Code::kShr, bits, b.iota(Dtype::kI32)) & b.constant(Dtype::kI32, 1);
    const loop::Value mask = masked ? set != b.constant(Dtype::kI32, 0) : loop::Value();
    b.store(out, b.begin(),
            GetParam().twice ? b.load_twice(in, b.begin(), mask) : b.load_alternate(in, b.begin(), mask));
    return b.finish();
  }
  static int offset(int lane) { return GetParam().twice ? lane / 2 : 2 * lane; }
};

TEST_P(ShuffledLoads, AccessOnlyActiveLanes) {
  auto generator = make_llvm_generator();
  const loop::Kernel whole = kernel(false), some = kernel(true);
  const auto whole_code = generator->load(whole, generator->compile(whole, GetParam().target));
  const auto some_code = generator->load(some, generator->compile(some, GetParam().target));
  const size_t size = size_of(GetParam().dtype);
  const GuardedPage page;
  for (int64_t bits : {0xffff, 0x0001, 0x8000, 0x7fff, 0x5a5a, 0x0180, 0x00ff, 0x0000}) {
    int first = loop::kLanes, last = -1;
    for (int lane = 0; lane < loop::kLanes; ++lane) {
      if (!(bits >> lane & 1)) continue;
      first = std::min(first, lane);
      last = lane;
    }
    // First place the last active element at the end of the page, then the first active element at its start.
    for (bool at_end : {true, false}) {
      std::byte* const data = last < 0 ? (at_end ? page.end() : page.begin() - 16 * size)
                              : at_end ? page.end() - (offset(last) + 1) * size
                                       : page.begin() - offset(first) * size;
      std::vector<std::byte> expected(loop::kLanes * size);
      for (int lane = 0; lane < loop::kLanes; ++lane) {
        if (!(bits >> lane & 1)) continue;
        for (size_t k = 0; k < size; ++k) data[offset(lane) * size + k] = static_cast<std::byte>(1 + offset(lane) + k);
        std::memcpy(&expected[lane * size], data + offset(lane) * size, size);
      }
      std::vector<std::byte> out(loop::kLanes * size, std::byte{0xee});
      void* buffers[] = {data, out.data()};
      run_code(*some_code, buffers, &bits, 0, 1);
      EXPECT_EQ(out, expected) << "mask " << bits;
      if (bits != 0xffff) continue;
      out.assign(out.size(), std::byte{0xee});
      run_code(*whole_code, buffers, &bits, 0, 1);
      EXPECT_EQ(out, expected) << "without a mask";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShuffledLoads, testing::ValuesIn(cases()));

}  // namespace
}  // namespace lucid::codegen
