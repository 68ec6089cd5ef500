#include "spirv/module.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace lucid::spirv {
namespace {

using spv::Op;

// The first version in which addresses and the memory model of Vulkan are not extensions.
constexpr uint32_t kVersion = 0x00010500;
constexpr size_t kMaxWordsOfInstruction = 0xffff;

Words text_words(std::string_view text) {
  Words words(text.size() / 4 + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

void append_all(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

}  // namespace

void Module::append(Words& words, Op op, std::span<const uint32_t> operands) {
  const size_t count = operands.size() + 1;
  LUCID_CHECK(count <= kMaxWordsOfInstruction, "an instruction of {} words", count);
  words.push_back(static_cast<uint32_t>(count) << spv::WordCountShift | static_cast<uint32_t>(op));
  words.insert(words.end(), operands.begin(), operands.end());
}

Id Module::declare_once(Op op, Id type, const Words& operands) {
  Words key{static_cast<uint32_t>(op), type};
  append_all(key, operands);
  const auto [found, is_new] = declared_.try_emplace(std::move(key), 0);
  if (!is_new) return found->second;
  const Id id = found->second = new_id();
  Words words;
  if (type != 0) words.push_back(type);
  words.push_back(id);
  append_all(words, operands);
  append(globals_, op, words);
  return id;
}

Id Module::type(Kind kind) {
  Id& id = types_[static_cast<int>(kind)];
  if (id != 0) return id;
  switch (kind) {
    case Kind::kBool:
      return id = type(Op::OpTypeBool, {});
    case Kind::kU8:
      require(spv::Capability::Int8);
      break;
    case Kind::kU16:
      require(spv::Capability::Int16);
      break;
    case Kind::kU64:
      require(spv::Capability::Int64);
      break;
    case Kind::kF64:
      require(spv::Capability::Float64);
      break;
    case Kind::kU32:
    case Kind::kF32:
      break;
  }
  const uint32_t width = width_of(kind);
  return id = is_real(kind) ? type(Op::OpTypeFloat, {width}) : type(Op::OpTypeInt, {width, 0});
}

Id Module::pointer(spv::StorageClass storage, Id to) {
  return type(Op::OpTypePointer, {static_cast<uint32_t>(storage), to});
}

Id Module::array(Id element, uint32_t count) { return type(Op::OpTypeArray, {element, constant(Kind::kU32, count)}); }

Id Module::constant(Kind kind, uint64_t bits) {
  const Id of = type(kind);
  if (kind == Kind::kBool) return declare_once(bits ? Op::OpConstantTrue : Op::OpConstantFalse, of, {});
  const auto low = static_cast<uint32_t>(bits);
  if (width_of(kind) < 64) return declare_once(Op::OpConstant, of, {low});
  return declare_once(Op::OpConstant, of, {low, static_cast<uint32_t>(bits >> 32)});
}

Id Module::variable(spv::StorageClass storage, Id type, Id initial) {
  const Id id = new_id();
  Words words{pointer(storage, type), id, static_cast<uint32_t>(storage)};
  if (initial != 0) words.push_back(initial);
  append(globals_, Op::OpVariable, words);
  interface_.push_back(id);
  return id;
}

Id Module::input(spv::BuiltIn builtin, Id type) {
  const Id id = variable(spv::StorageClass::Input, type);
  decorate(id, spv::Decoration::BuiltIn, {static_cast<uint32_t>(builtin)});
  return op(Op::OpLoad, type, {id});
}

void Module::decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> operands) {
  Words words{id, static_cast<uint32_t>(decoration)};
  words.insert(words.end(), operands);
  append(decorations_, Op::OpDecorate, words);
}

void Module::decorate_member(Id id, uint32_t member, spv::Decoration decoration,
                             std::initializer_list<uint32_t> operands) {
  Words words{id, member, static_cast<uint32_t>(decoration)};
  words.insert(words.end(), operands);
  append(decorations_, Op::OpMemberDecorate, words);
}

void Module::execution_mode(spv::ExecutionMode mode, std::initializer_list<uint32_t> operands) {
  Words words{kMain, static_cast<uint32_t>(mode)};
  words.insert(words.end(), operands);
  append(modes_, Op::OpExecutionMode, words);
}

Id Module::op(Op op, Id type, std::initializer_list<uint32_t> operands) {
  const Id id = new_id();
  body_.push_back(static_cast<uint32_t>(operands.size() + 3) << spv::WordCountShift | static_cast<uint32_t>(op));
  body_.push_back(type);
  body_.push_back(id);
  body_.insert(body_.end(), operands);
  return id;
}

Id Module::extended(GLSLstd450 op, Id type, std::initializer_list<uint32_t> operands) {
  const Id id = new_id();
  Words words{type, id, kExtendedSet, static_cast<uint32_t>(op)};
  words.insert(words.end(), operands);
  append(body_, Op::OpExtInst, words);
  return id;
}

void Module::effect(Op op, std::initializer_list<uint32_t> operands) {
  append(body_, op, std::span(operands.begin(), operands.size()));
}

Id Module::call(Id function, Id type, std::span<const Id> arguments) {
  const Id id = new_id();
  Words words{type, id, function};
  words.insert(words.end(), arguments.begin(), arguments.end());
  append(body_, Op::OpFunctionCall, words);
  return id;
}

void Module::label(Id id) {
  effect(Op::OpLabel, {id});
  block_ = id;
}

Id Module::phi(Id type) {
  const Id id = op(Op::OpPhi, type, {0, 0, 0, 0});
  phis_[id] = body_.size() - 4;
  return id;
}

void Module::complete_phi(Id phi, Id value, Id block, Id other_value, Id other_block) {
  const auto found = phis_.find(phi);
  const uint32_t operands[] = {value, block, other_value, other_block};
  std::copy(std::begin(operands), std::end(operands), body_.begin() + static_cast<std::ptrdiff_t>(found->second));
  phis_.erase(found);
}

Id Module::begin_function(Id result, std::span<const Id> types, std::vector<Id>* parameters) {
  LUCID_CHECK(main_body_.empty(), "a function within a function");
  Words signature{result};
  signature.insert(signature.end(), types.begin(), types.end());
  const Id function_type = declare_once(Op::OpTypeFunction, 0, signature);
  main_body_.swap(body_);
  main_block_ = block_;
  const Id id = new_id();
  effect(Op::OpFunction, {result, id, 0, function_type});
  for (Id type : types) parameters->push_back(op(Op::OpFunctionParameter, type, {}));
  label(new_id());
  return id;
}

void Module::end_function() {
  effect(Op::OpFunctionEnd, {});
  append_all(functions_, body_);
  body_.clear();
  body_.swap(main_body_);
  block_ = main_block_;
}

Words Module::finish() {
  const Id nothing = void_type();
  const Id function_type = type(Op::OpTypeFunction, {nothing});
  Words words{spv::MagicNumber, kVersion, /*generator=*/0, next_id_, /*schema=*/0};
  for (uint32_t capability : capabilities_) append(words, Op::OpCapability, {&capability, 1});
  Words set{kExtendedSet};
  append_all(set, text_words("GLSL.std.450"));
  append(words, Op::OpExtInstImport, set);
  const uint32_t model[] = {static_cast<uint32_t>(spv::AddressingModel::PhysicalStorageBuffer64),
                            static_cast<uint32_t>(spv::MemoryModel::Vulkan)};
  append(words, Op::OpMemoryModel, model);
  Words entry{static_cast<uint32_t>(spv::ExecutionModel::GLCompute), kMain};
  append_all(entry, text_words("main"));
  append_all(entry, interface_);
  append(words, Op::OpEntryPoint, entry);
  for (const Words* section : {&modes_, &decorations_, &globals_}) append_all(words, *section);
  const uint32_t function[] = {nothing, kMain, 0, function_type};
  append(words, Op::OpFunction, function);
  append_all(words, body_);
  append(words, Op::OpFunctionEnd, {});
  append_all(words, functions_);
  return words;
}

}  // namespace lucid::spirv
