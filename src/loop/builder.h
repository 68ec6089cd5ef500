#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/instruction_set.h"

namespace lucid::loop {

class Builder;

/// A value of the kernel under construction. Operators append instructions. If one operand is a vector, a scalar
/// operand is splatted.
class Value {
 public:
  Value() = default;
  Value(Builder* builder, Id id, Type type) : builder_(builder), id_(id), type_(type) {}
  Builder& builder() const { return *builder_; }
  Id id() const { return id_; }
  Type type() const { return type_; }
  Dtype dtype() const { return type_.element; }
  bool is_vector() const { return type_.vector; }
  explicit operator bool() const { return builder_ != nullptr; }

 private:
  Builder* builder_ = nullptr;
  Id id_ = 0;
  Type type_;
};

/// Refers to one of the kernel's buffers.
struct BufferRef {
  uint32_t index = 0;
  Dtype dtype = Dtype::kF32;
};

/// Builds one kernel. Equal pure instructions in scope are shared, so lowerings need not avoid common subexpressions.
class Builder {
 public:
  explicit Builder(std::string name);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Declares the next argument buffer. All arguments must be declared before any other buffer.
  BufferRef argument(Dtype dtype);
  BufferRef scratch(Dtype dtype, int64_t count);
  BufferRef table(Dtype dtype, std::vector<uint64_t> bits);
  /// Makes the kernel run as a group of `members`.
  void set_group(int64_t members) { kernel_.group = members; }
  /// Declares a buffer that the members of the group share.
  BufferRef shared(Dtype dtype, int64_t count);
  /// Declares the next run-time integer.
  Value param();
  Value begin();
  Value end();
  /// The index of the executing member of the group.
  Value member();

  Value constant(Dtype dtype, double value);
  Value constant(Dtype dtype, int64_t value);
  Value constant(Dtype dtype, int value) { return constant(dtype, static_cast<int64_t>(value)); }
  /// An i64, the type of indices.
  Value index(int64_t value) { return constant(Dtype::kI64, value); }
  /// A constant of `like`'s element type.
  Value like(Value like, double value);
  /// 0, 1, ..., 15.
  Value iota(Dtype dtype = Dtype::kI64);

  Value unary(Code code, Value x);
  /// Also comparisons, whose result is kBool.
  Value binary(Code code, Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value select(Value condition, Value x, Value y);
  Value convert(Value x, Dtype dtype);
  Value bitcast(Value x, Dtype dtype);
  Value splat(Value x);
  Value extract(Value x, int lane);
  Value rotate(Value x, int lanes);
  Value any(Value mask);

  /// One element.
  Value load(BufferRef buffer, Value index);
  /// kLanes adjacent elements from `index`; `mask` may be empty.
  Value load_vector(BufferRef buffer, Value index, Value mask = {});
  /// Every other element, starting at `index`.
  Value load_alternate(BufferRef buffer, Value index, Value mask = {});
  /// kLanes / 2 adjacent elements from `index`, each in two adjacent lanes.
  Value load_twice(BufferRef buffer, Value index, Value mask = {});
  /// Elements at a vector of indices.
  Value gather(BufferRef buffer, Value indices, Value mask = {});
  /// Stores a scalar or a vector of adjacent elements.
  void store(BufferRef buffer, Value index, Value value, Value mask = {});
  void scatter(BufferRef buffer, Value indices, Value value, Value mask = {});
  void prefetch(BufferRef buffer, Value index);

  /// for i = lo; i < hi; i += step. The body receives i and the carried values, and returns their next values.
  using LoopBody = std::function<std::vector<Value>(Value i, std::span<const Value> carried)>;
  std::vector<Value> for_loop(Value lo, Value hi, int64_t step, std::span<const Value> initial, const LoopBody& body);
  /// A loop that carries nothing.
  void for_loop(Value lo, Value hi, int64_t step, const std::function<void(Value i)>& body);
  void if_then(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});

  /// Waits for all members of the group.
  void barrier();

