#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lucid/tensor.h"
#include "lucid/tree.h"

#pragma GCC visibility push(default)

namespace lucid::optim {

/// Named options of a parameter group. A floating-point number, or a tuple of them, lies in cells: 0-d tensors that
/// steps read when they run, so that a compiled step does not depend on the number.
class Options {
 public:
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// Throws ValueError when there is none, as all of these do.
  Tree get(const std::string& name) const;
  /// Writes into the option's cells if it has some.
  void set(const std::string& name, const Tree& value);
  bool erase(const std::string& name);
  std::vector<std::string> names() const;

  double real(const std::string& name, size_t index = 0) const;
  bool flag(const std::string& name) const;
  const Tensor& cell(const std::string& name, size_t index = 0) const;
  /// The cell, or none while it holds 0: what a step leaves out.
  Tensor cell_unless_zero(const std::string& name) const;
  /// Moves whenever anything but the number in a cell changes.
  uint64_t version() const { return version_; }

 private:
  enum class Kind : uint8_t { kPlain, kNumber, kTuple };
  struct Entry {
    std::string name;
    Kind kind = Kind::kPlain;
    Tree value;  // of kPlain
    std::vector<Tensor> cells;
  };
  const Entry* find(const std::string& name) const;
  const Entry& at(const std::string& name) const;
  std::vector<Entry> entries_;
  uint64_t version_ = 0;
};

/// Parameters that share options.
struct ParamGroup {
  std::vector<Tensor> params;
  Options options;
};

/// How one kind of optimizer works; see src/optim/rule.h.
struct Rule;

/// Moves parameters along their gradients. The state of each parameter and the options of each group can be read and
/// written between steps.
class Optimizer {
 public:
  /// Parameters with options that differ from the optimizer's own.
  struct Group {
    std::vector<Tensor> params;
    Tree::Dict options = {};
  };
  using Hook = std::function<void(Optimizer& optimizer)>;
  using State = std::shared_ptr<Tree::Dict>;

  /// For optimizers of one's own: `options` are the defaults of every group; override step_group().
  Optimizer(std::vector<Group> groups, Tree::Dict options);
  /// One of Lucid's by its name, "Adam" for instance. Options that are not given have that optimizer's defaults.
  Optimizer(const std::string& name, std::vector<Group> groups, const Tree::Dict& options);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  void add_param_group(Group group);
  const std::vector<std::shared_ptr<ParamGroup>>& param_groups() const { return groups_; }
  const Tree::Dict& defaults() const { return defaults_; }

  void zero_grad(bool set_to_none = true);
  /// One step of every group; gradients are not recorded. With `closure`, which computes the loss and its gradients
  /// anew, returns its loss.
  Tensor step(const std::function<Tensor()>& closure = nullptr);

  /// What is remembered for a parameter; made if there is nothing yet.
  const State& state(const Tensor& param);
  bool has_state(const Tensor& param) const { return states_.contains(param.impl()); }
  void clear_state();

  /// {"state": {index: {...}}, "param_groups": [{..., "params": [index, ...]}]}, the layout that PyTorch has. The
  /// tensors are the optimizer's own.
  Tree state_dict() const;
  /// Copies. Throws ValueError when the groups are not of the same sizes.
  void load_state_dict(const Tree& state_dict);

  /// Run before and after each step. The returned function removes the hook.
  std::function<void()> register_step_pre_hook(Hook hook);
  std::function<void()> register_step_post_hook(Hook hook);

  /// How many steps were taken by this object; schedulers ask.
  uint64_t steps_taken() const { return steps_taken_; }
  /// For steps that are taken elsewhere, by a subclass in another language.
  void count_step() { ++steps_taken_; }

  /// Moves whenever a group is added, the dict of a parameter's state is another than before, or changed() is called.
  uint64_t version() const { return version_; }
  /// For whoever puts something else into a parameter's state.
  void changed() { ++version_; }

 protected:
  /// Updates the parameters of a group that have a gradient.
  virtual void step_group(ParamGroup& group);

 private:
  struct Hooks;
  static std::function<void()> add_hook(std::shared_ptr<Hooks>& hooks, Hook hook);

  const Rule* rule_ = nullptr;
  Tree::Dict defaults_;
  std::vector<std::shared_ptr<ParamGroup>> groups_;
  struct StateEntry {
    Tensor param;
    State state;
  };
  std::unordered_map<const TensorImpl*, StateEntry> states_;
  std::shared_ptr<Hooks> pre_hooks_;
  std::shared_ptr<Hooks> post_hooks_;
  uint64_t steps_taken_ = 0;
  uint64_t version_ = 0;
};

// Lucid's optimizers. Each takes parameters, or groups of them, and its options. Options that are not listed here have
// the names and defaults that Python shows: pass them to Optimizer(name, groups, options).

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};
/// Stochastic gradient descent, with momentum.
class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> params, const SGDOptions& options = {});
};

struct AdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
};
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> params, const AdamOptions& options = {});
};

struct AdamWOptions : AdamOptions {
  AdamWOptions() { weight_decay = 1e-2; }
};
/// Adam with weight decay that does not pass through the averages.
class AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<Tensor> params, const AdamOptions& options = AdamWOptions());
};

}  // namespace lucid::optim

#pragma GCC visibility pop
