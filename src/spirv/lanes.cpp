#include <algorithm>

#include "spirv/translator.h"

namespace lucid::spirv {

using loop::Code;
using loop::kLanes;
using spv::Op;

namespace {

/// Two sets of slots alternate, so that one barrier per exchange suffices.
constexpr int kSlotSets = 2;
/// Groups of memory accesses for the slots. The groups of buffers are small numbers.
constexpr uint32_t kSlotGroup = ~uint32_t{0} - 2 * kSlotSets;

uint32_t slot_group(Kind kind, int set) { return kSlotGroup + static_cast<uint32_t>(set) * 2 + (kind == Kind::kU64); }

}  // namespace

bool moves_between_lanes(Code code) {
  return code == Code::kRotate || code == Code::kExtract || code == Code::kAny || code == Code::kScatter;
}

void Translator::barrier(bool everywhere) {
  using Semantics = spv::MemorySemanticsMask;
  const Value scope = u32(static_cast<uint32_t>(spv::Scope::Workgroup));
  auto semantics =
      Semantics::AcquireRelease | Semantics::WorkgroupMemory | Semantics::MakeAvailable | Semantics::MakeVisible;
  if (everywhere) semantics = semantics | Semantics::UniformMemory;
  module_.effect(Op::OpControlBarrier, {scope.id, scope.id, u32(static_cast<uint32_t>(semantics)).id});
  pending_.clear();
}

void Translator::order(const PendingAccess& access) {
  const bool conflicts = std::any_of(pending_.begin(), pending_.end(), [&](const PendingAccess& other) {
    if (other.group != access.group || !(other.is_write || access.is_write)) return false;
    return access.pattern == 0 || other.pattern != access.pattern;
  });
  if (conflicts) barrier();
  pending_.insert(access);
}

void Translator::order(loop::Id id, bool is_write) {
  if (accesses_[id].group != 0) order({accesses_[id].group, accesses_[id].pattern, is_write});
}

void Translator::add_accesses(uint32_t block, std::set<PendingAccess>* accesses) const {
  for (loop::Id id : kernel_.blocks[block].instructions) {
    const Instruction& current = kernel_.instructions[id];
    for (uint32_t inner : current.blocks) add_accesses(inner, accesses);
    const bool is_write = current.code == Code::kStore || current.code == Code::kScatter;
    if (accesses_[id].group != 0) accesses->insert({accesses_[id].group, accesses_[id].pattern, is_write});
    if (!moves_between_lanes(current.code) || shuffles_) continue;
    for (Kind kind : {Kind::kU32, Kind::kU64}) {
      for (int set = 0; set < kSlotSets; ++set) accesses->insert({slot_group(kind, set), 0, /*is_write=*/false});
    }
  }
}

Value Translator::rotate(Value value, int64_t distance) {
  return from_lane(value, (lane_ + static_cast<uint64_t>(distance)) & (kLanes - 1));
}

Value Translator::from_lane(Value value, Value lane) {
  const Value bits = widened_bits(value);
  return from_widened_bits(shuffles_ ? shuffle(bits, lane) : load_slot(share(bits), lane), value.kind);
}

Value Translator::any(Value mask) {
  const Value zero = u32(0);
  if (shuffles_) {
    module_.require(spv::Capability::GroupNonUniformBallot);
    const Id vector = module_.type(Op::OpTypeVector, {module_.type(Kind::kU32), 4});
    const Value scope = u32(static_cast<uint32_t>(spv::Scope::Subgroup));
    const Id ballot = module_.op(Op::OpGroupNonUniformBallot, vector, {scope.id, mask.id});
    const Id word =
        module_.op(Op::OpVectorExtractDynamic, module_.type(Kind::kU32), {ballot, (subgroup_lane_ >> 5).id});
    const Value bits = Value{&module_, word, Kind::kU32} >> (subgroup_lane_ & kLanes);
    return (bits & ((1u << kLanes) - 1)) != zero;
  }
  const Slots slots = share(widened_bits(mask));
  Value all = load_slot(slots, zero);
  for (uint32_t lane = 1; lane < kLanes; ++lane) all = all | load_slot(slots, u32(lane));
  return all != zero;
}

Value Translator::widened_bits(Value value) {
  if (value.kind == Kind::kBool) return to_integer(value, Kind::kU32);
  return width_of(value.kind) < 32 ? resize(value, Kind::kU32) : bits_of(value);
}

Value Translator::from_widened_bits(Value bits, Kind kind) {
  if (kind == Kind::kBool) return bits != 0;
  return width_of(kind) < 32 ? resize(bits, kind) : bitcast(bits, kind);
}

Value Translator::shuffle(Value bits, Value lane) {
  const Value source = (subgroup_lane_ & ~uint64_t{kLanes - 1}) | lane;
  const Value scope = u32(static_cast<uint32_t>(spv::Scope::Subgroup));
  const Id result = module_.op(Op::OpGroupNonUniformShuffle, module_.type(bits.kind), {scope.id, bits.id, source.id});
  return {&module_, result, bits.kind};
}

Translator::Slots Translator::share(Value bits) {
  last_slots_ = (last_slots_ + 1) % kSlotSets;
  Slots& slots = slots_[{bits.kind, last_slots_}];
  if (slots.variable == 0) {
    const Id array = module_.array(module_.type(bits.kind), kLanes);
    slots = {module_.variable(spv::StorageClass::Workgroup, array), slot_group(bits.kind, last_slots_), bits.kind};
  }
  order({slots.group, 0, /*is_write=*/true});
  const Id pointer_type = module_.pointer(spv::StorageClass::Workgroup, module_.type(bits.kind));
  store_to({module_.op(Op::OpAccessChain, pointer_type, {slots.variable, lane_.id}), kNonPrivate}, bits);
  return slots;
}

Value Translator::load_slot(const Slots& slots, Value lane) {
  order({slots.group, 0, /*is_write=*/false});
  const Id pointer_type = module_.pointer(spv::StorageClass::Workgroup, module_.type(slots.kind));
  return load_from({module_.op(Op::OpAccessChain, pointer_type, {slots.variable, lane.id}), kNonPrivate}, slots.kind);
}

}  // namespace lucid::spirv
