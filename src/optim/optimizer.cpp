#include <fmt/format.h>
#include <lucid/autograd.h>
#include <lucid/ops.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "optim/declared.h"
#include "optim/rule.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"

namespace lucid::optim {
namespace {

const std::string& text_of(const Tree::Key& key) {
  if (const auto* text = std::get_if<std::string>(&key)) return *text;
  throw TypeError("optimizer: the name of an option or state must be text, got {}", to_string(key));
}

/// Converts `given` to the type of the default: an integer to a float, a list to a tuple.
Tree like_default(const Tree& given, const Tree& default_value) {
  if (default_value.get_if<double>() && given.get_if<int64_t>()) return given.as_real("");
  if (default_value.get_if<Tree::Tuple>() && given.items_or_null()) {
    Tree::Tuple tuple;
    for (const Tree& item : *given.items_or_null())
      tuple.items.push_back(item.get_if<int64_t>() ? Tree(item.as_real("")) : item);
    return tuple;
  }
  return given;
}

Tensor copy_of_state(const Tensor& value, const std::string& name, const Tensor& param) {
  const bool takes_param_dtype =
      name != "step" && is_float(value.dtype()) && value.dtype() != param.dtype() && value.shape() == param.shape();
  const Tensor converted = takes_param_dtype ? value.to(param.dtype()) : value;
  return converted.device() == param.device() ? converted.clone() : converted.to(param.device());
}

Tree copy_of_state(const Tree& value, const std::string& name, const Tensor& param) {
  if (const auto* tensor = value.get_if<Tensor>()) return copy_of_state(*tensor, name, param);
  if (const auto* items = value.get_if<Tree::List>()) {
    Tree::List copy;
    for (const Tree& item : *items) copy.push_back(copy_of_state(item, name, param));
    return copy;
  }
  return value;
}

}  // namespace

struct Optimizer::Hooks {
  std::map<uint64_t, Hook> by_id;
  uint64_t next = 0;

  static void run(const std::shared_ptr<Hooks>& hooks, Optimizer& optimizer) {
    if (!hooks) return;
    const std::map<uint64_t, Hook> now = hooks->by_id;  // a hook may remove itself
    for (const auto& [_, hook] : now) hook(optimizer);
  }
};

Optimizer::Optimizer(std::vector<Group> groups, Tree::Dict options) : defaults_(std::move(options)) {
  if (groups.empty()) throw ValueError("optimizer: got an empty list of parameters");
  for (Group& group : groups) add_param_group(std::move(group));
}

Optimizer::Optimizer(const std::string& name, std::vector<Group> groups, const Tree::Dict& options) {
  rule_ = find_rule(name);
  if (!rule_) throw ValueError("optimizer: there is no optimizer named '{}'", name);
  defaults_ = declared_defaults(name);
  for (const auto& [key, value] : rule_->fixed) defaults_[key] = value;
  for (const auto& [key, value] : options) {
    Tree* default_value = defaults_.find(key);
    if (!default_value) throw TypeError("{}: there is no option {}", name, to_string(key));
    *default_value = like_default(value, *default_value);
  }
  if (groups.empty()) throw ValueError("{}: got an empty list of parameters", name);
  for (Group& group : groups) add_param_group(std::move(group));
}

Optimizer::~Optimizer() { changed(); }

// Ops, closures and hooks may give up the caller's lock, and destroying a value may run Python code. Meanwhile other
// threads may add groups, clear or load the state, and replace its entries and the options. What is walked or used
// after that is therefore owned: copies of groups_, the state's shared pointer, tensors by value.

void Optimizer::check_new(const std::vector<Tensor>& params) const {
  const char* who = rule_ ? rule_->name.c_str() : "optimizer";
  std::set<const TensorImpl*> seen;
  for (const auto& existing : groups_)
    for (const Tensor& param : existing->params) seen.insert(param.impl());
  for (const Tensor& param : params) {
    TensorImpl& impl = unwrap(param);
    if (!is_leaf(impl) && !retains_grad(impl))
      throw ValueError("{}: {} is the result of an operation; only leaf tensors can be optimized", who,
                       to_string(impl.type()));
    if (!seen.insert(&impl).second)
      throw ValueError("{}: a parameter appears more than once, in one group or in several", who);
  }
}

void Optimizer::add_param_group(Group group) {
  check_new(group.params);
  auto added = std::make_shared<ParamGroup>();
  added->params = std::move(group.params);
  for (const auto& [key, default_value] : defaults_) {
    const auto& name = text_of(key);
    const Tree* given = group.options.find(key);
    added->options.set(name, given ? like_default(*given, default_value) : default_value);
  }
  for (const auto& [key, value] : group.options)
    if (!defaults_.has(key)) added->options.set(text_of(key), value);
  if (rule_) rule_->check(added->options);
  if (rule_ && rule_->prepare)
    for (const Tensor& param : added->params) {
      const DeviceScope device(unwrap(param).device());
      const State state = state_of(param);
      rule_->prepare(added->options, param, *state);
    }
  check_new(added->params);
  groups_.push_back(std::move(added));
  changed();
}

/// A recorded call reads the groups and their options, except for numbers in cells, and takes steps.
class Optimizer::Dependency : public lucid::Dependency {
 public:
  explicit Dependency(const Optimizer& optimizer)
      : counters_(optimizer.counters_),
        version_(counters_->version),
        steps_(counters_->steps),
        name_(optimizer.rule_ ? optimizer.rule_->name : "optimizer"),
        groups_(optimizer.groups_) {
    for (const auto& group : groups_) {
      versions_.push_back(group->options.version());
      params_.push_back(group->params);
    }
  }

