#include <bit>

#include "spirv/translator.h"

namespace lucid::spirv {

using loop::Buffer;
using loop::Code;
using loop::kLanes;
using spv::Op;

namespace {

constexpr auto kAligned = static_cast<uint32_t>(spv::MemoryAccessMask::Aligned);
/// An index that no access has.
constexpr uint64_t kNoIndex = uint64_t{1} << 63;

}  // namespace

Value Translator::to_register(Value memory, Dtype dtype) { return is_bool(dtype) ? memory != 0 : memory; }

Value Translator::to_memory(Value value, Dtype dtype) { return is_bool(dtype) ? to_integer(value, Kind::kU8) : value; }

Value Translator::load_from(const Place& place, Kind kind) {
  const Id type = module_.type(kind);
  if (place.alignment == 0) return {&module_, module_.op(Op::OpLoad, type, {place.pointer, place.access}), kind};
  return {&module_, module_.op(Op::OpLoad, type, {place.pointer, place.access, place.alignment}), kind};
}

void Translator::store_to(const Place& place, Value value) {
  if (place.alignment == 0) return module_.effect(Op::OpStore, {place.pointer, value.id, place.access});
  module_.effect(Op::OpStore, {place.pointer, value.id, place.access, place.alignment});
}

Translator::Place Translator::place(uint32_t buffer, Value index, bool ordered) {
  const Kind kind = memory_kind_of(kernel_.buffers[buffer].dtype);
  const Id type = module_.type(kind);
  const auto size = static_cast<uint32_t>(size_of(kernel_.buffers[buffer].dtype));
  const uint32_t shared = ordered ? kNonPrivate : 0;
  if (variables_[buffer] != 0) {
    const bool is_table = kernel_.buffers[buffer].kind == Buffer::Kind::kTable;
    const auto storage = is_table ? spv::StorageClass::Private : spv::StorageClass::Workgroup;
    const Value narrow = resize(index, Kind::kU32);
    return {module_.op(Op::OpAccessChain, module_.pointer(storage, type), {variables_[buffer], narrow.id}), shared};
  }
  if (size == 1) module_.require(spv::Capability::StorageBuffer8BitAccess);
  if (size == 2) module_.require(spv::Capability::StorageBuffer16BitAccess);
  const Value offset = size == 1 ? index : index << static_cast<uint64_t>(std::countr_zero(size));
  const Value address = addresses_[buffer] + offset;
  const Id pointer_type = module_.pointer(spv::StorageClass::PhysicalStorageBuffer, type);
  return {module_.op(Op::OpConvertUToPtr, pointer_type, {address.id}), kAligned | shared, size};
}

bool Translator::is_ordered(const Instruction& current, loop::Id id) const {
  return accesses_[id].group != 0 || kernel_.buffers[current.buffer].kind == Buffer::Kind::kShared;
}

Value Translator::element_index(const Instruction& current, bool vector) {
  const Value index = operand(current, 0);
  if (!vector || current.code == Code::kGather || current.code == Code::kScatter) return index;
  Value offset = lane_;
  if (current.code == Code::kLoadAlternate) offset = lane_ << 1;
  if (current.code == Code::kLoadTwice) offset = lane_ >> 1;
  return index + resize(offset, Kind::kU64);
}

Value Translator::load(const Instruction& current, loop::Id id) {
  const Dtype dtype = current.type.element;
  const Kind kind = memory_kind_of(dtype);
  const Value index = element_index(current, current.type.vector);
  const bool ordered = is_ordered(current, id);
  order(id, /*is_write=*/false);
  if (!current.masked) return to_register(load_from(place(current.buffer, index, ordered), kind), dtype);
  const Value zero = constant(module_, kind, 0);
  const Id before = module_.block();
  Value loaded;
  Id inside = 0;
  where(values_[current.operands.back()], [&] {
    loaded = load_from(place(current.buffer, index, ordered), kind);
    inside = module_.block();
  });
  const Id result = module_.op(Op::OpPhi, module_.type(kind), {loaded.id, inside, zero.id, before});
  return to_register({&module_, result, kind}, dtype);
}

void Translator::store(const Instruction& current, loop::Id id) {
  const loop::Type type = kernel_.instructions[current.operands[1]].type;
  const Value index = element_index(current, type.vector);
  const Value value = to_memory(operand(current, 1), type.element);
  Value mask = current.masked ? values_[current.operands.back()] : Value();
  if (!type.vector) mask = lane_ == 0;
  if (current.code == Code::kScatter) mask = last_of_equal_indices(index, mask);
  order(id, /*is_write=*/true);
  where(mask, [&] { store_to(place(current.buffer, index, is_ordered(current, id)), value); });
}

Value Translator::last_of_equal_indices(Value index, Value mask) {
  // Inactive lanes take an index that no active lane has.
  const Value own = mask ? select(mask, index, u64(kNoIndex)) : index;
  const Slots slots = shuffles_ ? Slots() : share(own);
  Value result = mask;
  for (uint32_t distance = 1; distance < kLanes; ++distance) {
    const Value lane = (lane_ + distance) & (kLanes - 1);
    const Value other = shuffles_ ? shuffle(own, lane) : load_slot(slots, lane);
    const Value is_last = (lane_ >= kLanes - distance) | (other != own);
    result = result ? result & is_last : is_last;
  }
  return result;
}

}  // namespace lucid::spirv
