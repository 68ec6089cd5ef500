#include "loop/verify.h"

#include <algorithm>
#include <cmath>

#include "loop/codes.h"
#include "loop/fold.h"

namespace lucid::loop {
namespace {

constexpr Type kIndex = {Dtype::kI64, false};

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        in_scope_(kernel.instructions.size()),
        placed_(kernel.instructions.size()),
        uniform_(kernel.instructions.size()),
        entered_(kernel.blocks.size()) {}

  void run() {
    check_buffers();
    for (const Kernel& part : kernel_.parts) {
      require(part.parts.empty() && part.calls.empty(), "part {} has parts", part.name);
      require(part.group == 1, "part {} runs as a group", part.name);
      Verifier(part).run();
    }
    require(!kernel_.blocks.empty(), "there is no body");
    require(kernel_.param_count >= 0, "the number of params is negative");
    require(kernel_.group >= 1 && kernel_.group <= kMaxGroup, "a group of {}, must be from 1 to {}", kernel_.group,
            kMaxGroup);
    require(kernel_.blocks[0].arguments.empty() && kernel_.blocks[0].yields.empty(),
            "the body must have no arguments and yield nothing");
    check_block(0, 0);
    for (size_t i = 0; i < entered_.size(); ++i) require(entered_[i], "nothing refers to block {}", i);
    for (size_t i = 0; i < placed_.size(); ++i) require(placed_[i], "%{} is not in any block", i);
    require(next_call_ == kernel_.calls.size(), "performs {} of its {} calls", next_call_, kernel_.calls.size());
  }

 private:
  /// Checks a rule for the current instruction, or for the kernel as a whole if there is none.
  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> rule, Args&&... args) const {
    if (holds) [[likely]]
      return;
    std::string location;
    if (current_ != BrokenRule::kNone) {
      location = fmt::format("%{} = {}: ", current_, name_of(kernel_.instructions[current_].code));
    }
    const std::string message = fmt::format(rule, std::forward<Args>(args)...);
    throw BrokenRule(fmt::format("kernel {}: {}{}", kernel_.name, location, message), current_);
  }

