#pragma once

namespace lucid {

/// Whether ops on tensors that require grad are recorded. Each thread has its own setting, initially enabled.
class GradMode {
 public:
  static bool enabled() { return state().enabled; }
  static void set_enabled(bool enabled) { state().enabled = enabled; }
  /// True inside inference_mode: like no_grad, with the user's promise not to use results for gradients later.
  static bool inference() { return state().inference; }
  static void set_inference(bool inference) { state().inference = inference; }

 private:
  struct State {
    bool enabled;
    bool inference;
  };
  static State& state() {
    static constinit thread_local State state{true, false};
    return state;
  }
};

/// Sets the mode for the duration of a scope.
class GradModeScope {
 public:
  explicit GradModeScope(bool enabled) : GradModeScope(enabled, GradMode::inference()) {}
  GradModeScope(const GradModeScope&) = delete;
  GradModeScope& operator=(const GradModeScope&) = delete;
  ~GradModeScope() {
    GradMode::set_enabled(saved_enabled_);
    GradMode::set_inference(saved_inference_);
  }
  static GradModeScope for_inference(bool on = true) {
    return on ? GradModeScope(false, true) : GradModeScope(true, false);
  }

 private:
  GradModeScope(bool enabled, bool inference)
      : saved_enabled_(GradMode::enabled()), saved_inference_(GradMode::inference()) {
    GradMode::set_enabled(enabled);
    GradMode::set_inference(inference);
  }

  bool saved_enabled_;
  bool saved_inference_;
};

}  // namespace lucid
