#include <algorithm>

#include "base/error.h"
#include "loop/codes.h"
#include "loop/lane.h"
#include "spirv/translator.h"

namespace lucid::spirv {

using loop::Buffer;
using loop::Code;
using loop::kLanes;
using spv::Op;

namespace {

/// Clusters of a workgroup that needs no barriers.
constexpr uint32_t kClusters = 4;
/// Shared memory for the exchange of values: two sets of slots of 4 and of 8 bytes.
constexpr size_t kSlotBytes = size_t{2} * kLanes * (4 + 8);
/// Alignment of scratch buffers in global memory.
constexpr size_t kScratchAlignment = 16;
constexpr uint32_t kPushConstants = sizeof(PushConstants) / sizeof(uint64_t);

Value smaller(Value x, Value y) { return select(signed_less(x, y), x, y); }

}  // namespace

Kind kind_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
      return Kind::kBool;
    case Dtype::kF32:
      return Kind::kF32;
    case Dtype::kF64:
      return Kind::kF64;
    default:
      return memory_kind_of(dtype);
  }
}

Kind memory_kind_of(Dtype dtype) {
  if (dtype == Dtype::kF32 || dtype == Dtype::kF64) return kind_of(dtype);
  switch (size_of(dtype)) {
    case 1:
      return Kind::kU8;
    case 2:
      return Kind::kU16;
    case 4:
      return Kind::kU32;
    default:
      return Kind::kU64;
  }
}

Shader translate(const loop::Kernel& kernel, const Target& target) { return Translator(kernel, target).run(); }

Translator::Translator(const loop::Kernel& kernel, const Target& target)
    : kernel_(kernel),
      target_(target),
      accesses_(lane_accesses(kernel)),
      values_(kernel.instructions.size()),
      constant_(kernel.instructions.size()),
      loop_results_(kernel.instructions.size()) {}

Shader Translator::run() {
  for (auto capability :
       {spv::Capability::Shader, spv::Capability::PhysicalStorageBufferAddresses, spv::Capability::VulkanMemoryModel}) {
    module_.require(capability);
  }
  module_.label(module_.new_id());
  plan_exchange();
  declare_buffers();
  load_arguments();
  // A kernel of one item need not look at its range, so clusters without items must skip it.
  where(signed_less(begin_, end_), [&] { block(0); });
  module_.effect(Op::OpReturn, {});
  declare_float_modes();
  shader_.words = module_.finish();
  return std::move(shader_);
}

// Barriers are for whole workgroups, and only the invocations of a cluster take the same branches. A cluster that needs
// barriers is therefore a workgroup of its own. The clusters of a group are a workgroup too. They take the same
// branches to their barriers and exchange values by shared buffers only.
void Translator::plan_exchange() {
  if (kernel_.group != 1) {
    offsets_.resize(kernel_.buffers.size());
    shader_.clusters = shader_.group = static_cast<uint32_t>(kernel_.group);
    module_.execution_mode(spv::ExecutionMode::LocalSize, {kLanes * shader_.clusters, 1, 1});
    return;
  }
  bool by_memory = std::any_of(accesses_.begin(), accesses_.end(), [](const LaneAccess& x) { return x.group != 0; });
  bool by_lanes = false;
  for (const Instruction& current : kernel_.instructions) by_lanes |= moves_between_lanes(current.code);
  size_t scratch = 0;
  for (const Buffer& buffer : kernel_.buffers) {
    offsets_.push_back(scratch);
    if (buffer.kind != Buffer::Kind::kScratch) continue;
    const size_t bytes = static_cast<size_t>(buffer.count) * size_of(buffer.dtype);
    scratch += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  }
  const bool in_shared_memory = scratch != 0 && scratch + kSlotBytes <= target_.shared_bytes;
  if (!in_shared_memory) shader_.scratch_bytes = scratch;
  by_memory |= in_shared_memory;
  // A workgroup of one cluster is a full subgroup only if these have sixteen invocations.
  shuffles_ = by_lanes && target_.subgroup_size >= kLanes && (!by_memory || target_.subgroup_size == kLanes);
  const bool alone = by_memory || (by_lanes && !shuffles_);
  shader_.clusters = alone ? 1 : std::max<uint32_t>(kClusters, target_.subgroup_size / kLanes);
  module_.execution_mode(spv::ExecutionMode::LocalSize, {kLanes * shader_.clusters, 1, 1});
}