  void check_buffers() const {
    bool arguments_over = false;
    size_t scratch_bytes = 0, shared_bytes = 0;
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const bool is_argument = buffer.kind == Buffer::Kind::kArgument;
      require(!is_argument || !arguments_over, "argument @{} comes after scratch or a table", i);
      arguments_over |= !is_argument;
      require(is_argument ? buffer.count == 0 : buffer.count > 0, "@{} has {} elements", i, buffer.count);
      if (buffer.kind == Buffer::Kind::kScratch) {
        const size_t max_count = (kMaxScratchBytes - scratch_bytes) / size_of(buffer.dtype);
        require(static_cast<size_t>(buffer.count) <= max_count, "@{}: more than {} bytes of scratch", i,
                kMaxScratchBytes);
        scratch_bytes += static_cast<size_t>(buffer.count) * size_of(buffer.dtype);
      }
      if (buffer.kind == Buffer::Kind::kShared) {
        require(kernel_.group > 1, "@{} is shared, but there is no group", i);
        const size_t max_count = (kMaxSharedBytes - shared_bytes) / size_of(buffer.dtype);
        require(static_cast<size_t>(buffer.count) <= max_count, "@{}: more than {} bytes of shared memory", i,
                kMaxSharedBytes);
        shared_bytes += static_cast<size_t>(buffer.count) * size_of(buffer.dtype);
      }
      require(kernel_.group == 1 || buffer.kind != Buffer::Kind::kScratch, "@{} is scratch, which groups cannot have",
              i);
      const bool is_table = buffer.kind == Buffer::Kind::kTable;
      require(buffer.table.size() == static_cast<size_t>(is_table ? buffer.count : 0), "@{} has {} table elements", i,
              buffer.table.size());
      const size_t bits = buffer.dtype == Dtype::kBool ? 1 : 8 * size_of(buffer.dtype);
      for (uint64_t element : buffer.table) {
        require(bits == 64 || element >> bits == 0, "@{}: table element {:#x} is wider than {}", i, element,
                name_of(buffer.dtype));
      }
    }
  }

  void check_block(uint32_t index, int depth) {
    require(index < kernel_.blocks.size(), "there is no block {}", index);
    require(!entered_[index], "block {} is referred to twice", index);
    require(depth <= kMaxDepth, "blocks nest deeper than {}", kMaxDepth);
    entered_[index] = true;
    const Id owner = current_;
    const Block& block = kernel_.blocks[index];
    for (Id id : block.arguments) define(id);
    for (Id id : block.instructions) {
      require(id < kernel_.instructions.size(), "block {} lists %{}, which does not exist", index, id);
      current_ = id;
      require(kernel_.instructions[id].code != Code::kArgument, "belongs in a block's arguments");
      check_instruction(kernel_.instructions[id], depth);
      check_group(kernel_.instructions[id]);
      define(id);
      uniform_[id] = is_uniform(kernel_.instructions[id]);
    }
    current_ = owner;
    for (Id id : block.yields) type_of(id);
    for (Id id : block.arguments) in_scope_[id] = false;
    for (Id id : block.instructions) in_scope_[id] = false;
  }

  void define(Id id) {
    require(id < kernel_.instructions.size(), "there is no %{}", id);
    require(!placed_[id], "%{} is placed twice", id);
    placed_[id] = true;
    in_scope_[id] = true;
  }

  /// The type of a value that may be used here.
  Type type_of(Id id) const {
    require(id < kernel_.instructions.size(), "there is no %{}", id);
    require(in_scope_[id], "%{} is not in scope", id);
    require(has_result(kernel_.instructions[id].code), "%{} is not a value but a {}", id,
            name_of(kernel_.instructions[id].code));
    return kernel_.instructions[id].type;
  }

  void check_attributes(const Instruction& x) const {
    const bool has_integer = (x.code == Code::kConst && !is_float(x.type.element)) || x.code == Code::kParam ||
                             x.code == Code::kExtract || x.code == Code::kRotate || x.code == Code::kFor ||
                             x.code == Code::kResult || x.code == Code::kCall;
    require(has_integer || x.integer == 0, "takes no integer");
    const bool has_real = x.code == Code::kConst && is_float(x.type.element);
    require(has_real || x.real == 0, "takes no real number");
    const bool is_memory = info_of(x.code).family == Family::kMemory;
    require(is_memory || x.buffer == 0, "takes no buffer");
    require((is_memory && x.code != Code::kPrefetch) || !x.masked, "takes no mask");
    require(x.code == Code::kFor || x.code == Code::kIf || x.blocks.empty(), "takes no blocks");
  }

  void check_count(const Instruction& x, size_t count) const {
    require(x.operands.size() == count, "has {} operands, must have {}", x.operands.size(), count);
  }

  void check_operand(const Instruction& x, size_t k, Type must_be) const {
    const Type type = type_of(x.operands[k]);
    require(type == must_be, "operand {} is {}, must be {}", k, to_string(type), to_string(must_be));
  }

  void check_element(const Instruction& x, Dtype element) const {
    require(info_of(x.code).dtypes.contains(element), "does not work on {}", name_of(element));
  }

  void check_instruction(const Instruction& x, int depth) {
    check_attributes(x);
    switch (info_of(x.code).family) {
      case Family::kLeaf:
        return check_leaf(x);
      case Family::kUnary:
        return check_uniform(x, 1);
      case Family::kBinary:
        return check_uniform(x, 2);
      case Family::kFma:
        return check_uniform(x, 3);
      case Family::kComparison: {
        check_count(x, 2);
        const Type type = type_of(x.operands[0]);
        check_element(x, type.element);
        check_operand(x, 1, type);
        return check_result(x, {Dtype::kBool, type.vector});
      }
      case Family::kSelect:
        return check_select(x);
      case Family::kConversion:
        return check_conversion(x);
      case Family::kLanes:
        return check_lanes(x);
      case Family::kMemory:
        return check_memory(x);
      case Family::kControl:
        return x.code == Code::kFor       ? check_for(x, depth)
               : x.code == Code::kIf      ? check_if(x, depth)
               : x.code == Code::kCall    ? check_call(x)
               : x.code == Code::kBarrier ? check_count(x, 0)
                                          : check_result_of(x);
    }
  }

  void check_group(const Instruction& x) const {
    if (x.code == Code::kBarrier) require(uniform_flow_, "members of the group may take different branches to it");
    if (kernel_.group == 1) {
      require(x.code != Code::kMember && x.code != Code::kBarrier, "there is no group");
    } else {
      require(x.code != Code::kExtract && x.code != Code::kRotate && x.code != Code::kAny && x.code != Code::kScatter &&
                  x.code != Code::kCall,
              "does not work in a group");
    }
  }

  /// Whether all members of the group are known to compute the same value.
  bool is_uniform(const Instruction& x) const {
    switch (info_of(x.code).family) {
      case Family::kMemory:
      case Family::kControl:
        return false;
      default:
        return x.code != Code::kMember && std::ranges::all_of(x.operands, [&](Id id) { return uniform_[id]; });
    }
  }

  /// Checks a block that runs only if, or as often as, `uniform` values say.
  void check_branch(uint32_t index, bool uniform, int depth) {
    const bool before = uniform_flow_;
    uniform_flow_ &= uniform;
    check_block(index, depth + 1);
    uniform_flow_ = before;
  }

  void check_result(const Instruction& x, Type must_be) const {
    require(x.type == must_be, "returns {}, must return {}", to_string(x.type), to_string(must_be));
  }

  void check_leaf(const Instruction& x) const {
    check_count(x, 0);
    check_element(x, x.type.element);
    require(x.type.vector == (x.code == Code::kIota), "returns a {}, must return a {}",
            x.type.vector ? "vector" : "scalar", x.type.vector ? "scalar" : "vector");
    if (x.code == Code::kParam) {
      require(x.integer >= 0 && x.integer < kernel_.param_count, "there is no param {}", x.integer);
    }
    if (x.code != Code::kConst) return;
    if (is_float(x.type.element)) {
      require(std::isnan(x.real) || round_to(x.type.element, x.real) == x.real, "{} is not a valid {}", x.real,
              name_of(x.type.element));
    } else {
      require(wrap_to(x.type.element, x.integer) == x.integer, "{} is not a valid {}", x.integer,
              name_of(x.type.element));
    }
  }

  void check_uniform(const Instruction& x, size_t count) const {
    check_count(x, count);
    check_element(x, x.type.element);
    for (size_t k = 0; k < count; ++k) check_operand(x, k, x.type);
  }

  void check_select(const Instruction& x) const {
    check_count(x, 3);
    const Type condition = type_of(x.operands[0]);
    require(condition.element == Dtype::kBool, "the condition is {}, must be bool", to_string(condition));
    require(!condition.vector || x.type.vector, "a vector condition selects vectors, not {}", to_string(x.type));
    check_operand(x, 1, x.type);
    check_operand(x, 2, x.type);
  }

  void check_conversion(const Instruction& x) const {
    check_count(x, 1);
    const Type from = type_of(x.operands[0]);
    check_element(x, from.element);
    check_element(x, x.type.element);
    check_operand(x, 0, {from.element, x.type.vector});
    require(from.element != x.type.element, "the operand is {} already", to_string(from));
    require(x.code == Code::kConvert || size_of(from.element) == size_of(x.type.element), "{} and {} differ in size",
            to_string(from), to_string(x.type));
  }

  void check_lanes(const Instruction& x) const {
    check_count(x, 1);
    const Dtype element = x.type.element;
    check_element(x, element);
    check_operand(x, 0, {element, x.code != Code::kSplat});
    check_result(x, {element, x.code == Code::kSplat || x.code == Code::kRotate});
    require(x.integer >= 0 && x.integer < kLanes, "there is no lane {}", x.integer);
  }

  void check_memory(const Instruction& x) const {
    require(x.buffer < kernel_.buffers.size(), "there is no buffer @{}", x.buffer);
    const Buffer& buffer = kernel_.buffers[x.buffer];
    const bool writes = x.code == Code::kStore || x.code == Code::kScatter;
    const bool indexed = x.code == Code::kGather || x.code == Code::kScatter;
    check_count(x, 1 + writes + x.masked);
    check_operand(x, 0, {Dtype::kI64, indexed});
    if (x.code == Code::kPrefetch) return;
    require(!writes || buffer.kind != Buffer::Kind::kTable, "@{} is a table, which is read-only", x.buffer);
    const Type type = writes ? type_of(x.operands[1]) : x.type;
    require(type.element == buffer.dtype, "@{} holds {}, not {}", x.buffer, name_of(buffer.dtype),
            name_of(type.element));
    require(!indexed || type.vector, "a vector of indices needs a vector of values, not {}", to_string(type));
    require(type.vector || (x.code != Code::kLoadAlternate && x.code != Code::kLoadTwice), "loads vectors, not {}",
            to_string(type));
    if (!x.masked) return;
    require(type.vector, "a mask needs a vector, not {}", to_string(type));
    check_operand(x, x.operands.size() - 1, {Dtype::kBool, true});
  }

  void check_for(const Instruction& x, int depth) {
    require(x.operands.size() >= 2, "has no bounds");
    check_operand(x, 0, kIndex);
    check_operand(x, 1, kIndex);
    require(x.integer > 0, "the step is {}, must be positive", x.integer);
    require(x.blocks.size() == 1 && x.blocks[0] < kernel_.blocks.size(), "has no body");
    const Block& body = kernel_.blocks[x.blocks[0]];
    const size_t carried = x.operands.size() - 2;
    require(body.arguments.size() == carried + 1, "carries {} values but its body has {} arguments", carried,
            body.arguments.size());
    require(body.yields.size() == carried, "carries {} values but its body yields {}", carried, body.yields.size());
    for (size_t k = 0; k <= carried; ++k) {
      const Id id = body.arguments[k];
      require(id < kernel_.instructions.size() && kernel_.instructions[id].code == Code::kArgument,
              "%{} is not a block argument", id);
      check_attributes(kernel_.instructions[id]);
      check_count(kernel_.instructions[id], 0);
      const Type expected = k == 0 ? kIndex : type_of(x.operands[k + 1]);
      require(kernel_.instructions[id].type == expected, "argument {} is {}, must be {}", k,
              to_string(kernel_.instructions[id].type), to_string(expected));
    }
    const bool uniform = uniform_[x.operands[0]] && uniform_[x.operands[1]];
    uniform_[body.arguments[0]] = uniform;
    check_branch(x.blocks[0], uniform, depth);
    for (size_t k = 0; k < carried; ++k) {
      const Type next = kernel_.instructions[body.yields[k]].type;
      const Type expected = kernel_.instructions[body.arguments[k + 1]].type;
      require(next == expected, "yield {} is {}, must be {}", k, to_string(next), to_string(expected));
    }
  }

  void check_if(const Instruction& x, int depth) {
    check_count(x, 1);
    check_operand(x, 0, {Dtype::kBool, false});
    require(x.blocks.size() == 1 || x.blocks.size() == 2, "has {} blocks, must have 1 or 2", x.blocks.size());
    for (uint32_t index : x.blocks) {
      require(index < kernel_.blocks.size(), "there is no block {}", index);
      require(kernel_.blocks[index].arguments.empty() && kernel_.blocks[index].yields.empty(),
              "its blocks must have no arguments and yield nothing");
      check_branch(index, uniform_[x.operands[0]], depth);
    }
  }

  void check_call(const Instruction& x) {
    require(x.integer == static_cast<int64_t>(next_call_) && next_call_ < kernel_.calls.size(),
            "is call {}, must be call {} of {}", x.integer, next_call_, kernel_.calls.size());
    const Call& call = kernel_.calls[next_call_++];
    require(call.part < kernel_.parts.size(), "there is no part {}", call.part);
    const Kernel& part = kernel_.parts[call.part];
    require(call.first_param >= 0 && call.first_param <= kernel_.param_count - part.param_count,
            "passes {} params from {}, there are {}", part.param_count, call.first_param, kernel_.param_count);
    const size_t arguments = static_cast<size_t>(std::ranges::count_if(
        part.buffers, [](const Buffer& buffer) { return buffer.kind == Buffer::Kind::kArgument; }));
    require(call.buffers.size() == arguments, "passes {} buffers, {} takes {}", call.buffers.size(), part.name,
            arguments);
    size_t origins = 0;
    for (size_t k = 0; k < arguments; ++k) {
      require(call.buffers[k] < kernel_.buffers.size(), "there is no buffer @{}", call.buffers[k]);
      const Buffer& buffer = kernel_.buffers[call.buffers[k]];
      require(buffer.dtype == part.buffers[k].dtype, "@{} holds {}, argument {} of {} is {}", call.buffers[k],
              name_of(buffer.dtype), k, part.name, name_of(part.buffers[k].dtype));
      require(buffer.kind != Buffer::Kind::kTable, "@{} is a table, which cannot be passed to parts", call.buffers[k]);
      origins += buffer.kind == Buffer::Kind::kScratch;
    }
    check_count(x, 2 + origins);
    for (size_t k = 0; k < x.operands.size(); ++k) check_operand(x, k, kIndex);
  }

  void check_result_of(const Instruction& x) const {
    check_count(x, 1);
    const Id loop = x.operands[0];
    require(loop < kernel_.instructions.size() && in_scope_[loop], "%{} is not in scope", loop);
    const Instruction& source = kernel_.instructions[loop];
    require(source.code == Code::kFor, "%{} is not a loop", loop);
    require(x.integer >= 0 && static_cast<size_t>(x.integer) + 2 < source.operands.size(), "the loop has no result {}",
            x.integer);
    check_result(x, kernel_.instructions[source.operands[static_cast<size_t>(x.integer) + 2]].type);
  }

  const Kernel& kernel_;
  std::vector<bool> in_scope_;
  std::vector<bool> placed_;
  std::vector<bool> uniform_;  // values that all members of the group are known to share
  bool uniform_flow_ = true;   // whether all members take the same branches to the current block
  std::vector<bool> entered_;
  size_t next_call_ = 0;
  Id current_ = BrokenRule::kNone;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace lucid::loop
