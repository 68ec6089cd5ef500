#include "spirv/lane_access.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "loop/codes.h"

namespace lucid::spirv {
namespace {

using loop::Buffer;
using loop::Code;
using loop::Instruction;
using loop::kLanes;

constexpr loop::Id kNoLoop = ~loop::Id{0};

/// An index modulo kLanes, as a polynomial: products of values, each with its coefficient; a constant is the
/// coefficient of the empty product. The values do not change between the accesses that are compared, so two accesses
/// of adjacent elements with equal residues use the same lane for each element.
using Residue = std::map<std::vector<loop::Id>, int64_t>;

/// More terms than the index of an element has. Longer polynomials are given up.
constexpr size_t kMaxTerms = 16;

void add_term(Residue& residue, const std::vector<loop::Id>& product, int64_t coefficient) {
  int64_t& term = residue[product];
  term = (term + coefficient) & (kLanes - 1);
  if (term == 0) residue.erase(product);
}

Residue constant_residue(int64_t constant) {
  Residue residue;
  add_term(residue, {}, constant);
  return residue;
}

Residue sum(Residue x, const Residue& y, int64_t factor) {
  for (const auto& [product, coefficient] : y) add_term(x, product, factor * coefficient);
  return x;
}

std::optional<Residue> product(const Residue& x, const Residue& y) {
  Residue result;
  for (const auto& [left, left_coefficient] : x) {
    for (const auto& [right, right_coefficient] : y) {
      std::vector<loop::Id> both;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
      if (both.size() > kMaxTerms || result.size() > kMaxTerms) return {};
      add_term(result, both, left_coefficient * right_coefficient);
    }
  }
  return result;
}

bool accesses_memory(const Instruction& instruction) {
  return loop::info_of(instruction.code).family == loop::Family::kMemory && instruction.code != Code::kPrefetch;
}

bool writes(const Instruction& instruction) { return !loop::has_result(instruction.code); }

class Analysis {
 public:
  explicit Analysis(const loop::Kernel& kernel)
      : kernel_(kernel), loop_of_(kernel.instructions.size(), kNoLoop), result_(kernel.instructions.size()) {}

  std::vector<LaneAccess> run() {
    if (kernel_.group != 1) return std::move(result_);
    visit(0, kNoLoop);
    for (loop::Id id = 0; id < kernel_.instructions.size(); ++id) {
      if (accesses_memory(kernel_.instructions[id])) accesses_[kernel_.instructions[id].buffer].push_back(id);
    }
    for (const auto& [buffer, accesses] : accesses_) {
      for (loop::Id id : accesses) result_[id].pattern = pattern_of(id);
      if (conflicts(accesses)) groups_[buffer] = buffer + 1;
    }
    join_aliases();
    for (const auto& [buffer, group] : groups_) {
      for (loop::Id id : accesses_[buffer]) result_[id].group = group;
    }
    return std::move(result_);
  }

 private:
  /// Records the innermost loop around each instruction, and the arguments of loops.
  void visit(uint32_t index, loop::Id loop) {
    const loop::Block& block = kernel_.blocks[index];
    for (loop::Id id : block.arguments) loop_of_[id] = loop;
    if (!block.arguments.empty()) counters_[block.arguments[0]] = loop;
    for (loop::Id id : block.instructions) {
      loop_of_[id] = loop;
      const Instruction& current = kernel_.instructions[id];
      if (current.code == Code::kFor && loop == kNoLoop && is_over_items(current)) item_loops_.push_back(id);
      for (uint32_t inner : current.blocks) visit(inner, current.code == Code::kFor ? id : loop);
    }
  }

  bool is_over_items(const Instruction& loop) const {
    return kernel_.instructions[loop.operands[0]].code == Code::kBegin &&
           kernel_.instructions[loop.operands[1]].code == Code::kEnd;
  }

  bool is_item_loop(loop::Id loop) const {
    return std::find(item_loops_.begin(), item_loops_.end(), loop) != item_loops_.end();
  }

  bool is_scratch(loop::Id access) const {
    return kernel_.buffers[kernel_.instructions[access].buffer].kind == Buffer::Kind::kScratch;
  }

  /// Whether code in `loop` runs once only, as far as an access matters. Items are independent, except that all use the
  /// same scratch.
  bool runs_once(loop::Id loop, bool scratch) const { return loop == kNoLoop || (!scratch && is_item_loop(loop)); }

  const std::optional<Residue>& residue_of(loop::Id id, bool scratch) {
    const auto [found, is_new] = residues_.try_emplace({id, scratch});
    if (is_new) found->second = find_residue(id, scratch);
    return found->second;
  }

