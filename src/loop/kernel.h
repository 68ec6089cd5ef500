#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/small_vector.h"

/// The loop language: what kernels are written in before they become machine code.
///
/// A kernel is a function of buffers and run-time integers. Its body is structured: blocks of instructions in SSA form,
/// with counted loops that carry values and conditionals that carry none. Values are scalars or vectors of exactly
/// kLanes lanes, whatever the machine's registers hold, so that the lanes of a reduction are part of a kernel's meaning
/// and every target computes the same bits. Nothing is implied: no contraction, no reassociation, no promotion.
namespace lucid::loop {

inline constexpr int kLanes = 16;
/// How deep blocks may nest.
inline constexpr int kMaxDepth = 64;
/// How much scratch a kernel may have.
inline constexpr size_t kMaxScratchBytes = size_t{4} << 20;

/// A scalar or a vector of kLanes. kBool is one bit in registers and one byte (0 or 1) in memory. The 16-bit floats may
/// only be moved (constants, lanes, select, loads, stores, carried values) and converted. A bool knows logic, kEq and
/// kNe.
struct Type {
  Dtype element = Dtype::kF32;
  bool vector = false;
  bool operator==(const Type&) const = default;
};

enum class Code : uint8_t {
  // Leaves. kConst: `real` for floats, `integer` otherwise. kParam: run-time i64 number `integer`.
  // kBegin and kEnd: the half-open range of work items this call must do. kIota: the vector 0, 1, ..., 15 of `type`.
  kConst,
  kParam,
  kBegin,
  kEnd,
  kIota,
  // Arithmetic on two values of one type. Integers wrap. kDiv and kRem on integers truncate; the divisor must not be 0,
  // nor
  // -1 for the smallest dividend: lowerings guard. kShr is arithmetic for signed types and logical for u8;
  // a shift by the width or more, or by a negative number, must not happen either. kRem is for integers only.
  // kMin and kMax are for integers only: floating-point lowerings spell out what NaN does.
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
  // Comparisons give kBool. On floats all are false for NaN, except kNe, which is true.
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  // select(condition, a, b), lane by lane; the condition may be scalar for vector operands.
  kSelect,
  // To `type`'s element: float to integer truncates and saturates, NaN becomes 0; to kBool is "!= 0"; rounding is to
  // nearest
  // even; the 16-bit floats are reached from, and left for, anything else by way of f32. kBitcast reinterprets between
  // elements of one size.
  kConvert,
  kBitcast,
  // Scalar to vector; lane `integer` of a vector; the vector whose lane j is lane (j + `integer`) mod 16 of the
  // operand.
  kSplat,
  kExtract,
  kRotate,
  // Is any lane of a kBool vector set?
  kAny,
  // Memory. Operand 0 is the index, an i64: scalar for kLoad and kStore, which touch one element (or kLanes adjacent
  // ones when
  // the value is a vector), a vector for kGather and kScatter. `buffer` names the buffer. Vector accesses may carry a
  // mask as
  // their last operand: masked-off lanes load 0 and touch no memory. kStore and kScatter take the value as operand 1.
  // kScatter writes lanes in ascending order. kLoadAlternate and kLoadTwice load vectors from a scalar index on: lane j
  // is element j * 2, or element j / 2.
  kLoad,
  kLoadAlternate,
  kLoadTwice,
  kGather,
  kStore,
  kScatter,
  // Fetches the cache line of element operand 0 for reading.
  kPrefetch,
  // for i = operand 0; i < operand 1; i += `integer`, carrying operands 2... through the body's arguments (argument 0
  // is i).
  // The carried results are read with kResult number `integer` of the loop, its operand.
  kFor,
  kResult,
  // Runs block 0 when the scalar condition holds, else block 1 if there is one. Carries nothing.
  kIf,
  // Makes call number `integer` of Kernel::calls for the items from operand 0 up to operand 1. For each scratch buffer
  // that it passes follows the index that the part has for that buffer's first element.
  kCall,
  // An argument of a block; defined by the block, listed in Block::arguments.
  kArgument,
};

/// An instruction's number in Kernel::instructions; also names its result.
using Id = uint32_t;

struct Instruction {
  Code code;
  Type type;  // of the result; meaningless for kStore, kScatter, kPrefetch, kFor, kIf
  SmallVector<Id, 4> operands = {};
  int64_t integer = 0;
  double real = 0;
  uint32_t buffer = 0;
  bool masked = false;                   // the last operand is a mask
  SmallVector<uint32_t, 2> blocks = {};  // of kFor and kIf: indices into Kernel::blocks
};

/// A straight sequence; a loop body ends by handing `yields` to the next iteration.
struct Block {
  std::vector<Id> arguments;
  std::vector<Id> instructions;
  std::vector<Id> yields;
};

struct Buffer {
  enum class Kind : uint8_t {
    kArgument,  // passed in, in order
    kScratch,   // `count` elements of the call's own, uninitialised
    kTable,     // read-only constants, the raw bits of each element
  };
  Kind kind = Kind::kArgument;
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;
  std::vector<uint64_t> table;
};

/// What one kernel asks of another.
struct Call {
  uint32_t part = 0;              // in Kernel::parts
  std::vector<uint32_t> buffers;  // for each argument of the part
  int64_t first_param = 0;        // of this kernel's; the part gets as many as it has

  bool operator==(const Call&) const = default;
};

struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;  // the arguments first
  int64_t param_count = 0;
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;  // block 0 is the body
  /// Kernels that this one calls, which call none, and its calls in the order of the text. Each part is compiled once,
  /// whoever calls it.
  std::vector<Kernel> parts = {};
  std::vector<Call> calls = {};

  bool operator==(const Kernel& other) const;
};

/// What a compiled kernel is: buffers in argument order, run-time integers, the half-open range of work items to do,
/// and memory for scratch that no other call uses meanwhile (LoadedCode::scratch_bytes; null if that is 0). Work items
/// are independent: any split of the range, in any order, on any threads, gives the same memory afterwards.
using KernelFunction = void (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, void* scratch);

/// The text form, which parses back to an equal kernel; it is also the key of the kernel cache.
std::string to_text(const Kernel& kernel);
/// Throws ValueError with line and column for text that is no kernel.
Kernel parse_kernel(const std::string& text);
/// Throws InternalError naming the instruction that breaks a rule (types, dominance, arity, buffer kinds).
void verify(const Kernel& kernel);

/// What a kernel and its parts do with one of its buffers.
struct BufferAccess {
  bool is_read = false;
  bool is_written = false;
  bool operator==(const BufferAccess&) const = default;
};
std::vector<BufferAccess> accesses_of(const Kernel& kernel);

}  // namespace lucid::loop
