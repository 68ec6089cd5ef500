#include "base/error.h"

namespace lucid {
namespace {

constinit thread_local uint64_t t_errors = 0;

}  // namespace

Error::Error(ErrorClass error_class, const std::string& message) : std::runtime_error(message), class_(error_class) {
  ++t_errors;
}

uint64_t errors_made() { return t_errors; }

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError("internal error at {}:{}: {} does not hold{}{}. Please report this.", file, line, condition,
                      message.empty() ? "" : ": ", message);
}

}  // namespace lucid