void Translator::declare_buffers() {
  for (const Buffer& buffer : kernel_.buffers) {
    const Kind kind = memory_kind_of(buffer.dtype);
    Id variable = 0;
    if (buffer.kind == Buffer::Kind::kTable) {
      Words elements;
      for (uint64_t bits : buffer.table) elements.push_back(module_.constant(kind, bits));
      const Id array = module_.array(module_.type(kind), static_cast<uint32_t>(elements.size()));
      variable = module_.variable(spv::StorageClass::Private, array, module_.composite(array, elements));
    } else if (buffer.kind == Buffer::Kind::kShared ||
               (buffer.kind == Buffer::Kind::kScratch && shader_.scratch_bytes == 0)) {
      const Id array = module_.array(module_.type(kind), static_cast<uint32_t>(buffer.count));
      variable = module_.variable(spv::StorageClass::Workgroup, array);
    }
    variables_.push_back(variable);
  }
}

void Translator::load_arguments() {
  const Id u32_type = module_.type(Kind::kU32);
  const Id triple = module_.type(Op::OpTypeVector, {u32_type, 3});
  const auto input = [&](spv::BuiltIn builtin) {
    return Value{&module_, module_.input(builtin, u32_type), Kind::kU32};
  };
  Value local;
  if (shuffles_) {
    module_.require(spv::Capability::GroupNonUniform);
    module_.require(spv::Capability::GroupNonUniformShuffle);
    // Which invocations form a subgroup is up to the gpu; these numbers say it.
    subgroup_lane_ = input(spv::BuiltIn::SubgroupLocalInvocationId);
    local = input(spv::BuiltIn::SubgroupId) * target_.subgroup_size + subgroup_lane_;
  } else {
    local = input(spv::BuiltIn::LocalInvocationIndex);
  }
  lane_ = local & (kLanes - 1);

  const Id group = module_.input(spv::BuiltIn::WorkgroupId, triple);
  const Id groups = module_.input(spv::BuiltIn::NumWorkgroups, triple);
  const auto part = [&](Id vector, uint32_t index) {
    return resize({&module_, module_.op(Op::OpCompositeExtract, u32_type, {vector, index}), Kind::kU32}, Kind::kU64);
  };
  const Value number = part(group, 0) + part(group, 1) * part(groups, 0);
  const Value cluster = resize(local >> 4, Kind::kU64);
  // A workgroup is a group, or consists of groups of one cluster.
  group_ = kernel_.group == 1 ? number * shader_.clusters + cluster : number;
  member_ = cluster;

  const Id u64_type = module_.type(Kind::kU64);
  const Id block = module_.type(Op::OpTypeStruct, {u64_type, u64_type, u64_type, u64_type});
  module_.decorate(block, spv::Decoration::Block);
  for (uint32_t i = 0; i < kPushConstants; ++i)
    module_.decorate_member(block, i, spv::Decoration::Offset, {static_cast<uint32_t>(sizeof(uint64_t)) * i});
  const Id pushed = module_.variable(spv::StorageClass::PushConstant, block);
  const Value arguments = load_push_constant(pushed, 0);
  const Value items = load_push_constant(pushed, 1);
  const Value grain = load_push_constant(pushed, 2);
  if (target_.ends_loops_early) fault_ = load_push_constant(pushed, 3);
  begin_ = smaller(group_ * grain, items);
  end_ = smaller(begin_ + grain, items);
  unknown_zero_ = begin_ >> 63;

  uint64_t index = 0;
  addresses_.resize(kernel_.buffers.size());
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (kernel_.buffers[i].kind == Buffer::Kind::kArgument) addresses_[i] = argument_word(arguments, index++);
  }
  for (int64_t i = 0; i < kernel_.param_count; ++i) params_.push_back(argument_word(arguments, index++));
  if (shader_.scratch_bytes == 0) return;
  const Value scratch = argument_word(arguments, index) + group_ * shader_.scratch_bytes;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (kernel_.buffers[i].kind == Buffer::Kind::kScratch) addresses_[i] = scratch + offsets_[i];
  }
}

Value Translator::argument_word(Value arguments, uint64_t index) {
  const Id type = module_.pointer(spv::StorageClass::PhysicalStorageBuffer, module_.type(Kind::kU64));
  const Value address = arguments + sizeof(uint64_t) * index;
  const Id pointer = module_.op(Op::OpConvertUToPtr, type, {address.id});
  return load_from({pointer, static_cast<uint32_t>(spv::MemoryAccessMask::Aligned), sizeof(uint64_t)}, Kind::kU64);
}

Value Translator::load_push_constant(Id variable, uint32_t index) {
  const Id type = module_.pointer(spv::StorageClass::PushConstant, module_.type(Kind::kU64));
  const Id pointer = module_.op(Op::OpAccessChain, type, {variable, u32(index).id});
  return load_from({pointer}, Kind::kU64);
}

