#include "tensor/plan_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/blocking.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "base/thread_object.h"
#include "compiler/compile_plan.h"
#include "ir/evaluate.h"
#include "ir/graph_emitter.h"
#include "passes/may_raise.h"

namespace lucid {
namespace {

enum class OperandTag : int64_t { kAbsent, kNumber, kTensor };

struct AttributeWriter {
  PlanKey& key;
  void operator()(const std::monostate&) const {}
  void operator()(bool value) const { key.push_back(value); }
  void operator()(SymInt value) const { key.push_back(value.unguarded()); }
  void operator()(double value) const { key.push_back(std::bit_cast<int64_t>(value)); }
  void operator()(Dtype value) const { key.push_back(static_cast<int64_t>(value)); }
  void operator()(const Dims& value) const {
    key.push_back(value.rank());
    for (SymInt n : value) key.push_back(n.unguarded());
  }
  void operator()(const std::string& value) const {
    key.push_back(static_cast<int64_t>(value.size()));
    for (char c : value) key.push_back(c);
  }
};

void append_tensor(PlanKey& key, const TensorImpl& tensor) {
  const DimsView sizes = tensor.sizes();
  const SymInt* stride = tensor.strides().data();
  int64_t* word = key.extend(1 + 2 * sizes.size());
  *word++ = static_cast<int64_t>(OperandTag::kTensor) | static_cast<int64_t>(tensor.dtype()) << 8 |
            static_cast<int64_t>(sizes.size()) << 16 | static_cast<int64_t>(tensor.device().number()) << 32;
  for (const SymInt size : sizes) {
    *word++ = size.unguarded();
    *word++ = stride++->unguarded();
  }
}

// Inlined into the path of every eager op.
[[gnu::always_inline]] inline void build_key(PlanKey& key, const Call& call,
                                             std::span<TensorImpl* const> destinations) {
  key.push_back(call.op().id | static_cast<int64_t>(default_float()) << 16 |
                static_cast<int64_t>(destinations.size()) << 24 | static_cast<int64_t>(call.count()) << 32 |
                static_cast<int64_t>(current_device().number()) << 48);
  for (const Operand& operand : call.operands()) {
    if (operand.is_value()) {
      append_tensor(key, *tensor_of(operand));
    } else if (operand.is_scalar()) {
      key.push_back(static_cast<int64_t>(OperandTag::kNumber) | static_cast<int64_t>(operand.scalar().kind()) << 8);
      if (!passes_numbers(call.op())) key.push_back(static_cast<int64_t>(operand.scalar().bits()));
    } else {
      key.push_back(static_cast<int64_t>(OperandTag::kAbsent));
    }
  }
  for (const Attribute& attribute : call.attributes()) {
    key.push_back(static_cast<int64_t>(attribute.index()));
    std::visit(AttributeWriter{key}, attribute);
  }
  for (const TensorImpl* destination : destinations) append_tensor(key, *destination);
}

[[gnu::noinline]] PlanKey key_of(const Call& call, std::span<TensorImpl* const> destinations) {
  PlanKey key;
  build_key(key, call, destinations);
  return key;
}

bool matches(const EagerPlan& plan, uint64_t hash, const PlanKey& key) {
  return plan.hash == hash && plan.key.size() == key.size() && std::equal(key.begin(), key.end(), plan.key.begin());
}

/// The graph of one call.
struct OneOpGraph {
  explicit OneOpGraph(const Call& call) {
    // Check the call while its operands are still numbers, so that messages show them as numbers.
    const std::vector<TensorType> types = infer_types(call);
    graph.name = call.name();
    Values held;
    std::vector<Operand> operands;
    for (size_t i = 0; i < call.count(); ++i) {
      const Operand& operand = call.operand(i);
      number_dtypes.push_back(Dtype::kF64);
      if (operand.is_value()) {
        const TensorImpl& tensor = *tensor_of(operand);
        const ValueId id = graph.add_input(tensor.type());
        inputs[id] = {tensor.sizes(), tensor.strides(), 0};
        held.push_back(emitter.value(id));
      } else if (operand.is_scalar() && passes_numbers(call.op())) {
        number_dtypes.back() = number_dtype(call, i);
        const ValueId id = graph.add_input({number_dtypes.back(), {}});
        inputs[id] = {};
        held.push_back(emitter.value(id));
      } else {
        held.emplace_back();
      }
    }
    for (size_t i = 0; i < call.count(); ++i) operands.push_back(held[i] ? Operand(held[i]) : call.operand(i));
    results = emitter.emit(call.op(), operands, call.attributes());
    // A number that became a tensor may have changed the dtype of the result.
    for (size_t i = 0; i < results.size(); ++i) results[i] = emitter.cast(results[i], types[i].dtype);
  }
  OneOpGraph(const OneOpGraph&) = delete;
  OneOpGraph& operator=(const OneOpGraph&) = delete;