  std::optional<Residue> find_residue(loop::Id id, bool scratch) {
    const Instruction& current = kernel_.instructions[id];
    const auto of = [&](size_t operand) -> const auto& { return residue_of(current.operands[operand], scratch); };
    switch (current.code) {
      case Code::kConst:
        return constant_residue(current.integer);
      case Code::kAdd:
      case Code::kSub: {
        const auto &x = of(0), &y = of(1);
        if (x && y) return sum(*x, *y, current.code == Code::kAdd ? 1 : -1);
        break;
      }
      case Code::kMul: {
        const auto &x = of(0), &y = of(1);
        // A multiple of kLanes, whatever the other factor is.
        if ((x && x->empty()) || (y && y->empty())) return Residue();
        if (x && y) return product(*x, *y);
        break;
      }
      case Code::kConvert:
        // Between i32 and i64.
        if (size_of(kernel_.instructions[current.operands[0]].type.element) >= sizeof(int32_t)) return of(0);
        break;
      case Code::kArgument: {
        const auto counter = counters_.find(id);
        if (counter == counters_.end()) break;
        const Instruction& loop = kernel_.instructions[counter->second];
        if (loop.integer % kLanes == 0) return residue_of(loop.operands[0], scratch);
        break;
      }
      default:
        break;
    }
    if (!runs_once(loop_of_[id], scratch)) return {};
    return Residue{{{id}, 1}};
  }

  uint32_t pattern_of(loop::Id id) {
    const Instruction& current = kernel_.instructions[id];
    const bool vector = (writes(current) ? kernel_.instructions[current.operands[1]].type : current.type).vector;
    // Lane 0 stores scalars; all lanes load them.
    if (!vector) return writes(current) ? 1 : 0;
    if (current.code != Code::kLoad && current.code != Code::kStore) return 0;
    const auto& residue = residue_of(current.operands[0], is_scratch(id));
    if (!residue) return 0;
    const auto next = static_cast<uint32_t>(patterns_.size() + 2);
    return patterns_.try_emplace(*residue, next).first->second;
  }

  bool conflicts(const std::vector<loop::Id>& accesses) const {
    const auto is_write = [&](loop::Id id) { return writes(kernel_.instructions[id]); };
    if (std::none_of(accesses.begin(), accesses.end(), is_write)) return false;
    if (accesses.size() == 1 && runs_once(loop_of_[accesses[0]], is_scratch(accesses[0]))) return false;
    const uint32_t pattern = result_[accesses[0]].pattern;
    return pattern == 0 ||
           std::any_of(accesses.begin(), accesses.end(), [&](loop::Id id) { return result_[id].pattern != pattern; });
  }

  /// A result may share the memory of an operand whose elements are used only for the result's element with the same
  /// index. If both are scalars, lane 0 must not store before the other lanes have loaded.
  void join_aliases() {
    std::map<loop::Id, std::vector<uint32_t>> loaded;  // buffers, by index
    for (const Instruction& current : kernel_.instructions) {
      if (is_scalar_access(current, Code::kLoad)) loaded[current.operands[0]].push_back(current.buffer);
    }
    for (const Instruction& current : kernel_.instructions) {
      if (!is_scalar_access(current, Code::kStore)) continue;
      for (uint32_t buffer : loaded[current.operands[0]]) {
        const bool fits = size_of(kernel_.buffers[buffer].dtype) == size_of(kernel_.buffers[current.buffer].dtype);
        if (buffer != current.buffer && fits) join(buffer, current.buffer);
      }
    }
  }

  bool is_scalar_access(const Instruction& current, Code code) const {
    if (current.code != code || kernel_.buffers[current.buffer].kind != Buffer::Kind::kArgument) return false;
    return !(code == Code::kStore ? kernel_.instructions[current.operands[1]].type : current.type).vector;
  }

  void join(uint32_t x, uint32_t y) {
    const uint32_t group = groups_.try_emplace(x, x + 1).first->second;
    const uint32_t old = groups_.try_emplace(y, y + 1).first->second;
    for (auto& [buffer, other] : groups_) {
      if (other == old) other = group;
    }
  }

  const loop::Kernel& kernel_;
  std::vector<loop::Id> loop_of_;          // by instruction; kNoLoop outside of loops
  std::map<loop::Id, loop::Id> counters_;  // loop variables to their loops
  std::vector<loop::Id> item_loops_;
  std::map<uint32_t, std::vector<loop::Id>> accesses_;                    // by buffer
  std::map<uint32_t, uint32_t> groups_;                                   // of buffers whose accesses conflict
  std::map<std::pair<loop::Id, bool>, std::optional<Residue>> residues_;  // by instruction and whether for scratch
  std::map<Residue, uint32_t> patterns_;
  std::vector<LaneAccess> result_;
};

}  // namespace

std::vector<LaneAccess> lane_accesses(const loop::Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace lucid::spirv
