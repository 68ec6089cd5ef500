#pragma once

#include "lucid/compile.h"
#include "lucid/nn/module.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Compiles the calls of a module: `const auto fast = lucid::compile(model); Tensor y = fast(x);`. There are plans for
/// training and for evaluation. Any other change of the module, such as a new hook, is noticed, and calls are recorded
/// again.
template <std::derived_from<nn::Module> M>
auto compile(nn::Ptr<M> module, const CompileOptions& options = {}) {
  return compile([module](const Tensor& input) { return module(input); }, options);
}

}  // namespace lucid
#pragma GCC visibility pop
