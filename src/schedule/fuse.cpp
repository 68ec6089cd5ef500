#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "loop/in_turn.h"
#include "schedule/hazards.h"
#include "schedule/schedule.h"

// Steps that work on the same units of memory become one kernel. What a unit is, each step says of its buffers: some
// rows, an image, a product of a batch. The steps run in turn over a few units at a time; since every step computes its
// items as it would alone, no bit changes.
namespace lucid {
namespace {

// Below this much work a thread costs more to wake than it saves.
constexpr double kWorthAThread = 10'000;
// Joined steps keep at least as many units as this, or as many as they have threads' worth of work.
constexpr int64_t kEnoughUnits = 16;
// What the turns of a kernel touch before the first of them runs again: it should stay in the nearest cache.
constexpr int64_t kBlockBytes = int64_t{32} << 10;
// What a unit may take of scratch, and all locals of a kernel that has one unit.
constexpr int64_t kMostLocalBytes = int64_t{256} << 10;
// Vectors may reach beyond the last element of a scratch area.
constexpr int64_t kSlackBytes = 128;
// Limits on how large a kernel becomes, and how far ahead steps are looked for.
constexpr size_t kMostTurns = 48;
constexpr size_t kMostInstructions = 20'000;
constexpr size_t kLookAhead = 48;
constexpr size_t kMostNames = 4;

UnitSpan coarser(const UnitSpan& unit, int64_t times) {
  if (unit.stride < 0) return unit;
  return {unit.stride * times, unit.stride * (times - 1) + unit.bytes, unit.rows, unit.pitch};
}

/// A step with what fusing asks about it.
struct Candidate {
  KernelStep step;
  std::vector<bool> writes;  // for each buffer

  /// Host functions run by themselves.
  bool is_kernel() const { return step.host < 0; }
  int64_t units() const { return step.items / step.unit_items; }
  double total() const { return step.nanoseconds * static_cast<double>(step.items); }
};

/// How all turns of a run use one buffer.
struct SharedUse {
  BufferUse use;
  Dtype dtype = Dtype::kF32;
  bool is_written = false;
  bool is_uniform = true;  // with one offset and one dtype
};

/// Steps that will be one kernel.
class Run {
 public:
  explicit Run(Candidate first) : units_(first.units()) { add(std::move(first)); }

  bool accepts(const Candidate& next) const {
    if (turns_.size() == kMostTurns || instructions_ + next.step.kernel.instructions.size() > kMostInstructions)
      return false;
    const int64_t units = std::gcd(units_, next.units());
    const double total = total_ + next.total();
    const auto threads = static_cast<int64_t>(total / kWorthAThread);
    if (units < std::min(kEnoughUnits, std::max<int64_t>(threads, 1))) return false;
    return shares(next, units, threads <= 1);
  }

  void add(Candidate next) {
    const int64_t units = std::gcd(units_, next.units());
    for (auto& [_, shared] : uses_) shared.use.unit = coarser(shared.use.unit, units_ / units);
    units_ = units;
    for (size_t i = 0; i < next.step.buffers.size(); ++i) {
      const SharedUse own = use_of(next, i, units);
      const auto [found, is_new] = uses_.try_emplace(key_of(own.use), own);
      if (is_new) continue;
      SharedUse& known = found->second;
      known.is_uniform = known.is_uniform && agree(known, own);
      known.is_written = known.is_written || own.is_written;
      if (!known.use.unit.follows(own.use.unit)) known.use.unit = {};
      known.use.unit.bytes = std::max(known.use.unit.bytes, own.use.unit.bytes);
    }
    total_ += next.total();
    instructions_ += next.step.kernel.instructions.size();
    turns_.push_back(std::move(next));
  }

  size_t size() const { return turns_.size(); }

  /// `is_own` tells whether nobody but the given number of turns uses a buffer.
  template <typename IsOwn>
  KernelStep finish(const Schedule& schedule, size_t first_turn, const IsOwn& is_own) && {
    if (turns_.size() == 1) {
      set_turn(turns_.front().step, first_turn);
      return std::move(turns_.front().step);
    }
    block_ = units_ == 1 ? 1 : std::clamp<int64_t>(kBlockBytes / unit_bytes(), 1, units_);
    for (const auto& [key, shared] : uses_)
      if (const auto local = local_of(shared, bytes_of(schedule, key, shared.dtype));
          local && is_own(key, count_of(key)))
        make_local(key, *local);
    return joined(first_turn);
  }

 private:
  struct LocalUse {
    loop::Local local;
    int64_t unit_elements = 0;
  };

  static SharedUse use_of(const Candidate& candidate, size_t buffer, int64_t units) {
    SharedUse own{candidate.step.buffers[buffer], candidate.step.kernel.buffers[buffer].dtype, candidate.writes[buffer],
                  true};
    own.use.unit = coarser(own.use.unit, candidate.units() / units);
    return own;
  }

