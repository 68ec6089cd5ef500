#include "loop/in_turn.h"

#include <algorithm>
#include <map>

#include "loop/canonical.h"
#include "loop/codes.h"

namespace lucid::loop {
namespace {

constexpr Type kIndex = {Dtype::kI64, false};
constexpr uint32_t kBody = 0;
constexpr uint32_t kUnits = 1;  // the block that runs for some units

class Joiner {
 public:
  Joiner(std::string name, std::span<const Dtype> arguments, std::span<const Local> locals)
      : argument_count_(arguments.size()) {
    result_.name = std::move(name);
    for (Dtype dtype : arguments) result_.buffers.push_back({Buffer::Kind::kArgument, dtype, 0, {}});
    for (const Local& local : locals) result_.buffers.push_back({Buffer::Kind::kScratch, local.dtype, local.count, {}});
    result_.blocks.resize(2);
  }

  Kernel run(std::span<const Turn> turns, size_t local_count) {
    for (const Turn& turn : turns) result_.param_count += turn.kernel->param_count;
    int64_t next_param = result_.param_count;
    result_.param_count += static_cast<int64_t>(1 + turns.size() + local_count);

    place_ = kBody;
    const Id begin = emit(kBody, {.code = Code::kBegin, .type = kIndex});
    const Id end = emit(kBody, {.code = Code::kEnd, .type = kIndex});
    const Id block = param(next_param++);
    const Id rounded = binary(Code::kAdd, binary(Code::kSub, end, begin), binary(Code::kSub, block, number(1)));
    const Id blocks = binary(Code::kDiv, rounded, block);
    const Id counter = add({.code = Code::kArgument, .type = kIndex});
    result_.blocks[kUnits].arguments = {counter};
    emit(kBody, {.code = Code::kFor, .type = {}, .operands = {number(0), blocks}, .integer = 1, .blocks = {kUnits}});
    place_ = kUnits;
    const Id unit = binary(Code::kAdd, begin, binary(Code::kMul, counter, block));
    const Id stop = binary(Code::kMin, binary(Code::kAdd, unit, block), end);

    std::vector<Id> items;
    for (size_t i = 0; i < turns.size(); ++i) items.push_back(param(next_param++));
    for (size_t i = 0; i < local_count; ++i) starts_.push_back(binary(Code::kMul, unit, param(next_param++)));
    for (size_t i = 0; i < turns.size(); ++i) {
      begin_ = binary(Code::kMul, unit, items[i]);
      end_ = binary(Code::kMul, stop, items[i]);
      append(turns[i]);
    }
    return canonical(result_);
  }

 private:
  Id add(Instruction instruction) {
    result_.instructions.push_back(std::move(instruction));
    return static_cast<Id>(result_.instructions.size() - 1);
  }
  Id emit(uint32_t block, Instruction instruction) {
    const Id id = add(std::move(instruction));
    result_.blocks[block].instructions.push_back(id);
    return id;
  }
  Id binary(Code code, Id x, Id y) { return emit(place_, {.code = code, .type = kIndex, .operands = {x, y}}); }
  Id param(int64_t number) { return emit(place_, {.code = Code::kParam, .type = kIndex, .integer = number}); }
  Id number(int64_t value) { return emit(place_, {.code = Code::kConst, .type = kIndex, .integer = value}); }

  void append(const Turn& turn) {
    turn_ = &turn;
    ids_.assign(turn.kernel->instructions.size(), 0);
    place_buffers(turn);
    copy_block(0, kUnits);
    first_param_ += turn.kernel->param_count;
  }

  /// Scratch is empty when a kernel begins, so turns share theirs.
  void place_buffers(const Turn& turn) {
    buffers_ = turn.buffers;
    std::map<Dtype, size_t> taken;
    for (size_t i = buffers_.size(); i < turn.kernel->buffers.size(); ++i) {
      const Buffer& buffer = turn.kernel->buffers[i];
      std::vector<uint32_t>& shared = scratch_[buffer.dtype];
      const bool is_scratch = buffer.kind == Buffer::Kind::kScratch;
      const size_t number = is_scratch ? taken[buffer.dtype]++ : shared.size();
      if (is_scratch && number < shared.size()) {
        buffers_.push_back(shared[number]);
        int64_t& count = result_.buffers[shared[number]].count;
        count = std::max(count, buffer.count);
        continue;
      }
      buffers_.push_back(static_cast<uint32_t>(result_.buffers.size()));
      result_.buffers.push_back(buffer);
      if (is_scratch) shared.push_back(buffers_.back());
    }
  }

  void copy_block(uint32_t from, uint32_t to) {
    const Block& source = turn_->kernel->blocks[from];
    for (Id id : source.arguments) {
      ids_[id] = add(turn_->kernel->instructions[id]);
      result_.blocks[to].arguments.push_back(ids_[id]);
    }
    for (Id id : source.instructions) ids_[id] = copy(turn_->kernel->instructions[id], to);
    for (Id id : source.yields) result_.blocks[to].yields.push_back(ids_[id]);
  }

  Id copy(Instruction instruction, uint32_t to) {
    if (instruction.code == Code::kBegin) return begin_;
    if (instruction.code == Code::kEnd) return end_;
    if (instruction.code == Code::kParam) instruction.integer += first_param_;
    for (Id& id : instruction.operands) id = ids_[id];
    if (info_of(instruction.code).family == Family::kMemory) {
      instruction.buffer = buffers_[instruction.buffer];
      move_index(instruction, to);
    }
    for (uint32_t& block : instruction.blocks) {
      const auto copied = static_cast<uint32_t>(result_.blocks.size());
      result_.blocks.emplace_back();
      copy_block(block, copied);
      block = copied;
    }
    return emit(to, std::move(instruction));
  }

  /// In a local, the elements of the first unit of the block come first.
  void move_index(Instruction& access, uint32_t to) {
    if (access.buffer < argument_count_ || access.buffer >= argument_count_ + starts_.size()) return;
    Id start = starts_[access.buffer - argument_count_];
    Id& index = access.operands[0];
    const Type type = result_.instructions[index].type;
    if (type.vector) start = emit(to, {.code = Code::kSplat, .type = type, .operands = {start}});
    index = emit(to, {.code = Code::kSub, .type = type, .operands = {index, start}});
  }

  size_t argument_count_;
  Kernel result_;
  uint32_t place_ = kBody;  // the block that is being written
  std::vector<Id> starts_;  // of each local, the index of its first element
  std::map<Dtype, std::vector<uint32_t>> scratch_;

  // Of the turn that is being appended.
  const Turn* turn_ = nullptr;
  std::vector<Id> ids_;
  std::vector<uint32_t> buffers_;
  int64_t first_param_ = 0;
  Id begin_ = 0;
  Id end_ = 0;
};

}  // namespace

Kernel in_turn(std::string name, std::span<const Turn> turns, std::span<const Dtype> arguments,
               std::span<const Local> locals) {
  Kernel kernel = Joiner(std::move(name), arguments, locals).run(turns, locals.size());
  verify(kernel);
  return kernel;
}

}  // namespace lucid::loop
