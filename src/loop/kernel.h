#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/small_vector.h"

/// The loop language: the IR of kernels before they are compiled to machine code.
///
/// A kernel is a function of buffers and run-time integers. Its body is structured: blocks of instructions in SSA form,
/// with counted loops that carry values and conditionals that carry none. Values are scalars or vectors of exactly
/// kLanes lanes, regardless of the machine's register width. The lanes of a reduction are therefore part of a kernel's
/// meaning, and every target computes the same bits. Nothing is implied: no contraction, no reassociation, no
/// promotion.
///
/// A kernel for gpus may run as a group: Kernel::group members execute the body together, for the same items, each with
/// its own values. They share buffers of kind kShared. Every lane of every member is on its own: if one stores an
/// element of a shared buffer and another accesses it, there must be a kBarrier between the two. An element of an
/// argument that the kernel stores is accessed by one lane of one member only. A kernel with more than one member has
/// no scratch and no calls, and moves no values between lanes (kExtract, kRotate, kAny, kScatter).
namespace lucid::loop {

inline constexpr int kLanes = 16;
/// Maximum nesting depth of blocks.
inline constexpr int kMaxDepth = 64;
/// Maximum total size of a kernel's scratch buffers.
inline constexpr size_t kMaxScratchBytes = size_t{4} << 20;
/// Maximum number of members of a group, and total size of the buffers that they share: every gpu that we support has
/// workgroups of 256 invocations and 16 KiB of shared memory.
inline constexpr int64_t kMaxGroup = 16;
inline constexpr size_t kMaxSharedBytes = size_t{16} << 10;

/// A scalar or a vector of kLanes. kBool is one bit in registers and one byte (0 or 1) in memory. The 16-bit floats may
/// only be moved (constants, lanes, select, loads, stores, carried values) and converted. A bool supports logical
/// operations, kEq and kNe.
struct Type {
  Dtype element = Dtype::kF32;
  bool vector = false;
  bool operator==(const Type&) const = default;
};

enum class Code : uint8_t {
  // Leaves. kConst: `real` for floats, `integer` otherwise. kParam: the run-time i64 with index `integer`.
  // kBegin and kEnd: the half-open range of work items of this call. kMember: the index, an i64, of the executing
  // member of the group. kIota: the vector 0, 1, ..., 15 of `type`.
  kConst,
  kParam,
  kBegin,
  kEnd,
  kMember,
  kIota,
  // Arithmetic on two values of one type. Integers wrap. kDiv and kRem on integers truncate. A divisor of 0, or of -1
  // with the smallest dividend, is undefined behavior; lowerings guard against it. kShr is arithmetic for signed types
  // and logical for u8. A shift by a negative number, or by the width or more, is undefined as well. kRem is for
  // integers only. kMin and kMax are for integers only: floating-point lowerings handle NaN explicitly.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kShrLogical,
  kCopySign,
  // One operand. kRound rounds halves to even. kNot is bitwise (logical for kBool).
  kNeg,
  kAbs,
  kNot,
  kSqrt,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  // a * b + c with one rounding.
  kFma,
  // Comparisons return kBool. On floats all are false for NaN, except kNe, which is true.
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  // select(condition, a, b), lane by lane; the condition may be scalar for vector operands.
  kSelect,
  // kConvert converts to the element of `type`. Float to integer truncates and saturates, and NaN becomes 0.
  // Conversion to kBool is "!= 0". Rounding is to nearest even. Conversions to and from the 16-bit floats go through
  // f32. kBitcast reinterprets between elements of one size.
  kConvert,
  kBitcast,
  // kSplat: scalar to vector. kExtract: lane `integer` of a vector. kRotate: the vector whose lane j is lane
  // (j + `integer`) mod 16 of the operand.
  kSplat,
  kExtract,
  kRotate,
  // Whether any lane of a kBool vector is set.
  kAny,
  // Memory. `buffer` is the index of the buffer. Operand 0 is the i64 index of the element: a vector for kGather and
  // kScatter, otherwise a scalar. kLoad and kStore access one element, or kLanes adjacent ones if the value is a
  // vector. kStore and kScatter take the value as operand 1. Vector accesses may have a mask as their last operand:
  // masked-off lanes load 0 and access no memory. kScatter writes lanes in ascending order. kLoadAlternate and
  // kLoadTwice load vectors relative to a scalar index: lane j is element j * 2, or element j / 2.
  kLoad,
  kLoadAlternate,
  kLoadTwice,
  kGather,
  kStore,
  kScatter,
  // Fetches the cache line of element operand 0 for reading.
  kPrefetch,
  // kFor: for i = operand 0; i < operand 1; i += `integer`. Argument 0 of the body is i. Operands 2 and up are the
  // initial values of the carried values, which are the remaining arguments. kResult reads the final carried value with
  // index `integer` of the loop that is its operand.
  kFor,
  kResult,
  // Runs block 0 if the scalar condition is true, otherwise block 1 if there is one. Carries no values.
  kIf,
  // Performs Kernel::calls[`integer`] for the items from operand 0 up to operand 1. The other operands, one for each
  // scratch buffer that the call passes, are the indices that the callee uses for the first element of those buffers.
  kCall,
  // Waits until all members of the group get here. Accesses of shared buffers by any member before it are complete. The
  // loops and conditionals around it must be uniform: their bounds and conditions are computed from constants, params,
  // the range of items and counters of uniform loops.
  kBarrier,
  // An argument of a block, defined by the block and listed in Block::arguments.
  kArgument,
};

/// An index into Kernel::instructions. It also identifies the instruction's result.
using Id = uint32_t;

struct Instruction {
  Code code;
  Type type;  // of the result; meaningless for codes without one
  SmallVector<Id, 4> operands = {};
  int64_t integer = 0;
  double real = 0;
  uint32_t buffer = 0;
  bool masked = false;                   // whether the last operand is a mask
  SmallVector<uint32_t, 2> blocks = {};  // of kFor and kIf: indices into Kernel::blocks
};

/// A sequence of instructions. A loop body ends by passing `yields` to the next iteration.
struct Block {
  std::vector<Id> arguments;
  std::vector<Id> instructions;
  std::vector<Id> yields;
};

struct Buffer {
  enum class Kind : uint8_t {
    kArgument,  // passed in, in order
    kScratch,   // `count` uninitialized elements, private to the call
    kTable,     // read-only constants, the raw bits of each element
    kShared,    // `count` elements, uninitialized at the start of the call, shared by the members of a group
  };
  Kind kind = Kind::kArgument;
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;
  std::vector<uint64_t> table;
};

/// A call of one kernel by another.
struct Call {
  uint32_t part = 0;              // index into Kernel::parts
  std::vector<uint32_t> buffers;  // the caller's buffer for each argument of the part
  int64_t first_param = 0;        // the caller's param that becomes the part's param 0; the others follow it

  bool operator==(const Call&) const = default;
};

struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;  // the arguments first
  int64_t param_count = 0;
  int64_t group = 1;  // the number of members that execute the body together
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;  // block 0 is the body
  /// The kernels that this one calls, and its calls in the order of the text. Parts make no calls themselves. Each part
  /// is compiled once, even if several kernels call it.
  std::vector<Kernel> parts = {};
  std::vector<Call> calls = {};

  bool operator==(const Kernel& other) const;
};

/// Returns the text form, which parses back to an equal kernel.
std::string to_text(const Kernel& kernel);
/// Returns bytes that are the same for equal kernels only. Much faster than the text.
std::string key_of(const Kernel& kernel);
/// Throws ValueError with line and column if the text is not a valid kernel.
Kernel parse_kernel(const std::string& text);
/// Throws InternalError naming the instruction that breaks a rule (types, dominance, arity, buffer kinds).
void verify(const Kernel& kernel);

/// How a kernel and its parts access one of its buffers.
struct BufferAccess {
  bool is_read = false;
  bool is_written = false;
  bool operator==(const BufferAccess&) const = default;
};
std::vector<BufferAccess> accesses_of(const Kernel& kernel);

}  // namespace lucid::loop
