#pragma once

#include <string>

#include "base/error.h"
#include "loop/kernel.h"

namespace lucid::loop {

/// Thrown by verify(). Says which rule is broken, and where.
class BrokenRule : public InternalError {
 public:
  /// The value of instruction() if the error concerns the kernel as a whole.
  static constexpr Id kNone = ~Id{0};
  BrokenRule(const std::string& message, Id instruction) : InternalError(message), instruction_(instruction) {}
  Id instruction() const { return instruction_; }

 private:
  Id instruction_;
};

}  // namespace lucid::loop
