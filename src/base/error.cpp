#include "base/error.h"

namespace lucid {

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError("internal error at {}:{}: {} does not hold{}{}. Please report this.", file, line, condition,
                      message.empty() ? "" : ": ", message);
}

}  // namespace lucid