  bool holds() const override {
    if (counters_->version != version_) return false;
    for (size_t i = 0; i < groups_.size(); ++i)
      if (groups_[i]->options.version() != versions_[i] ||
          !std::ranges::equal(groups_[i]->params, params_[i], {}, &Tensor::impl, &Tensor::impl))
        return false;
    return true;
  }
  std::string name() const override { return "the optimizer " + name_; }
  std::string recorded() override {
    steps_ = counters_->steps - steps_;
    return {};
  }
  void ran() const override { counters_->steps += steps_; }

 private:
  const std::shared_ptr<Counters> counters_;
  const uint64_t version_;
  /// Before the call; once it is recorded, the steps that it took.
  uint64_t steps_;
  const std::string name_;
  const std::vector<std::shared_ptr<ParamGroup>> groups_;
  std::vector<uint64_t> versions_;
  std::vector<std::vector<Tensor>> params_;
};

void Optimizer::on_use() const {
  on_dependency(counters_.get(), [&] { return std::make_shared<Dependency>(*this); });
}

const std::vector<std::shared_ptr<ParamGroup>>& Optimizer::param_groups() const {
  on_use();
  return groups_;
}

uint64_t Optimizer::steps_taken() const {
  on_external_effect("reads how many steps an optimizer has taken");
  return counters_->steps;
}

void Optimizer::changed() {
  on_use();
  ++counters_->version;
}

void Optimizer::zero_grad(bool set_to_none) {
  on_use();
  const NoGrad no_grad;
  const auto groups = groups_;
  for (const auto& group : groups)
    for (Tensor& param : group->params) {
      if (set_to_none) {
        param.set_grad(Tensor());
      } else if (Tensor grad = param.grad(); grad.defined()) {
        grad = grad.detach().zero_();
        param.set_grad(grad);
      }
    }
}

Tensor Optimizer::step(const std::function<Tensor()>& closure) {
  on_use();
  Hooks::run(pre_hooks_, *this);
  Tensor loss;
  if (rule_ && rule_->step) {
    loss = rule_->step(*this, closure);
  } else {
    if (closure) {
      const EnableGrad enable_grad;
      loss = closure();
    }
    const NoGrad no_grad;
    const auto groups = groups_;
    for (const auto& group : groups) step_group(*group);
  }
  count_step();
  Hooks::run(post_hooks_, *this);
  return loss;
}

void Optimizer::step_group(ParamGroup& group) {
  if (!rule_) throw NotImplementedError("optimizer: a user-defined optimizer must override step_group()");
  for (size_t i = 0; i < group.params.size(); ++i) {
    const Tensor& param = group.params[i];
    const Tensor grad = param.grad();
    if (!grad.defined()) continue;
    const DeviceScope device(unwrap(param).device());
    const State state = state_of(param);
    try {
      rule_->update(group.options, param, grad, *state);
    } catch (const UnfitState& unfit) {
      throw ValueError("{}: parameter {} of its group, {}: {}", rule_->name, i, to_string(unwrap(param).type()),
                       unfit.reason);
    }
  }
}

Optimizer::State Optimizer::state(const Tensor& param) {
  on_use();
  const State state = state_of(param);
  // The first step fills it.
  if (state->empty()) on_setup();
  return state;
}

Optimizer::State Optimizer::state_of(const Tensor& param) {
  StateEntry& entry = states_[param.impl()];
  if (entry.state) return entry.state;
  entry = {param, std::make_shared<Tree::Dict>()};
  const State state = entry.state;
  changed();
  return state;
}

bool Optimizer::has_state(const Tensor& param) const {
  on_use();
  return states_.contains(param.impl());
}

uint64_t Optimizer::version() const {
  on_use();
  return counters_->version;
}

void Optimizer::clear_state() {
  const auto cleared = std::exchange(states_, {});
  changed();
}

Tree Optimizer::state_dict() const {
  std::vector<Tree::Item> states;
  Tree::List groups;
  int64_t next = 0;
  for (const auto& group : groups_) {
    Tree::Dict described;
    for (const std::string& name : group->options.names()) described[name] = group->options.get(name);
    Tree::List indices;
    for (const Tensor& param : group->params) {
      if (const auto found = states_.find(param.impl()); found != states_.end() && !found->second.state->empty())
        states.push_back({next, *found->second.state});
      indices.emplace_back(next++);
    }
    described["params"] = std::move(indices);
    groups.emplace_back(std::move(described));
  }
  return Tree::Dict{{"state", Tree::Dict(std::move(states))}, {"param_groups", std::move(groups)}};
}

void Optimizer::load_state_dict(const Tree& state_dict) {
  const Tree::Dict& dict = state_dict.as_dict("load_state_dict: state_dict");
  const Tree::List& groups = dict.at("param_groups").as_items("load_state_dict: param_groups");
  const Tree::Dict& states = dict.at("state").as_dict("load_state_dict: state");
  const auto own_groups = groups_;
  if (groups.size() != own_groups.size())
    throw ValueError("load_state_dict: the optimizer has {} parameter groups, but the state dict has {}",
                     own_groups.size(), groups.size());
  std::map<int64_t, Tensor> by_index;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Tree::List& indices = groups[i].as_dict("load_state_dict: a group").at("params").as_items("params");
    if (indices.size() != own_groups[i]->params.size())
      throw ValueError(
          "load_state_dict: group {} of the optimizer has {} parameters, but that of the state dict has {}", i,
          own_groups[i]->params.size(), indices.size());
    for (size_t k = 0; k < indices.size(); ++k)
      by_index[indices[k].as_integer("load_state_dict: a parameter's index")] = own_groups[i]->params[k];
  }