  /// Declares `count` run-time integers that are only passed on to calls. Returns the index of the first.
  int64_t params(int64_t count);
  /// Calls another kernel for items `first` up to `last` on these buffers. Its params are the params of this kernel
  /// from `first_param` on. Equal kernels share one part. `origins` holds, for each scratch buffer in order, the index
  /// that the part uses for the buffer's first element.
  void call(const Kernel& part, std::vector<uint32_t> buffers, int64_t first_param, Value first, Value last,
            std::span<const Value> origins);

  /// The mask of lanes j with j < count, for an i64 count of any size.
  Value lanes_below(Value count);

  /// The instruction that defines a value. Lets callers choose a kind of access by how its index is computed.
  const Instruction& definition(Value value) const { return kernel_.instructions[value.id()]; }
  Value value(Id id) { return {this, id, kernel_.instructions[id].type}; }
  /// Whether a scalar i64 is known to be even.
  bool is_even(Value value) const { return is_even(value.id()); }

  /// Ends construction. Debug builds verify the kernel, others only before it is compiled. The builder must not be used
  /// afterwards.
  Kernel finish();

 private:
  // Hash and compare instructions by content.
  BufferRef declare(Buffer buffer);
  uint32_t open_block();
  void close_block();
  /// Adds an instruction to the kernel without placing it in a block.
  Id add(Instruction instruction);
  /// Places an instruction in the innermost open block, or returns an equal one that is in scope.
  Value append(Instruction instruction);
  bool shareable(const Instruction& instruction) const;
  Id use(Value value) const;
  std::pair<Value, Value> unify(Value x, Value y);
  Value memory_access(Instruction instruction, Value mask);
  bool is_even(Id id) const;

  Kernel kernel_;
  // For open loops with an even step: maps the loop variable to the lower bound.
  std::map<Id, Id> even_steps_;
  std::vector<uint32_t> open_blocks_;
  // The pure instructions in scope, and for each open block those that go out of scope with it.
  InstructionSet shared_{kernel_.instructions};
  std::vector<std::vector<Id>> shareable_;
};

inline Value operator+(Value x, Value y) { return x.builder().binary(Code::kAdd, x, y); }
inline Value operator-(Value x, Value y) { return x.builder().binary(Code::kSub, x, y); }
inline Value operator*(Value x, Value y) { return x.builder().binary(Code::kMul, x, y); }
inline Value operator/(Value x, Value y) { return x.builder().binary(Code::kDiv, x, y); }
inline Value operator-(Value x) { return x.builder().unary(Code::kNeg, x); }
inline Value operator<(Value x, Value y) { return x.builder().binary(Code::kLt, x, y); }
inline Value operator<=(Value x, Value y) { return x.builder().binary(Code::kLe, x, y); }
inline Value operator>(Value x, Value y) { return x.builder().binary(Code::kGt, x, y); }
inline Value operator>=(Value x, Value y) { return x.builder().binary(Code::kGe, x, y); }
inline Value operator==(Value x, Value y) { return x.builder().binary(Code::kEq, x, y); }
inline Value operator!=(Value x, Value y) { return x.builder().binary(Code::kNe, x, y); }
inline Value operator&(Value x, Value y) { return x.builder().binary(Code::kAnd, x, y); }
inline Value operator|(Value x, Value y) { return x.builder().binary(Code::kOr, x, y); }
inline Value operator^(Value x, Value y) { return x.builder().binary(Code::kXor, x, y); }
// There is no operator!: `!value` tests whether a Value is empty.
inline Value operator~(Value x) { return x.builder().unary(Code::kNot, x); }

// A plain number on one side is converted to the other side's element type.
Value operator+(Value x, double y);
Value operator-(Value x, double y);
Value operator*(Value x, double y);
Value operator/(Value x, double y);
Value operator+(double x, Value y);
Value operator-(double x, Value y);
Value operator*(double x, Value y);
Value operator/(double x, Value y);

}  // namespace lucid::loop
