#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jit/program.h"
#include "tensor/random.h"

namespace lucid::jit {

/// A run of a program without any effect, to be compared with what the function itself does in the same call.
///
///   if (!ShadowRun::is_possible(program, handles)) ...
///   ShadowRun shadow(program, handles);  the handles are those of Program::fits()
///   if (!shadow.run(branch)) ...         as Program::run()
///   ...                                  the function runs
///   shadow.results(), shadow.difference()
///
/// What the function does to the gradient graph is not compared.
class ShadowRun {
 public:
  /// False if the plan has effects, or writes imported memory that several tensors share: then the function would
  /// change the inputs of the program.
  static bool is_possible(const Program& program, const Program::Handles& handles);
  ShadowRun(const Program& program, const Program::Handles& handles);
  ShadowRun(const ShadowRun&) = delete;
  ShadowRun& operator=(const ShadowRun&) = delete;
  ~ShadowRun();

  bool run(Program::Branch& branch);
  /// Runs the program a few times, each without any effect. Returns the text of its plan with the shortest time of each
  /// step. Throws RuntimeError if the call cannot run without the function.
  static std::string text_with_times(const Program& program, const Program::Handles& handles);
  /// After the function has run: whether other threads sampled random numbers meanwhile, so that it got other numbers.
  bool is_invalidated() const;
  /// What the program returns, outside the gradient graph.
  CallResults& results() { return contents().results; }
  /// A handle, by its index, whose memory or `.grad` is not what the program would have left.
  struct Difference {
    size_t handle = 0;
    bool is_gradient = false;
  };
  std::optional<Difference> difference();
  /// Throws a RuntimeError that says where the compiled call differs from the function, and which node is the first
  /// that is compiled wrong. `passes` are those of the call, or null for the standard ones.
  [[noreturn]] void fail(const std::string& where, const PassList* passes) const;

 private:
  Outcome::Contents& contents();

  const Program& program_;
  const Program::Handles& handles_;
  std::unique_ptr<Program::Frame> frame_;
  std::vector<GeneratorState::Words> generators_;
  std::optional<Outcome::Contents> contents_;
};

/// The first element, in row-major order, that has other bits: 0 if the dtypes or shapes differ. Empty if there is
/// none. All NaNs are the same.
std::optional<int64_t> first_difference(const TensorRef& a, const TensorRef& b);

}  // namespace lucid::jit
