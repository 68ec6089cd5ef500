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

/// Named options of a parameter group. A floating-point number, or a tuple of them, is stored in cells: 0-d tensors
/// that steps read when they run, so that a compiled step does not depend on the number.
class Options {
 public:
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// Throws ValueError if there is no such option, like all accessors below.
  Tree get(const std::string& name) const;
  /// Writes into the cells of the option if it has any.
  void set(const std::string& name, const Tree& value);
  bool erase(const std::string& name);
  std::vector<std::string> names() const;

  double real(const std::string& name, size_t index = 0) const;
  bool flag(const std::string& name) const;
  Tensor cell(const std::string& name, size_t index = 0) const;
  /// The cells of all options.
  std::vector<Tensor> cells() const;
  /// The cell, or an undefined tensor while it holds 0: steps skip an option that is 0.
  Tensor cell_unless_zero(const std::string& name) const;
  /// Changes whenever anything but the number in a cell changes, and when a single number becomes or stops being 0.
  uint64_t version() const { return version_; }

 private:
  enum class Kind : uint8_t { kPlain, kNumber, kTuple };
  struct Entry {
    std::string name;
    Kind kind = Kind::kPlain;
    Tree value;  // only for kPlain
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

/// The implementation of one kind of optimizer; see src/optim/rule.h.
struct Rule;

/// Updates parameters by their gradients. The state of each parameter and the options of each group can be read and
/// written between steps.
class Optimizer {
 public:
  /// Parameters, and the options that override the defaults of the optimizer for them.
  struct Group {
    std::vector<Tensor> params;
    Tree::Dict options = {};
  };
  using Hook = std::function<void(Optimizer& optimizer)>;
  using State = std::shared_ptr<Tree::Dict>;

  /// For user-defined optimizers, which override step_group(). `options` are the defaults of every group.
  Optimizer(std::vector<Group> groups, Tree::Dict options);
  /// A built-in optimizer by name, such as "Adam"; lucid/optimizers.h has a class for each. Options that are not given
  /// have the defaults of that optimizer.
  Optimizer(const std::string& name, std::vector<Group> groups, const Tree::Dict& options);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  void add_param_group(Group group);
  /// Valid until a group is added.
  const std::vector<std::shared_ptr<ParamGroup>>& param_groups() const;
  const Tree::Dict& defaults() const { return defaults_; }

  void zero_grad(bool set_to_none = true);
  /// Runs one step for every group, without recording gradients. `closure` computes the loss and its gradients again;
  /// if given, its loss is returned.
  Tensor step(const std::function<Tensor()>& closure = nullptr);

  /// The state of a parameter; created empty if there is none yet.
  State state(const Tensor& param);
  bool has_state(const Tensor& param) const;
  void clear_state();

  /// {"state": {index: {...}}, "param_groups": [{..., "params": [index, ...]}]}, the layout of PyTorch. The tensors are
  /// those of the optimizer, not copies.
  Tree state_dict() const;
  /// Loads a state dict and copies its tensors. Throws ValueError if the sizes of the groups differ.
  void load_state_dict(const Tree& state_dict);

  /// Registers a hook that runs before or after each step. The returned function removes it.
  std::function<void()> register_step_pre_hook(Hook hook);
  std::function<void()> register_step_post_hook(Hook hook);

  /// Number of steps taken by this object, for schedulers.
  uint64_t steps_taken() const;
  /// Counts a step that is taken elsewhere, by a subclass in another language.
  void count_step() { ++counters_->steps; }

  /// Changes whenever a group or a hook is added, the state dict of a parameter is replaced, or changed() is called.
  uint64_t version() const;
  /// Must be called after an entry of a parameter's state was replaced.
  void changed();

 protected:
  /// Updates the parameters of a group that have a gradient.
  virtual void step_group(ParamGroup& group);

 private:
  struct Hooks;
  class Dependency;
  std::function<void()> add_hook(std::shared_ptr<Hooks>& hooks, Hook hook);
  /// Tells a recording that it depends on this optimizer.
  void on_use() const;
  State state_of(const Tensor& param);
  /// Throws ValueError unless the parameters are leaves, and in no group yet.
  void check_new(const std::vector<Tensor>& params) const;

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
  /// Recordings of calls share them. The version changes for the last time when the optimizer is destroyed.
  struct Counters {
    uint64_t steps = 0;
    uint64_t version = 0;
  };
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
};

/// A built-in optimizer: `Adam adam(model->parameters(), {.lr = 1e-3})`. Its options have the names and the defaults of
/// Python. Groups may override them: `Adam adam({{.params = head, .options = {{"lr", 1e-2}}}, {.params = body}})`.
template <typename Options>
class BuiltIn : public Optimizer {
 public:
  explicit BuiltIn(std::vector<Tensor> params, const Options& options = {})
      : Optimizer(Options::kName, {{.params = std::move(params)}}, options.dict()) {}
  explicit BuiltIn(std::vector<Group> groups, const Options& options = {})
      : Optimizer(Options::kName, std::move(groups), options.dict()) {}
};

}  // namespace lucid::optim

#pragma GCC visibility pop