  std::unordered_map<const TensorImpl*, StateEntry> loaded;
  for (const auto& [key, state] : states) {
    const auto* index = std::get_if<int64_t>(&key);
    const auto found = index ? by_index.find(*index) : by_index.end();
    if (found == by_index.end())
      throw ValueError("load_state_dict: the state dict has state for parameter {}, which is in no group",
                       to_string(key));
    std::vector<Tree::Item> copy;
    for (const auto& [name, value] : state.as_dict("load_state_dict: a parameter's state"))
      copy.push_back({name, copy_of_state(value, text_of(name), found->second)});
    loaded[found->second.impl()] = {found->second, std::make_shared<Tree::Dict>(std::move(copy))};
  }
  states_.swap(loaded);
  changed();
  for (size_t i = 0; i < groups.size(); ++i)
    for (const auto& [key, value] : groups[i].as_dict("")) {
      const auto& name = text_of(key);
      if (name == "params") continue;
      const Tree* default_value = defaults_.find(key);
      own_groups[i]->options.set(name, default_value ? like_default(value, *default_value) : value);
    }
}

std::function<void()> Optimizer::add_hook(std::shared_ptr<Hooks>& hooks, Hook hook) {
  if (!hooks) hooks = std::make_shared<Hooks>();
  const uint64_t id = hooks->next++;
  hooks->by_id[id] = std::move(hook);
  changed();
  return [weak = std::weak_ptr<Hooks>(hooks), counters = counters_, id] {
    if (const auto held = weak.lock()) counters->version += held->by_id.erase(id);
  };
}