  void set_outputs() {
    for (const Value& result : results) graph.output_ids.push_back(GraphEmitter::id_of(result));
  }

  IRGraph graph;
  GraphEmitter emitter{graph};
  std::map<ValueId, Geometry> inputs;
  std::vector<Dtype> number_dtypes;
  Values results;
};

/// A plan serves all calls with these sizes, whether they are traced or not.
void forget_traces(OneOpGraph& source, std::vector<Geometry>& destinations) {
  if (std::ranges::none_of(source.graph.values, [](const auto& value) { return is_traced(value.second.type.shape); }))
    return;
  const SizeReplacer recorded;
  source.graph = recorded(source.graph);
  for (auto& [id, geometry] : source.inputs) geometry = recorded(geometry);
  for (Geometry& geometry : destinations) geometry = recorded(geometry);
}

/// Whether the results can be written to the destinations.
void check_destinations(const Call& call, const OneOpGraph& source, std::span<TensorImpl* const> destinations) {
  LUCID_CHECK(source.results.size() == destinations.size(), "{} has {} results for {} destinations", call.name(),
              source.results.size(), destinations.size());
  for (size_t i = 0; i < destinations.size(); ++i) {
    const TensorType written = destinations[i]->type(), result = source.results[i].type();
    if (written.device != result.device)
      throw ValueError("{}: the result is on {} and cannot be written to a tensor on {}; move one of them with to()",
                       call.name(), to_string(result.device), to_string(written.device));
    if (written.shape != result.shape)
      throw RuntimeError("{}: a result has shape {}, which does not fit the written tensor {}", call.name(),
                         to_string(DimsView(result.shape)), to_string(written));
  }
}

Scalar plain_number(const Scalar& number) {
  return number.is_size() ? Scalar(number.size().unguarded()) : number.with_trace(0);
}

/// Says which calls the plan serves.
void describe_calls(const Call& call, EagerPlan& plan) {
  static std::atomic<uint64_t> next_serial = 1;
  plan.serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  plan.op = &call.op();
  const SizeReplacer plain;
  plan.attributes = plain(call.attributes());
  plan.may_fail = may_raise(call);
  for (const Operand& operand : call.operands()) {
    EagerPlan::Form& form = plan.operands.emplace_back();
    if (!operand.present()) continue;
    form.dtype = operand.dtype();
    form.kind = operand.is_value() ? EagerPlan::Form::Kind::kTensor : EagerPlan::Form::Kind::kNumber;
    if (operand.is_value())
      form.geometry = plain(Geometry{tensor_of(operand)->sizes(), tensor_of(operand)->strides(), 0});
    else
      form.number = plain_number(operand.scalar());
  }
}

Ref<EagerPlan> build_plan(const Call& call, std::span<TensorImpl* const> destinations) {
  // The graph copies all that is known of the operands.
  OneOpGraph source(call);
  if (!destinations.empty()) check_destinations(call, source, destinations);
  std::vector<Geometry> geometries;
  for (size_t i = 0; i < destinations.size(); ++i) {
    // An explicit conversion, even between equal dtypes: it has the destination's layout, and nodes are fused into it.
    const Operand result[] = {source.results[i]};
    source.results[i] = source.emitter.emit_one(op_table().at("to"), result, {destinations[i]->dtype()});
    geometries.push_back({destinations[i]->sizes(), destinations[i]->strides(), 0});
  }
  source.set_outputs();
  forget_traces(source, geometries);
  auto entry = make_ref<EagerPlan>();
  entry->number_dtypes = std::move(source.number_dtypes);
  entry->destinations = geometries;
  describe_calls(call, *entry);
  const BlockingScope compiling;
  entry->plan = compile_plan(source.graph, source.inputs, {.destinations = geometries});
  return entry;
}

/// All plans of eager ops, shared by all threads. The oldest plans are evicted first.
class EagerPlanCache {
 public:
  Ref<EagerPlan> find(uint64_t hash, const PlanKey& key) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = plans_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (matches(*it->second, hash, key)) return it->second;
    return nullptr;
  }
  void insert(const Ref<EagerPlan>& plan) {
    std::vector<Ref<EagerPlan>> evicted;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    plans_.emplace(plan->hash, plan);
    order_.push_back(plan->hash);
    size_t spared = 0;
    while (order_.size() > max_plans_) {
      const auto oldest = plans_.find(order_.front());
      order_.pop_front();
      if (oldest->second->use_count() > 1 && spared++ < kMaxSpared) {
        order_.push_back(oldest->first);
        continue;
      }
      evicted.push_back(std::move(oldest->second));
      plans_.erase(oldest);
    }
  }
  void clear() {
    std::unordered_multimap<uint64_t, Ref<EagerPlan>> dropped;
    const std::lock_guard lock(mutex_);
    plans_.swap(dropped);
    order_.clear();
    epoch_.fetch_add(1, std::memory_order_relaxed);
  }
  void set_limit(size_t max_plans) {
    const std::lock_guard lock(mutex_);
    max_plans_ = max_plans;
  }
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