// Only for the widths in use: a mode needs a gpu that supports the width.
void Translator::declare_float_modes() {
  const bool supported[] = {target_.float_controls32, target_.float_controls64};
  const Kind kinds[] = {Kind::kF32, Kind::kF64};
  for (int i = 0; i < 2; ++i) {
    if (!supported[i] || !module_.uses(kinds[i])) continue;
    module_.require(spv::Capability::RoundingModeRTE);
    module_.require(spv::Capability::SignedZeroInfNanPreserve);
    module_.execution_mode(spv::ExecutionMode::RoundingModeRTE, {width_of(kinds[i])});
    module_.execution_mode(spv::ExecutionMode::SignedZeroInfNanPreserve, {width_of(kinds[i])});
  }
}

void Translator::block(uint32_t index) {
  for (loop::Id id : kernel_.blocks[index].instructions) {
    const Instruction& current = kernel_.instructions[id];
    if (current.code == Code::kFor) {
      for_loop(current, id);
    } else {
      values_[id] = instruction(current, id);
    }
  }
}

Value Translator::instruction(const Instruction& current, loop::Id id) {
  const Dtype dtype = current.type.element;
  switch (current.code) {
    case Code::kConst:
      return constant(module_, kind_of(dtype), loop::constant_bits(current));
    case Code::kParam:
      return params_[static_cast<size_t>(current.integer)];
    case Code::kBegin:
      return begin_;
    case Code::kEnd:
      return end_;
    case Code::kMember:
      return member_;
    case Code::kIota:
      return convert(lane_, Dtype::kI32, dtype);
    case Code::kSelect:
      return select(operand(current, 0), hidden_zero(current, 1), hidden_zero(current, 2));
    case Code::kConvert:
    case Code::kBitcast: {
      const Value x = operand(current, 0);
      const Value result =
          current.code == Code::kConvert ? convert(x, operand_dtype(current, 0), dtype) : bitcast(x, kind_of(dtype));
      return is_float_of_integer(current) ? hidden(result) : result;
    }
    case Code::kSplat:
      return operand(current, 0);
    case Code::kExtract:
      return from_lane(operand(current, 0), u32(static_cast<uint32_t>(current.integer)));
    case Code::kRotate:
      return rotate(operand(current, 0), current.integer);
    case Code::kAny:
      return any(operand(current, 0));
    case Code::kLoad:
    case Code::kLoadAlternate:
    case Code::kLoadTwice:
    case Code::kGather:
      return load(current, id);
    case Code::kStore:
    case Code::kScatter:
      store(current, id);
      return {};
    case Code::kPrefetch:
      return {};
    case Code::kResult:
      return loop_results_[current.operands[0]][static_cast<size_t>(current.integer)];
    case Code::kIf:
      if_then(current);
      return {};
    case Code::kBarrier:
      barrier(/*everywhere=*/false);
      return {};
    case Code::kFor:
    case Code::kCall:
    case Code::kArgument:
      throw InternalError("spirv: kernel {}: code {} cannot be translated as a value", kernel_.name,
                          static_cast<int>(current.code));
    default:
      return arithmetic(current);
  }
}

bool Translator::is_constant(loop::Id id) {
  if (constant_[id]) return *constant_[id];
  const Instruction& current = kernel_.instructions[id];
  const loop::Family family = loop::info_of(current.code).family;
  const bool from_table =
      family == loop::Family::kMemory && kernel_.buffers[current.buffer].kind == Buffer::Kind::kTable;
  const bool is_pure = family != loop::Family::kMemory && family != loop::Family::kControl;
  if (family == loop::Family::kLeaf) {
    constant_[id] = current.code == Code::kConst;
  } else if (is_float_of_integer(current)) {
    constant_[id] = false;  // hidden where it is defined
  } else if (current.code == Code::kResult) {
    const loop::Block& body = kernel_.blocks[kernel_.instructions[current.operands[0]].blocks[0]];
    constant_[id] = is_constant(body.arguments[static_cast<size_t>(current.integer) + 1]);
  } else {
    constant_[id] = (is_pure || from_table) && std::all_of(current.operands.begin(), current.operands.end(),
                                                           [&](loop::Id operand) { return is_constant(operand); });
  }
  return *constant_[id];
}

Value Translator::hidden_zero(const Instruction& current, size_t index) {
  const Value value = operand(current, index);
  const Dtype dtype = operand_dtype(current, index);
  if (!is_float(dtype) || !is_constant(current.operands[index])) return value;
  const Instruction* definition = &kernel_.instructions[current.operands[index]];
  while (definition->code == Code::kSplat) definition = &kernel_.instructions[definition->operands[0]];
  if (definition->code == Code::kConst) {
    const uint64_t sign = uint64_t{1} << (8 * size_of(dtype) - 1);
    if ((loop::constant_bits(*definition) & ~sign) != 0) return value;
  }
  return hidden(value);
}

