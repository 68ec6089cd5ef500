#include "base/options.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "base/lock.h"

namespace lucid {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512};

template <typename Number>
Number parse_number(const char* variable, std::string_view text, Number low, Number high) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high)
    throw ValueError("{} is \"{}\"; it has to be a number from {} to {}", variable, text, low, high);
  return number;
}

CpuLevel parse_target(std::string_view text) {
  for (CpuLevel level : kLevels)
    if (name_of(level) == text) return level;
  throw ValueError("LUCID_TARGET is \"{}\"; it has to be avx512, avx2 or scalar", text);
}

bool parse_flag(const char* variable, std::string_view text) {
  if (text == "0" || text == "1") return text == "1";
  throw ValueError("{} is \"{}\"; it has to be 0 or 1", variable, text);
}

/// Never destroyed: worker threads and destructors of static objects may still read it.
Options& current() {
  static auto* const instance =
      new Options(read_options([](const char* name) -> const char* { return std::getenv(name); }));
  return *instance;
}

}  // namespace

bool Options::logs(std::string_view topic) const {
  std::string_view rest = log;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (name == topic || name == "all") return true;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

Options read_options(const char* (*lookup)(const char* variable)) {
  const auto find = [&](const char* variable) {
    const char* const text = lookup(variable);
    return std::string_view(text ? text : "");
  };
  Options options;
  // An empty variable counts as unset, as is common in shell scripts.
  const auto read_number = [&](const char* variable, auto& number, auto low, auto high) {
    if (const auto text = find(variable); !text.empty()) number = parse_number(variable, text, low, high);
  };
  read_number("LUCID_NUM_THREADS", options.num_threads, 1, kMaxThreads);
  read_number("LUCID_VERIFY", options.verify, int64_t{0}, kMaxVerify);
  read_number("LUCID_GPU_MEMORY_LIMIT", options.gpu_memory_limit, int64_t{0}, kMaxGpuMemoryLimit);
  read_number("LUCID_GPU_TIMEOUT", options.gpu_timeout, 1, kMaxGpuTimeout);
  read_number("LUCID_GPU_SHUFFLE", options.gpu_shuffle, int64_t{0}, std::numeric_limits<int64_t>::max());
  if (const auto text = find("LUCID_TARGET"); !text.empty()) options.target = parse_target(text);
  options.cache_dir = find("LUCID_CACHE_DIR");
  options.log = find("LUCID_LOG");
  options.disable_passes = find("LUCID_DISABLE_PASSES");
  const auto read_flag = [&](const char* variable, bool& flag) {
    if (const auto text = find(variable); !text.empty()) flag = parse_flag(variable, text);
  };
  read_flag("LUCID_VERIFY_PASSES", options.verify_passes);
  read_flag("LUCID_COMPILE_WAIT", options.compile_wait);
  read_flag("LUCID_GPU_VALIDATE", options.gpu_validate);
  read_flag("LUCID_GPU_STAGING", options.gpu_staging);
  return options;
}

Options options() {
  const Options& state = current();
  const std::lock_guard lock(mutex_of(LockRank::kOptions));
  return state;
}

void set_options(const Options& options) {
  Options& state = current();
  const std::lock_guard lock(mutex_of(LockRank::kOptions));
  state = options;
}

}  // namespace lucid