  static bool agree(const SharedUse& a, const SharedUse& b) {
    return a.use.byte_offset == b.use.byte_offset && a.dtype == b.dtype;
  }

  /// Whether each unit of `next` needs of the others only what their same unit made. Steps that have nothing in common
  /// are joined only if they are small.
  bool shares(const Candidate& next, int64_t units, bool is_small) const {
    bool has_common = is_small;
    for (size_t i = 0; i < next.step.buffers.size(); ++i) {
      const SharedUse own = use_of(next, i, units);
      const auto found = uses_.find(key_of(own.use));
      if (found == uses_.end() || own.use.kind == BufferUse::Kind::kError) continue;
      const SharedUse& known = found->second;
      const UnitSpan unit = coarser(known.use.unit, units_ / units);
      const bool is_same = unit.follows(own.use.unit) && unit.is_disjoint() && own.use.unit.is_disjoint();
      has_common = has_common || is_same;
      if (!known.is_written && !own.is_written) continue;
      if (!known.is_uniform || !agree(known, own)) return false;
      if (units > 1 && !is_same) return false;
    }
    return has_common;
  }

  int64_t unit_bytes() const {
    int64_t total = 1;
    for (const auto& [_, shared] : uses_)
      if (shared.use.unit.is_disjoint()) total += shared.use.unit.bytes * shared.use.unit.rows;
    return total;
  }

  size_t count_of(const MemoryKey& key) const {
    return static_cast<size_t>(std::count_if(turns_.begin(), turns_.end(), [&](const Candidate& turn) {
      return std::any_of(turn.step.buffers.begin(), turn.step.buffers.end(),
                         [&](const BufferUse& use) { return key_of(use) == key; });
    }));
  }

  /// The local that can stand for a buffer.
  std::optional<LocalUse> local_of(const SharedUse& shared, int64_t bytes) const {
    const bool has_place = shared.use.kind != BufferUse::Kind::kError && shared.is_written && shared.is_uniform;
    const auto element = static_cast<int64_t>(size_of(shared.dtype));
    const UnitSpan& unit = shared.use.unit;
    if (!has_place || (units_ > 1 && (!unit.is_disjoint() || unit.rows != 1 || unit.stride % element != 0)))
      return std::nullopt;
    const int64_t needed = units_ == 1 ? bytes : unit.stride * (block_ - 1) + unit.bytes;
    if (local_bytes_ + needed > kMostLocalBytes) return std::nullopt;
    // A power of two, so that kernels for sizes near to each other are one.
    const auto count = std::bit_ceil(static_cast<uint64_t>((needed + kSlackBytes) / element));
    return LocalUse{{shared.dtype, static_cast<int64_t>(count)}, units_ == 1 ? 0 : unit.stride / element};
  }

  void make_local(const MemoryKey& key, const LocalUse& local) {
    locals_.emplace(key, local);
    local_bytes_ += local.local.count * static_cast<int64_t>(size_of(local.local.dtype));
  }

  KernelStep joined(size_t first_turn) const {
    KernelStep step;
    std::vector<std::pair<BufferUse, Dtype>> arguments;
    const auto argument = [&](const BufferUse& use, Dtype dtype) {
      return static_cast<uint32_t>(std::find_if(arguments.begin(), arguments.end(),
                                                [&](const auto& known) {
                                                  return key_of(known.first) == key_of(use) &&
                                                         known.first.byte_offset == use.byte_offset &&
                                                         known.second == dtype;
                                                }) -
                                   arguments.begin());
    };
    for (size_t t = 0; t < turns_.size(); ++t) {
      for (size_t i = 0; i < turns_[t].step.buffers.size(); ++i) {
        BufferUse use = turns_[t].step.buffers[i];
        if (locals_.contains(key_of(use))) continue;
        const Dtype dtype = turns_[t].step.kernel.buffers[i].dtype;
        const SharedUse& shared = uses_.at(key_of(use));
        use.unit = shared.use.unit;
        use.first_turn = use.last_turn = first_turn + t;
        const size_t known = argument(use, dtype);
        if (known == arguments.size()) arguments.emplace_back(use, dtype);
        arguments[known].first.last_turn = use.last_turn;
        arguments[known].first.last_order = use.last_order;
      }
    }

    std::vector<loop::Turn> turns;
    for (const Candidate& turn : turns_) {
      loop::Turn& next = turns.emplace_back(loop::Turn{&turn.step.kernel, {}});
      for (size_t i = 0; i < turn.step.buffers.size(); ++i) {
        const BufferUse& use = turn.step.buffers[i];
        const auto local = locals_.find(key_of(use));
        next.buffers.push_back(local == locals_.end()
                                   ? argument(use, turn.step.kernel.buffers[i].dtype)
                                   : static_cast<uint32_t>(arguments.size()) +
                                         static_cast<uint32_t>(std::distance(locals_.begin(), local)));
      }
      step.params.insert(step.params.end(), turn.step.params.begin(), turn.step.params.end());
    }
    step.params.push_back(block_);
    for (const Candidate& turn : turns_) step.params.push_back(turn.step.items / units_);
    std::vector<loop::Local> locals;
    for (const auto& [_, local] : locals_) {
      locals.push_back(local.local);
      step.params.push_back(local.unit_elements);
    }
    std::vector<Dtype> dtypes;
    for (const auto& [use, dtype] : arguments) {
      step.buffers.push_back(use);
      dtypes.push_back(dtype);
    }
    step.kernel = loop::in_turn(name(), turns, dtypes, locals);
    step.items = units_;
    step.nanoseconds = total_ / static_cast<double>(units_);
    return step;
  }