Value Translator::hidden(Value value) {
  return bitcast(bits_of(value) ^ resize(unknown_zero_, bits_kind(value.kind)), value.kind);
}

bool Translator::is_float_of_integer(const Instruction& current) const {
  return (current.code == Code::kConvert || current.code == Code::kBitcast) && is_float(current.type.element) &&
         !is_float(operand_dtype(current, 0));
}

void Translator::for_loop(const Instruction& current, loop::Id id) {
  const loop::Block& body = kernel_.blocks[current.blocks[0]];
  // Drivers unroll loops, and may then know the values of the first iteration.
  std::vector<Value> initial;
  for (size_t i = 0; i < body.yields.size(); ++i) initial.push_back(hidden_zero(current, i + 2));
  const Id before = module_.block();
  const Id head = module_.new_id(), test = module_.new_id(), inside = module_.new_id(), next = module_.new_id(),
           after = module_.new_id();
  // What the end of an iteration leaves pending is pending when the next one starts.
  add_accesses(current.blocks[0], &pending_);
  const std::set<PendingAccess> pending = pending_;

  module_.effect(Op::OpBranch, {head});
  module_.label(head);
  for (loop::Id argument : body.arguments) {
    const Kind kind = kind_of(kernel_.instructions[argument].type.element);
    values_[argument] = {&module_, module_.phi(module_.type(kind)), kind};
  }
  // They may know values of any iteration that are computed from constants only.
  for (loop::Id argument : body.arguments) constant_[argument] = false;
  for (size_t i = 0; i < body.yields.size(); ++i) {
    const loop::Id argument = body.arguments[i + 1], yielded = body.yields[i];
    constant_[argument] = is_constant(current.operands[i + 2]) && (yielded == argument || is_constant(yielded));
  }
  const Value counter = values_[body.arguments[0]];
  for (size_t i = 1; i < body.arguments.size(); ++i) loop_results_[id].push_back(values_[body.arguments[i]]);
  module_.effect(Op::OpLoopMerge, {after, next, 0});
  module_.effect(Op::OpBranch, {test});
  module_.label(test);
  module_.effect(Op::OpBranchConditional, {signed_less(counter, operand(current, 1)).id, inside, after});
  module_.label(inside);
  block(current.blocks[0]);
  module_.effect(Op::OpBranch, {next});
  module_.label(next);
  const Value following = counter + static_cast<uint64_t>(current.integer);
  module_.effect(Op::OpBranch, {head});
  module_.label(after);

  module_.complete_phi(counter.id, operand(current, 0).id, before, following.id, next);
  for (size_t i = 0; i < body.yields.size(); ++i) {
    const Value argument = values_[body.arguments[i + 1]];
    module_.complete_phi(argument.id, initial[i].id, before, values_[body.yields[i]].id, next);
  }
  pending_.insert(pending.begin(), pending.end());
  if (target_.ends_loops_early) report_early_end(counter, operand(current, 1));
}

void Translator::report_early_end(Value counter, Value end) {
  // The compiler must not conclude that the loop has reached its end.
  const Value reached = counter ^ unknown_zero_;
  where(signed_less(reached, end), [&] {
    const Id type = module_.pointer(spv::StorageClass::PhysicalStorageBuffer, module_.type(Kind::kU64));
    const Id pointer = module_.op(Op::OpConvertUToPtr, type, {fault_.id});
    store_to({pointer, static_cast<uint32_t>(spv::MemoryAccessMask::Aligned), sizeof(uint64_t)},
             constant_like(counter, 1));
  });
}

void Translator::if_then(const Instruction& current) {
  const bool has_else = current.blocks.size() > 1;
  const Id then = module_.new_id(), otherwise = module_.new_id(), join = has_else ? module_.new_id() : otherwise;
  const std::set<PendingAccess> before = pending_;
  module_.effect(Op::OpSelectionMerge, {join, 0});
  module_.effect(Op::OpBranchConditional, {operand(current, 0).id, then, otherwise});
  module_.label(then);
  block(current.blocks[0]);
  module_.effect(Op::OpBranch, {join});
  std::set<PendingAccess> after = before;
  if (has_else) {
    after = pending_;
    pending_ = before;
    module_.label(otherwise);
    block(current.blocks[1]);
    module_.effect(Op::OpBranch, {join});
  }
  pending_.insert(after.begin(), after.end());
  module_.label(join);
}

void Translator::where(Value condition, const std::function<void()>& body) {
  if (!condition) return body();
  const Id then = module_.new_id(), join = module_.new_id();
  module_.effect(Op::OpSelectionMerge, {join, 0});
  module_.effect(Op::OpBranchConditional, {condition.id, then, join});
  module_.label(then);
  body();
  module_.effect(Op::OpBranch, {join});
  module_.label(join);
}

}  // namespace lucid::spirv