 private:
  /// Eviction skips plans that a thread used recently, but at most this many per insertion.
  static constexpr size_t kMaxSpared = 64;
  size_t max_plans_ = kMaxEagerPlans;
  Mutex& mutex_ = mutex_of(LockRank::kEagerPlanCache);
  std::unordered_multimap<uint64_t, Ref<EagerPlan>> plans_;
  std::deque<uint64_t> order_;
  std::atomic<uint64_t> epoch_{0};
};

EagerPlanCache& eager_plan_cache() {
  static EagerPlanCache& cache = *new EagerPlanCache;  // outlives threads that still run at exit
  return cache;
}

/// The plans that this thread used recently. Looking them up takes no lock.
struct RecentPlans {
  static constexpr size_t kCount = 1024;
  uint64_t epoch = 0;
  std::array<Ref<EagerPlan>, kCount> plans;
};

RecentPlans& make_recent_plans() {
  if (!has_some_memory()) {
    prepare_to_throw();
    throw std::bad_alloc();
  }
  return ThreadObject<RecentPlans>::get();
}

[[gnu::always_inline]] inline RecentPlans& recent_plans() {
  RecentPlans* const recent = ThreadObject<RecentPlans>::find();
  return recent ? *recent : make_recent_plans();
}

}  // namespace

bool passes_numbers(const Op& op) { return op.is_lowered(); }

// A number has the precision that kernels compute in. With 0-d 16-bit tensors it thereby promotes the op to f32, in
// which kernels compute 16-bit floats anyway; the result is rounded to the type of the call.
Dtype number_dtype(const Call& call, size_t i) {
  if (call.op().promote == Promote::kNone) return call.operand(i).scalar().kind();
  return compute_dtype(operand_dtype(call, i));
}

const EagerPlan* find_eager_plan(const Call& call, std::span<TensorImpl* const> destinations) {
  RecentPlans& recent = recent_plans();
  PlanKey key;
  build_key(key, call, destinations);
  const uint64_t hash = hash_span(std::span<const int64_t>(key));
  EagerPlanCache& cache = eager_plan_cache();
  if (recent.epoch != cache.epoch()) {
    recent.plans.fill(nullptr);
    recent.epoch = cache.epoch();
  }
  Ref<EagerPlan>& slot = recent.plans[hash % RecentPlans::kCount];
  if (slot && matches(*slot, hash, key)) [[likely]]
    return slot.get();
  slot = cache.find(hash, key);
  return slot.get();
}

const EagerPlan& eager_plan(const Call& call, std::span<TensorImpl* const> destinations) {
  for (;;) {
    if (const EagerPlan* const plan = find_eager_plan(call, destinations)) return *plan;
    const PlanKey key = key_of(call, destinations);
    Ref<EagerPlan> plan = build_plan(call, destinations);
    // Another thread may have set another default dtype meanwhile.
    if (!std::ranges::equal(key, key_of(call, destinations))) continue;
    plan->hash = hash_span(std::span<const int64_t>(key));
    plan->key.assign(key.begin(), key.end());
    eager_plan_cache().insert(plan);
    Ref<EagerPlan>& slot = recent_plans().plans[plan->hash % RecentPlans::kCount];
    slot = std::move(plan);
    return *slot;
  }
}

std::vector<Geometry> result_geometries(const Call& call) {
  OneOpGraph source(call);
  source.set_outputs();
  return output_geometries(source.graph, source.inputs);
}

void clear_eager_plans() { eager_plan_cache().clear(); }

void set_max_eager_plans(size_t max_plans) { eager_plan_cache().set_limit(max_plans); }

}  // namespace lucid