std::function<void()> Optimizer::register_step_pre_hook(Hook hook) { return add_hook(pre_hooks_, std::move(hook)); }
std::function<void()> Optimizer::register_step_post_hook(Hook hook) { return add_hook(post_hooks_, std::move(hook)); }

void check_state(const Tensor& param, std::string_view name, const Tensor& value, StateKind kind) {
  const TensorImpl& tensor = unwrap(value);
  const Dims& shape = unwrap(param).sizes();
  if (kind == StateKind::kNumber ? !tensor.sizes().empty() : tensor.sizes() != shape)
    throw UnfitState{fmt::format("its {} must have shape {}, got {}", name,
                                 kind == StateKind::kNumber ? "[]" : to_string(DimsView(shape)),
                                 to_string(tensor.type()))};
  if (kind != StateKind::kRead && has_internal_overlap(tensor.sizes(), tensor.strides()))
    throw UnfitState{
        fmt::format("several elements of its {} {} share one memory location, because it was expanded; "
                    "clone() it first",
                    name, to_string(tensor.type()))};
}

Tensor as_number(const Tensor& cell, std::string_view name) {
  if (cell.dim() == 0) return cell;
  if (cell.numel() != 1)
    throw UnfitState{fmt::format("its option {} must be a number, got {}", name, to_string(unwrap(cell).type()))};
  return cell.reshape({});
}

/// The operands of an update are the numbers that it writes, the parameter, the state of the parameter's shape, the
/// gradient, and the numbers that it reads, which are the cells of options.
static void check_operands(const Op& op, std::initializer_list<Tensor> written, const Tensor& grad) {
  const std::vector<Parameter>& parameters = op.schema.parameters;
  size_t at = 0;
  while (parameters[at].name != "param") ++at;
  const Tensor& param = written.begin()[at];
  for (size_t i = 0; i < written.size(); ++i) {
    const Tensor& tensor = written.begin()[i];
    if (tensor.defined())
      check_state(param, parameters[i].name, tensor, i < at ? StateKind::kNumber : StateKind::kLikeParameter);
  }
  check_state(param, "gradient", grad, StateKind::kRead);
}

void apply_update(const Op& op, std::initializer_list<Tensor> written, std::initializer_list<Tensor> read,
                  const Attributes& attributes) {
  SmallVector<Operand, 16> operands;
  SmallVector<TensorImpl*, 6> destinations;
  for (const Tensor& tensor : written) {
    operands.push_back(tensor.defined() ? Operand(tensor.impl()) : Operand());
    if (tensor.defined()) destinations.push_back(tensor.impl());
  }
  check_operands(op, written, *read.begin());
  std::vector<Tensor> numbers;
  numbers.reserve(read.size());
  for (const Tensor& tensor : read) {
    const bool is_vector = &tensor != read.begin() && tensor.defined() && tensor.dim() != 0;
    if (is_vector) numbers.push_back(as_number(tensor, op.schema.parameters[operands.size()].name));
    operands.push_back(tensor.defined() ? Operand(is_vector ? numbers.back().impl() : tensor.impl()) : Operand());
  }
  for (TensorImpl* destination : destinations) destination->before_write();
  compute_into(Call(op, {operands.data(), operands.size()}, attributes), {destinations.data(), destinations.size()});
}

Tensor zeros_state(Tree::Dict& state, const char* name, const Tensor& param) {
  return state_tensor(state, name, [&] { return zeros_like(param.detach()); });
}

Tensor number_state(Tree::Dict& state, const char* name, double value) {
  return state_tensor(state, name, [&] { return full({}, value); });
}

void require_at_least(const char* optimizer, const Options& options, const char* name, double bound) {
  if (const double value = options.real(name); !(value >= bound))
    throw ValueError("{}: {} must be at least {}, got {}", optimizer, name, bound, value);
}

void require_betas(const char* optimizer, const Options& options) {
  for (size_t i = 0; i < 2; ++i)
    if (const double beta = options.real("betas", i); !(beta >= 0 && beta < 1))
      throw ValueError("{}: betas[{}] must be at least 0 and below 1, got {}", optimizer, i, beta);
}

}  // namespace lucid::optim
