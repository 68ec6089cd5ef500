#include "jit/backward_copy.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/out_of_memory.h"
#include "jit/program.h"
#include "jit/recorder.h"
#include "tensor/compute.h"

namespace lucid::jit {
namespace {

using Start = BackwardPart::Start;

/// Whether a node is the accumulator of a leaf without hooks: no other node depends on when it runs.
bool is_quiet_end(const GradNode& node) {
  const auto* end = dynamic_cast<const AccumulateNode*>(&node);
  return end && !end->is_observed() && end->slot()->after_accumulate.empty() && !end->slot()->became_interior;
}

/// Whether only these sums refer to a tensor, and nothing else refers to its memory.
bool is_own(const TensorImpl& tensor, std::span<Value* const> sums) {
  if (tensor.use_count() == 1) return is_exclusive(tensor);
  const auto references = static_cast<uint32_t>(
      std::count_if(sums.begin(), sums.end(), [&](const Value* sum) { return sum->get() == &tensor; }));
  return is_exclusive(tensor, references);
}

bool are_different(std::vector<const Edge*> edges) {
  const auto key_of = [](const Edge* edge) { return std::pair(edge->node.get(), edge->output); };
  std::sort(edges.begin(), edges.end(), [&](const Edge* a, const Edge* b) { return key_of(a) < key_of(b); });
  return std::adjacent_find(edges.begin(), edges.end(), [](const Edge* a, const Edge* b) { return *a == *b; }) ==
         edges.end();
}

/// The number of ops that computed or wrote something.
size_t count_ops(const Trace& trace) {
  return static_cast<size_t>(std::count_if(trace.events->begin(), trace.events->end(), [](const Event& event) {
    return event.kind == Event::Kind::kComputed || event.kind == Event::Kind::kWritten;
  }));
}

}  // namespace

BackwardCopy::BackwardCopy(Ref<BackwardPart> part)
    : part_(std::move(part)), nodes_(part_->structure().members.size()), saved_(part_->structure().values.size()) {}

void BackwardCopy::set_node(uint32_t member, GradNode& node) {
  if (member == 0) first_ = node.order();
  nodes_[member] = &node;
  node.join(Ref<NodeGroup>(this), member);
}

const Edge& BackwardCopy::edge_at(const BackwardPart::Border& border) const {
  return nodes_[border.member]->edges()[border.edge];
}

bool BackwardCopy::run(BackwardPass& pass) {
  if (pass.creates_graph() || eager_observer() || !part_->may_plan()) return false;
  std::optional<Request> request = inspect(pass);
  if (!request) return false;
  while (true) {
    if (const auto entry = part_->find(request->key, request->arguments)) {
      if (!entry->is_finalized() && !part_->waits() && !entry->program->is_compiled()) return false;
      if (!entry->is_finalized())
        entry->finalize();
      else if (entry->reason() == kOutOfMemory)
        part_->forget(*entry);
      else
        return entry->has_plan() && run_plan(pass, *request, *entry);
      continue;
    }
    // If another thread is recording, the nodes run one by one; its plan will serve the next pass.
    const BusyScope recording(part_->recording(), BusyScope::Try());
    if (!recording.owns_flag() || !part_->can_add()) return false;
    if (part_->find(request->key, request->arguments)) continue;
    record(pass, std::move(*request));
    return true;
  }
}

std::optional<BackwardCopy::Request> BackwardCopy::inspect(BackwardPass& pass) const {
  Request request;
  BackwardPart::Key& key = request.key;
  std::vector<Start> starts;
  if (!find_starts(pass, starts)) return std::nullopt;
  key.reach = part_->reach_of(std::move(starts));
  if (!key.reach || !can_run(*key.reach) || !find_sums(pass, request)) return std::nullopt;
  if (pass.settings().inputs) {
    for (uint32_t member : key.reach->members) key.wanted.push_back(pass.needs({Ref<GradNode>(nodes_[member]), 0}));
    for (const BackwardPart::Border& border : key.reach->borders) key.wanted.push_back(pass.needs(edge_at(border)));
  }
  key.default_float = default_float();
  for (uint32_t slot : key.reach->slots) {
    request.saved.push_back(saved_[slot]->tensor());
    // Another pass has released it since can_run() checked: the node raises the error.
    if (!request.saved.back()) return std::nullopt;
  }
  for (const TensorRef& saved : request.saved) request.arguments.push_back(saved.get());
  for (const Value* sum : request.sums) request.arguments.push_back(tensor_of(*sum));
  return request;
}

bool BackwardCopy::find_starts(BackwardPass& pass, std::vector<Start>& starts) const {
  if (pass.settings().inputs)
    for (const Edge& input : *pass.settings().inputs)
      if (input && input.node->group() == this) return false;
  for (const auto& [order, node] : pass.ready()) {
    if (node->group() == this) {
      for (uint32_t output = 0; output < node->outputs().size(); ++output)
        if (pass.find_sum(*node, output)) starts.push_back({node->index_in_group(), output});
    } else if (order > first_ && !is_quiet_end(*node)) {
      // Its contributions must be added between those of the nodes.
      return false;
    }
  }
  std::sort(starts.begin(), starts.end());
  return true;
}

bool BackwardCopy::can_run(const BackwardPart::Reach& reach) const {
  for (uint32_t member : reach.members)
    if (nodes_[member]->is_observed() || nodes_[member]->is_released()) return false;
  std::vector<const Edge*> edges;
  for (const BackwardPart::Border& border : reach.borders) {
    const Edge& edge = edge_at(border);
    if (edge.node->order() > first_ && !is_quiet_end(*edge.node)) return false;
    edges.push_back(&edge);
  }
  // Arguments that were different tensors in the recorded call may be the same tensor in this one.
  return are_different(std::move(edges));
}

bool BackwardCopy::find_sums(BackwardPass& pass, Request& request) const {
  BackwardPart::Key& key = request.key;
  for (const Start& start : key.reach->starts)
    request.sums.push_back(pass.find_sum(*nodes_[start.member], start.output));
  for (size_t i = 0; i < key.reach->borders.size(); ++i) {
    const Edge& edge = edge_at(key.reach->borders[i]);
    Value* const sum = pass.find_sum(*edge.node, edge.output);
    if (!sum) continue;
    key.begun.push_back(static_cast<uint32_t>(i));
    request.sums.push_back(sum);
  }
  for (const Value* sum : request.sums) {
    const TensorImpl& tensor = *tensor_of(*sum);
    key.is_own.push_back(is_own(tensor, request.sums));
    if (key.is_own.back() && !is_dense(tensor.sizes(), tensor.strides())) return false;
  }
  return true;
}

bool BackwardCopy::run_plan(BackwardPass& pass, Request& request, const Entry& entry) const {
  CallResults results;
  // A check in a kernel failed: the nodes raise the error.
  if (!entry.program->run(request.arguments, results)) return false;
  entry.count.fetch_add(1, std::memory_order_relaxed);
  count_backward_run();
  request.saved.clear();
  if (!pass.settings().retain_graph)
    for (uint32_t member : entry.runs) nodes_[member]->release_saved();
  for (size_t i = 0; i < entry.ends.size(); ++i) {
    TensorRef sum = results.take(i);
    if (entry.is_view[i] && !sum->is_view() && sum->use_count() == 1)
      sum->set_view_of(alias_of(*sum), ViewKind::kNoGrad);
    pass.set_sum(edge_at(entry.key.reach->borders[entry.ends[i]]), Value(std::move(sum)));
  }
  pass.drop(*this);
  return true;
}

void BackwardCopy::record(BackwardPass& pass, Request request) const {
  auto entry = std::make_shared<Entry>();
  entry->key = std::move(request.key);
  const BackwardPart::Key& key = entry->key;
  std::vector<TensorRef> arguments;
  for (TensorImpl* argument : request.arguments) {
    arguments.emplace_back(argument);
    entry->strides.push_back(argument->strides());
  }
  Recorder recorder;
  recorder.start();
  // Gradients that the nodes may write to are replaced by copies, so that the plan writes to no memory from outside.
  // The other gradients are kept alive by `arguments`.
  std::unordered_map<const ValueBase*, TensorRef> copies;
  for (size_t i = 0; i < request.sums.size(); ++i) {
    if (!key.is_own[i]) continue;
    Value& sum = *request.sums[i];
    TensorRef& copy = copies[sum.get()];
    if (!copy) copy = copy_of(*tensor_of(sum), tensor_of(sum)->strides());
    sum = Value(copy);
  }
  const size_t copied = copies.size();
  copies.clear();
  std::vector<GradNode*> ran;
  try {
    pass.run_nodes(*this, first_, ran);
  } catch (...) {
    // Without the group, accumulators with a higher order than the failed node would have run before it.
    recorder.stop();
    if (!ran.empty()) pass.run_after(ran.back()->order());
    throw;
  }
  recorder.stop();
  // The nodes have run, even if finishing the recording fails.
  has_memory_for([&] {
    for (const GradNode* node : ran) entry->runs.push_back(node->index_in_group());
    std::vector<TensorRef> results;
    for (size_t i = 0; i < key.reach->borders.size(); ++i) {
      const Edge& edge = edge_at(key.reach->borders[i]);
      const Value* sum = pass.find_sum(*edge.node, edge.output);
      if (!sum) continue;
      entry->ends.push_back(static_cast<uint32_t>(i));
      results.emplace_back(tensor_of(*sum));
      entry->is_view.push_back(results.back()->is_view());
    }
    if (count_ops(recorder.context().trace()) < copied + 2) {
      entry->try_to([] { return "there is nothing to fuse"; });
      if (ran.size() == nodes_.size()) part_->give_up();
    } else {
      entry->try_to([&] {
        std::string obstacle;
        if (!recorder.context().trace().guards.empty()) return std::string("a hook reads values of a tensor");
        auto call = recorder.finish(arguments, results, {}, part_->name() + "_backward", obstacle);
        if (call) entry->program = make_ref<Program>(std::move(*call));
        return obstacle;
      });
      if (entry->program) {
        const std::vector<uint32_t>& slots = key.reach->slots;
        for (size_t i = 0; i < arguments.size(); ++i)
          if (i >= slots.size() || part_->structure().is_computed[slots[i]]) entry->program->set_fresh(i);
        entry->program->compile_later();
      }
    }
    if (entry->reason() != kOutOfMemory) part_->add(std::move(entry));
  });
}

}  // namespace lucid::jit
