#include "loop/builder.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/options.h"
#include "loop/canonical.h"
#include "loop/codes.h"
#include "loop/fold.h"

namespace lucid::loop {
namespace {

/// For how many instructions a builder has room from the start.
constexpr size_t kUsualInstructions = 256;

Type type_like(Value value, Dtype element) { return {element, value.is_vector()}; }

void check_element(Code code, Value x) {
  LUCID_CHECK(info_of(code).dtypes.contains(x.dtype()), "{} does not work on {}", name_of(code), name_of(x.dtype()));
}

}  // namespace

Builder::Builder(std::string name) {
  kernel_.name = std::move(name);
  kernel_.instructions.reserve(kUsualInstructions);
  open_block();
}

uint32_t Builder::open_block() {
  const auto block = static_cast<uint32_t>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  open_blocks_.push_back(block);
  shareable_.emplace_back();
  return block;
}

void Builder::close_block() {
  for (Id id : shareable_.back()) shared_.erase(id);
  shareable_.pop_back();
  open_blocks_.pop_back();
}

BufferRef Builder::declare(Buffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return {static_cast<uint32_t>(kernel_.buffers.size() - 1), kernel_.buffers.back().dtype};
}

BufferRef Builder::argument(Dtype dtype) {
  LUCID_CHECK(kernel_.buffers.empty() || kernel_.buffers.back().kind == Buffer::Kind::kArgument,
              "kernel {}: argument buffers are declared before scratch and tables", kernel_.name);
  return declare({Buffer::Kind::kArgument, dtype, 0, {}});
}

BufferRef Builder::scratch(Dtype dtype, int64_t count) {
  LUCID_CHECK(count > 0, "kernel {}: scratch of {} elements", kernel_.name, count);
  return declare({Buffer::Kind::kScratch, dtype, count, {}});
}

BufferRef Builder::table(Dtype dtype, std::vector<uint64_t> bits) {
  LUCID_CHECK(!bits.empty(), "kernel {}: a table without elements", kernel_.name);
  const auto count = static_cast<int64_t>(bits.size());
  return declare({Buffer::Kind::kTable, dtype, count, std::move(bits)});
}

BufferRef Builder::shared(Dtype dtype, int64_t count) {
  LUCID_CHECK(count > 0, "kernel {}: a shared buffer of {} elements", kernel_.name, count);
  return declare({Buffer::Kind::kShared, dtype, count, {}});
}

Id Builder::add(Instruction instruction) {
  LUCID_CHECK(!open_blocks_.empty(), "kernel {}: the builder was used after finish()", kernel_.name);
  kernel_.instructions.push_back(std::move(instruction));
  return static_cast<Id>(kernel_.instructions.size() - 1);
}

bool Builder::shareable(const Instruction& instruction) const {
  switch (instruction.code) {
    case Code::kLoad:
    case Code::kLoadAlternate:
    case Code::kLoadTwice:
    case Code::kGather:
      return kernel_.buffers[instruction.buffer].kind == Buffer::Kind::kTable;
    case Code::kArgument:
      return false;
    default:
      return has_result(instruction.code);
  }
}

Value Builder::append(Instruction instruction) {
  const Type type = instruction.type;
  // Leaves go into the body, before any open loop, so that they are in scope everywhere.
  const size_t depth = info_of(instruction.code).family == Family::kLeaf ? 0 : open_blocks_.size() - 1;
  const bool share = shareable(instruction);
  const Id id = add(std::move(instruction));
  if (share) {
    if (const Id known = shared_.insert(id); known != id) {
      kernel_.instructions.pop_back();
      return {this, known, type};
    }
    shareable_[depth].push_back(id);
  }
  kernel_.blocks[open_blocks_[depth]].instructions.push_back(id);
  return {this, id, type};
}

Id Builder::use(Value value) const {
  LUCID_CHECK(value, "kernel {}: an empty value as operand", kernel_.name);
  LUCID_CHECK(&value.builder() == this, "kernel {}: an operand from another kernel", kernel_.name);
  return value.id();
}

Value Builder::param() {
  return append({.code = Code::kParam, .type = {Dtype::kI64}, .integer = kernel_.param_count++});
}
int64_t Builder::params(int64_t count) { return std::exchange(kernel_.param_count, kernel_.param_count + count); }

void Builder::call(const Kernel& part, std::vector<uint32_t> buffers, int64_t first_param, Value first, Value last,
                   std::span<const Value> origins) {
  const auto found = std::find(kernel_.parts.begin(), kernel_.parts.end(), part);
  Instruction instruction{.code = Code::kCall, .type = {}, .operands = {use(first), use(last)}};
  for (Value origin : origins) instruction.operands.push_back(use(origin));
  instruction.integer = static_cast<int64_t>(kernel_.calls.size());
  kernel_.calls.push_back({static_cast<uint32_t>(found - kernel_.parts.begin()), std::move(buffers), first_param});
  if (found == kernel_.parts.end()) kernel_.parts.push_back(part);
  append(std::move(instruction));
}

Value Builder::begin() { return append({.code = Code::kBegin, .type = {Dtype::kI64}}); }
Value Builder::end() { return append({.code = Code::kEnd, .type = {Dtype::kI64}}); }
Value Builder::member() { return append({.code = Code::kMember, .type = {Dtype::kI64}}); }
Value Builder::iota(Dtype dtype) { return append({.code = Code::kIota, .type = {dtype, true}}); }

Value Builder::constant(Dtype dtype, double value) {
  if (is_float(dtype)) return append({.code = Code::kConst, .type = {dtype}, .real = round_to(dtype, value)});
  return append({.code = Code::kConst, .type = {dtype}, .integer = saturate_to(dtype, value)});
}

Value Builder::constant(Dtype dtype, int64_t value) {
  if (is_float(dtype)) return constant(dtype, static_cast<double>(value));
  return append({.code = Code::kConst, .type = {dtype}, .integer = wrap_to(dtype, value)});
}

Value Builder::like(Value like, double value) { return constant(like.dtype(), value); }

std::pair<Value, Value> Builder::unify(Value x, Value y) {
  LUCID_CHECK(x && y, "kernel {}: an empty value as operand", kernel_.name);
  LUCID_CHECK(x.dtype() == y.dtype(), "kernel {}: operands of types {} and {}; convert one", kernel_.name,
              to_string(x.type()), to_string(y.type()));
  if (x.is_vector() && !y.is_vector()) return {x, splat(y)};
  if (y.is_vector() && !x.is_vector()) return {splat(x), y};
  return {x, y};
}

Value Builder::unary(Code code, Value x) {
  LUCID_CHECK(info_of(code).family == Family::kUnary, "{} does not take one operand", name_of(code));
  check_element(code, x);
  return append({.code = code, .type = x.type(), .operands = {use(x)}});
}

Value Builder::binary(Code code, Value x, Value y) {
  const Family family = info_of(code).family;
  LUCID_CHECK(family == Family::kBinary || family == Family::kComparison, "{} does not take two operands",
              name_of(code));
  check_element(code, x);
  const Id x_id = use(x), y_id = use(y);
  if (const auto folded = fold_index(kernel_, code, x_id, y_id)) {
    if (folded->id) {
      const Value kept = *folded->id == x_id ? x : y;
      return kept.is_vector() || !(x.is_vector() || y.is_vector()) ? kept : splat(kept);
    }
    const Value result = index(folded->constant);
    return x.is_vector() || y.is_vector() ? splat(result) : result;
  }
  const auto [left, right] = unify(x, y);
  const Type type = family == Family::kComparison ? type_like(left, Dtype::kBool) : left.type();
  return append({.code = code, .type = type, .operands = {left.id(), right.id()}});
}

Value Builder::fma(Value x, Value y, Value z) {
  std::tie(x, y) = unify(x, y);
  std::tie(x, z) = unify(x, z);
  std::tie(x, y) = unify(x, y);
  check_element(Code::kFma, x);
  return append({.code = Code::kFma, .type = x.type(), .operands = {use(x), use(y), use(z)}});
}

Value Builder::select(Value condition, Value x, Value y) {
  std::tie(x, y) = unify(x, y);
  LUCID_CHECK(condition && condition.dtype() == Dtype::kBool, "kernel {}: select's condition is {}", kernel_.name,
              to_string(condition.type()));
  if (condition.is_vector() && !x.is_vector()) std::tie(x, y) = std::pair(splat(x), splat(y));
  return append({.code = Code::kSelect, .type = x.type(), .operands = {use(condition), use(x), use(y)}});
}

Value Builder::convert(Value x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  return append({.code = Code::kConvert, .type = type_like(x, dtype), .operands = {use(x)}});
}

Value Builder::bitcast(Value x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  LUCID_CHECK(size_of(x.dtype()) == size_of(dtype), "kernel {}: bitcast from {} to {}", kernel_.name,
              name_of(x.dtype()), name_of(dtype));
  return append({.code = Code::kBitcast, .type = type_like(x, dtype), .operands = {use(x)}});
}

Value Builder::splat(Value x) {
  if (x.is_vector()) return x;
  return append({.code = Code::kSplat, .type = {x.dtype(), true}, .operands = {use(x)}});
}

Value Builder::extract(Value x, int lane) {
  LUCID_CHECK(x.is_vector() && lane >= 0 && lane < kLanes, "kernel {}: extract lane {} of {}", kernel_.name, lane,
              to_string(x.type()));
  return append({.code = Code::kExtract, .type = {x.dtype()}, .operands = {use(x)}, .integer = lane});
}

Value Builder::rotate(Value x, int lanes) {
  LUCID_CHECK(x.is_vector() && lanes >= 0 && lanes < kLanes, "kernel {}: rotate {} by {} lanes", kernel_.name,
              to_string(x.type()), lanes);
  if (lanes == 0) return x;
  return append({.code = Code::kRotate, .type = x.type(), .operands = {use(x)}, .integer = lanes});
}

Value Builder::any(Value mask) {
  LUCID_CHECK(mask.is_vector() && mask.dtype() == Dtype::kBool, "kernel {}: any of {}", kernel_.name,
              to_string(mask.type()));
  return append({.code = Code::kAny, .type = {Dtype::kBool}, .operands = {use(mask)}});
}

Value Builder::memory_access(Instruction instruction, Value mask) {
  LUCID_CHECK(instruction.buffer < kernel_.buffers.size(), "kernel {}: no buffer {}", kernel_.name, instruction.buffer);
  if (mask) {
    instruction.operands.push_back(use(splat(mask)));
    instruction.masked = true;
  }
  return append(std::move(instruction));
}

Value Builder::load(BufferRef buffer, Value index) {
  return memory_access({.code = Code::kLoad, .type = {buffer.dtype}, .operands = {use(index)}, .buffer = buffer.index},
                       {});
}

Value Builder::load_vector(BufferRef buffer, Value index, Value mask) {
  return memory_access(
      {.code = Code::kLoad, .type = {buffer.dtype, true}, .operands = {use(index)}, .buffer = buffer.index}, mask);
}

Value Builder::load_alternate(BufferRef buffer, Value index, Value mask) {
  return memory_access(
      {.code = Code::kLoadAlternate, .type = {buffer.dtype, true}, .operands = {use(index)}, .buffer = buffer.index},
      mask);
}

Value Builder::load_twice(BufferRef buffer, Value index, Value mask) {
  return memory_access(
      {.code = Code::kLoadTwice, .type = {buffer.dtype, true}, .operands = {use(index)}, .buffer = buffer.index}, mask);
}

Value Builder::gather(BufferRef buffer, Value indices, Value mask) {
  return memory_access(
      {.code = Code::kGather, .type = {buffer.dtype, true}, .operands = {use(indices)}, .buffer = buffer.index}, mask);
}

void Builder::store(BufferRef buffer, Value index, Value value, Value mask) {
  if (mask) value = splat(value);
  LUCID_CHECK(value.dtype() == buffer.dtype, "kernel {}: store of {} to a buffer of {}", kernel_.name,
              to_string(value.type()), name_of(buffer.dtype));
  memory_access(
      {.code = Code::kStore, .type = value.type(), .operands = {use(index), use(value)}, .buffer = buffer.index}, mask);
}

void Builder::scatter(BufferRef buffer, Value indices, Value value, Value mask) {
  value = splat(value);
  LUCID_CHECK(value.dtype() == buffer.dtype, "kernel {}: scatter of {} to a buffer of {}", kernel_.name,
              to_string(value.type()), name_of(buffer.dtype));
  memory_access(
      {.code = Code::kScatter, .type = value.type(), .operands = {use(indices), use(value)}, .buffer = buffer.index},
      mask);
}

void Builder::prefetch(BufferRef buffer, Value index) {
  memory_access({.code = Code::kPrefetch, .type = {buffer.dtype}, .operands = {use(index)}, .buffer = buffer.index},
                {});
}

std::vector<Value> Builder::for_loop(Value lo, Value hi, int64_t step, std::span<const Value> initial,
                                     const LoopBody& body) {
  LUCID_CHECK(step > 0, "kernel {}: a loop with step {}", kernel_.name, step);
  Instruction loop{.code = Code::kFor, .type = {Dtype::kI64}, .operands = {use(lo), use(hi)}, .integer = step};
  for (Value value : initial) loop.operands.push_back(use(value));
  // The loop is appended to its block once its body is complete, so it follows the leaves that the body added.
  const uint32_t block = open_block();
  loop.blocks.push_back(block);
  auto argument = [&](Type type) {
    const Id id = add({.code = Code::kArgument, .type = type});
    kernel_.blocks[block].arguments.push_back(id);
    return Value(this, id, type);
  };
  const Value i = argument({Dtype::kI64});
  if (step % 2 == 0) even_steps_[i.id()] = use(lo);
  std::vector<Value> carried;
  for (Value value : initial) carried.push_back(argument(value.type()));

  const std::vector<Value> next = body(i, carried);
  LUCID_CHECK(next.size() == carried.size(), "kernel {}: a loop carries {} values but its body returned {}",
              kernel_.name, carried.size(), next.size());
  for (size_t k = 0; k < next.size(); ++k) {
    const Value value = carried[k].is_vector() ? splat(next[k]) : next[k];
    LUCID_CHECK(value.type() == carried[k].type(), "kernel {}: carried value {} is {} but its next value is {}",
                kernel_.name, k, to_string(carried[k].type()), to_string(value.type()));
    kernel_.blocks[block].yields.push_back(use(value));
  }
  close_block();
  const Value done = append(std::move(loop));
  std::vector<Value> results;
  for (size_t k = 0; k < carried.size(); ++k) {
    results.push_back(append({.code = Code::kResult,
                              .type = carried[k].type(),
                              .operands = {done.id()},
                              .integer = static_cast<int64_t>(k)}));
  }
  return results;
}

void Builder::for_loop(Value lo, Value hi, int64_t step, const std::function<void(Value i)>& body) {
  for_loop(lo, hi, step, {}, [&](Value i, std::span<const Value>) {
    body(i);
    return std::vector<Value>();
  });
}

void Builder::if_then(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  LUCID_CHECK(condition.type() == Type{Dtype::kBool}, "kernel {}: the condition of an if is {}", kernel_.name,
              to_string(condition.type()));
  Instruction branch{.code = Code::kIf, .type = {Dtype::kBool}, .operands = {use(condition)}};
  branch.blocks.push_back(open_block());
  then();
  close_block();
  if (otherwise) {
    branch.blocks.push_back(open_block());
    otherwise();
    close_block();
  }
  append(std::move(branch));
}

void Builder::barrier() { append({.code = Code::kBarrier, .type = {}}); }

Value Builder::lanes_below(Value count) {
  // 32-bit lanes need half the registers of 64-bit lanes.
  const Value clamped = binary(Code::kMin, binary(Code::kMax, count, index(0)), index(kLanes));
  return iota(Dtype::kI32) < convert(clamped, Dtype::kI32);
}

bool Builder::is_even(Id id) const {
  const Instruction& x = kernel_.instructions[id];
  switch (x.code) {
    case Code::kConst:
      return x.integer % 2 == 0;
    case Code::kAdd:
    case Code::kSub:
      return is_even(x.operands[0]) && is_even(x.operands[1]);
    case Code::kMul:
      return is_even(x.operands[0]) || is_even(x.operands[1]);
    case Code::kArgument: {
      const auto start = even_steps_.find(id);
      return start != even_steps_.end() && is_even(start->second);
    }
    default:
      return false;
  }
}

Kernel Builder::finish() {
  LUCID_CHECK(open_blocks_.size() == 1, "kernel {}: finish() called inside a loop or twice", kernel_.name);
  open_blocks_.clear();
  Kernel kernel = canonical(kernel_);
  if constexpr (kVerifyByDefault) verify(kernel);
  return kernel;
}

Value operator+(Value x, double y) { return x + x.builder().like(x, y); }
Value operator-(Value x, double y) { return x - x.builder().like(x, y); }
Value operator*(Value x, double y) { return x * x.builder().like(x, y); }
Value operator/(Value x, double y) { return x / x.builder().like(x, y); }
Value operator+(double x, Value y) { return y.builder().like(y, x) + y; }
Value operator-(double x, Value y) { return y.builder().like(y, x) - y; }
Value operator*(double x, Value y) { return y.builder().like(y, x) * y; }
Value operator/(double x, Value y) { return y.builder().like(y, x) / y; }

}  // namespace lucid::loop
