#include "schedule/repeated_groups.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace lucid {

/// Writes a signature.
class RepeatedGroups::Signer {
 public:
  Signer(const IRGraph& graph, const Schedule& schedule) : graph_(graph), schedule_(schedule) {}

  void add(const IRNode& node) {
    add_word(node.op->id);
    add_word(static_cast<int64_t>(node.inputs.size()));
    for (const IROperand& input : node.inputs) {
      add_word(!input.number ? -1 : input.number->is_size() ? -2 : static_cast<int64_t>(input.number->kind()));
      if (input.number && input.number->is_size())
        (*this)(input.number->size());
      else if (input.number)
        add_word(static_cast<int64_t>(input.number->bits()));
      else
        add_value(input.id);
    }
    for (const Attribute& attribute : node.attributes) {
      add_word(static_cast<int64_t>(attribute.index()));
      std::visit(*this, attribute);
    }
    for (const ValueId id : node.outputs) add_value(id);
  }
  void add_word(int64_t word) { text_.append(reinterpret_cast<const char*>(&word), sizeof word); }

  void operator()(std::monostate) {}
  void operator()(bool value) { add_word(value); }
  void operator()(SymInt value) { add_word(std::bit_cast<int64_t>(value)); }
  void operator()(double value) { add_word(static_cast<int64_t>(Scalar(value).bits())); }
  void operator()(Dtype value) { add_word(static_cast<int64_t>(value)); }
  void operator()(const Dims& value) {
    add_word(value.rank());
    for (const SymInt dim : value) (*this)(dim);
  }
  void operator()(const std::string& value) {
    add_word(static_cast<int64_t>(value.size()));
    text_ += value;
  }

  Signature take() { return {std::move(text_), std::move(storages_)}; }

 private:
  /// The number of a value or storage, counted from its first occurrence.
  static int64_t number_of(ValueId id, std::vector<ValueId>& known) {
    const auto found = std::ranges::find(known, id);
    const auto number = found - known.begin();
    if (found == known.end()) known.push_back(id);
    return number;
  }

  void add_value(ValueId id) {
    if (id < 0) return add_word(-1);
    const size_t before = values_.size();
    add_word(number_of(id, values_));
    if (values_.size() == before) return;
    const TensorType& type = graph_.type(id);
    const Layout& layout = schedule_.layouts.at(id);
    (*this)(type.dtype);
    (*this)(type.shape);
    add_word(number_of(layout.storage, storages_));
    (*this)(layout.geometry.sizes);
    (*this)(layout.geometry.strides);
    (*this)(layout.geometry.offset);
  }

  const IRGraph& graph_;
  const Schedule& schedule_;
  std::string text_;
  std::vector<ValueId> values_;
  std::vector<ValueId> storages_;
};

RepeatedGroups::Signature RepeatedGroups::signature_of(const Group& group) const {
  Signer signer(graph_, schedule_);
  for (const size_t node : group.nodes) {
    signer.add_word(std::ranges::find(group.roots, node) != group.roots.end());
    signer.add(graph_.nodes[node]);
  }
  return signer.take();
}

void RepeatedGroups::copy(const Written& source, const std::vector<ValueId>& storages) {
  const auto shift = static_cast<int32_t>(schedule_.scratch_bytes.size() - source.first_scratch);
  for (size_t i = source.first_scratch; i < source.last_scratch; ++i)
    schedule_.scratch_bytes.push_back(schedule_.scratch_bytes[i]);
  const auto counterpart = [&](int32_t id) {
    const auto found = std::ranges::find(source.storages, id);
    LUCID_CHECK(found != source.storages.end(), "a step uses %{}, which is not part of its group", id);
    return storages[static_cast<size_t>(found - source.storages.begin())];
  };
  for (size_t i = source.first_step; i < source.last_step; ++i) {
    KernelStep step = schedule_.steps[i];
    for (BufferUse& use : step.buffers) {
      if (use.kind == BufferUse::Kind::kValue) use.index = counterpart(use.index);
      if (use.kind == BufferUse::Kind::kScratch) use.index += shift;
    }
    if (step.packs) step.packs = counterpart(*step.packs);
    schedule_.steps.push_back(std::move(step));
  }
}

}  // namespace lucid