  std::string name() const {
    std::string name;
    const size_t shown = std::min(turns_.size(), kMostNames);
    for (size_t i = 0; i < shown; ++i) name += (i ? "__" : "") + turns_[i].step.kernel.name;
    return turns_.size() > shown ? name + "__" + std::to_string(turns_.size() - shown) + "_more" : name;
  }

  std::vector<Candidate> turns_;
  int64_t units_;
  double total_ = 0;
  size_t instructions_ = 0;
  std::map<MemoryKey, SharedUse> uses_;
  int64_t block_ = 1;
  std::map<MemoryKey, LocalUse> locals_;
  int64_t local_bytes_ = 0;
};

}  // namespace

int64_t grain_of(const KernelStep& step) {
  return std::max<int64_t>(1, static_cast<int64_t>(kWorthAThread / std::max(step.nanoseconds, 0.01)));
}

void set_turn(KernelStep& step, size_t turn) {
  for (BufferUse& use : step.buffers) use.first_turn = use.last_turn = turn;
}

void number_turns(Schedule& schedule) {
  for (size_t turn = 0; turn < schedule.steps.size(); ++turn) set_turn(schedule.steps[turn], turn);
}

bool fuse_steps(Schedule& schedule, const std::set<ValueId>& outside) {
  std::vector<Candidate> steps;
  std::set<ValueId> computed;
  Users users(schedule.steps);
  for (KernelStep& step : schedule.steps) {
    Candidate candidate{std::move(step), {}};
    candidate.writes = writes_of(candidate.step);
    for (size_t i = 0; i < candidate.step.buffers.size(); ++i) {
      const BufferUse& use = candidate.step.buffers[i];
      if (candidate.writes[i] && use.kind == BufferUse::Kind::kValue) computed.insert(use.index);
    }
    steps.push_back(std::move(candidate));
  }
  schedule.steps.clear();
  // What is made of an input alone may be kept from run to run: it comes first, by itself.
  const auto is_kept = [&](const Candidate& candidate) {
    return candidate.step.packs >= 0 && !computed.contains(candidate.step.packs);
  };
  bool changed = !std::is_partitioned(steps.begin(), steps.end(), is_kept);
  for (Candidate& candidate : steps)
    if (is_kept(candidate)) schedule.steps.push_back(std::move(candidate.step));
  std::erase_if(steps, is_kept);
  number_turns(schedule);

  const auto is_own = [&](const MemoryKey& key, size_t uses) {
    return users.in_all(key) == uses && !(key.first == BufferUse::Kind::kValue && outside.contains(key.second));
  };
  size_t turn = schedule.steps.size();
  std::vector<bool> taken(steps.size());
  for (size_t first = 0; first < steps.size(); ++first) {
    if (taken[first]) continue;
    users.remove(steps[first].step);
    if (!steps[first].is_kernel()) {
      set_turn(steps[first].step, turn++);
      schedule.steps.push_back(std::move(steps[first].step));
      continue;
    }
    Run run(std::move(steps[first]));
    Accesses passed;
    size_t looked = 0;
    for (size_t next = first + 1; next < steps.size() && looked < kLookAhead; ++next) {
      if (taken[next]) continue;
      const auto& [step, writes] = steps[next];
      if (steps[next].is_kernel() && passed.allows(step, writes) &&
          users.may_come_early(schedule, step, writes, outside, looked) && run.accepts(steps[next])) {
        taken[next] = true;
        users.remove(step);
        run.add(std::move(steps[next]));
      } else {
        passed.add(step, writes);
        ++looked;
      }
    }
    const size_t turns = run.size();
    changed = changed || turns > 1;
    schedule.steps.push_back(std::move(run).finish(schedule, turn, is_own));
    turn += turns;
  }
  return changed;
}

}  // namespace lucid
