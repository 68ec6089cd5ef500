#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/dim_math.h"
#include "loop/staged_kernel.h"
#include "schedule/hazards.h"
#include "schedule/schedule.h"

// Joins steps that work on the same tiles of memory into one kernel. Each step declares its tile on its buffers: some
// rows, an image, a product of a batch. The joined steps run one after another over a few tiles at a time. Every step
// computes its items as it would alone, so no bit changes.
namespace lucid {
namespace {

// With less work than this, in nanoseconds, waking a thread costs more than it saves.
constexpr double kMinThreadNanoseconds = 10'000;
// Joining leaves at least this many tiles, or one for each thread that the work justifies if that is fewer.
constexpr int64_t kMinTiles = 16;
// Bytes that the stages touch before the first of them runs again. They should stay in the nearest cache.
constexpr int64_t kBlockBytes = int64_t{32} << 10;
// Maximum size of all locals of a kernel.
constexpr int64_t kMaxLocalBytes = int64_t{256} << 10;
// Vector accesses may extend past the last element of a scratch area.
constexpr int64_t kSlackBytes = 128;
// Limits on the size of a kernel and on how far ahead steps are searched.
constexpr size_t kMaxStages = 48;
constexpr size_t kMaxInstructions = 20'000;
constexpr size_t kLookAhead = 48;
constexpr size_t kMaxNames = 4;

TileSpan coarser(const TileSpan& tile, SymInt times) {
  if (tile.stride < 0) return tile;
  return {tile.stride * times, tile.stride * (times - 1) + tile.bytes, tile.rows, tile.pitch};
}

/// A step and the properties that fusion depends on.
struct Candidate {
  KernelStep step;
  std::vector<bool> writes;  // for each buffer

  /// Host functions are not fused.
  bool is_kernel() const { return !step.host; }
  SymInt tiles() const { return step.items / step.tile_items; }
  double total() const { return step.nanoseconds * static_cast<double>(step.items.unguarded()); }
};

/// How the stages of a fused kernel use one buffer.
struct SharedUse {
  BufferUse use;
  Dtype dtype = Dtype::kF32;
  bool is_written = false;
  bool is_uniform = true;  // all with the same offset and dtype
};

/// Steps to be joined into one kernel.
class FusedKernel {
 public:
  explicit FusedKernel(Candidate first) : tiles_(first.tiles()) { add(std::move(first)); }

  bool accepts(const Candidate& next) const {
    if (stages_.size() == kMaxStages || instructions_ + next.step.kernel->instructions.size() > kMaxInstructions)
      return false;
    const SymInt tiles = common_divisor(tiles_, next.tiles());
    const double total = total_ + next.total();
    const auto threads = static_cast<int64_t>(total / kMinThreadNanoseconds);
    if (tiles.unguarded() < std::min(kMinTiles, std::max<int64_t>(threads, 1))) return false;
    return shares(next, tiles, threads <= 1);
  }

  void add(Candidate next) {
    const SymInt tiles = common_divisor(tiles_, next.tiles());
    for (auto& [_, shared] : uses_) shared.use.tile = coarser(shared.use.tile, tiles_ / tiles);
    tiles_ = tiles;
    for (size_t i = 0; i < next.step.buffers.size(); ++i) {
      const SharedUse own = use_of(next, i, tiles);
      const auto [found, is_new] = uses_.try_emplace(key_of(own.use), own);
      if (is_new) continue;
      SharedUse& known = found->second;
      known.is_uniform = known.is_uniform && agree(known, own);
      known.is_written = known.is_written || own.is_written;
      if (!known.use.tile.same_strides(own.use.tile)) known.use.tile = {};
      known.use.tile.bytes = std::max(known.use.tile.bytes, own.use.tile.bytes);
    }
    total_ += next.total();
    instructions_ += next.step.kernel->instructions.size();
    stages_.push_back(std::move(next));
  }

  size_t size() const { return stages_.size(); }

  /// `is_private(key, n)` returns whether only the given number of stages use a buffer.
  template <typename IsPrivate>
  KernelStep finish(const Schedule& schedule, size_t first_stage, const IsPrivate& is_private) && {
    if (stages_.size() == 1) {
      set_stage(stages_.front().step, first_stage);
      return std::move(stages_.front().step);
    }
    block_ = tiles_ == 1 ? 1 : std::clamp<int64_t>(kBlockBytes / tile_bytes(), 1, tiles_.unguarded());
    for (const auto& [key, shared] : uses_)
      if (const auto local = local_of(shared, bytes_of(schedule, key, shared.dtype));
          local && is_private(key, count_of(key)))
        make_local(key, *local);
    return joined(first_stage);
  }

 private:
  struct LocalUse {
    loop::Local local;
    SymInt tile_elements = 0;
  };

  static SharedUse use_of(const Candidate& candidate, size_t buffer, SymInt tiles) {
    SharedUse own{candidate.step.buffers[buffer], candidate.step.kernel->buffers[buffer].dtype,
                  candidate.writes[buffer], true};
    own.use.tile = coarser(own.use.tile, candidate.tiles() / tiles);
    return own;
  }

  static bool agree(const SharedUse& a, const SharedUse& b) {
    return a.use.byte_offset == b.use.byte_offset && a.dtype == b.dtype;
  }

  /// Whether each tile of `next` depends only on the same tile of the other stages. Steps that share no buffer are
  /// joined only if they are small.
  bool shares(const Candidate& next, SymInt tiles, bool is_small) const {
    bool has_common = is_small;
    for (size_t i = 0; i < next.step.buffers.size(); ++i) {
      const SharedUse own = use_of(next, i, tiles);
      const auto found = uses_.find(key_of(own.use));
      if (found == uses_.end() || own.use.kind == BufferUse::Kind::kError) continue;
      const SharedUse& known = found->second;
      const TileSpan tile = coarser(known.use.tile, tiles_ / tiles);
      const bool is_same = tile.same_strides(own.use.tile) && tile.is_disjoint() && own.use.tile.is_disjoint();
      has_common = has_common || is_same;
      if (!known.is_written && !own.is_written) continue;
      if (!known.is_uniform || !agree(known, own)) return false;
      if (tiles > 1 && !is_same) return false;
    }
    return has_common;
  }

  /// An estimate of what the stages touch for a tile.
  int64_t tile_bytes() const {
    int64_t total = 1;
    for (const auto& [_, shared] : uses_)
      if (shared.use.tile.is_disjoint()) total += shared.use.tile.bytes.unguarded() * shared.use.tile.rows.unguarded();
    return total;
  }

  size_t count_of(const MemoryKey& key) const {
    return static_cast<size_t>(std::count_if(stages_.begin(), stages_.end(), [&](const Candidate& stage) {
      return std::any_of(stage.step.buffers.begin(), stage.step.buffers.end(),
                         [&](const BufferUse& use) { return key_of(use) == key; });
    }));
  }

  /// The local buffer that can replace a buffer, if any.
  std::optional<LocalUse> local_of(const SharedUse& shared, SymInt bytes) const {
    const bool is_eligible = shared.use.kind != BufferUse::Kind::kError && shared.is_written && shared.is_uniform;
    const auto element = static_cast<int64_t>(size_of(shared.dtype));
    const TileSpan& tile = shared.use.tile;
    if (!is_eligible || (tiles_ > 1 && (!tile.is_disjoint() || tile.rows != 1 || !is_multiple(tile.stride, element))))
      return std::nullopt;
    const SymInt needed = tiles_ == 1 ? bytes : tile.stride * (block_ - 1) + tile.bytes;
    if (local_bytes_ + needed > kMaxLocalBytes) return std::nullopt;
    // A power of two, so that similar sizes share a kernel.
    const int64_t count = bit_ceil((needed + kSlackBytes) / element);
    return LocalUse{{shared.dtype, count}, tiles_ == 1 ? SymInt(0) : tile.stride / element};
  }

  void make_local(const MemoryKey& key, const LocalUse& local) {
    locals_.emplace(key, local);
    local_bytes_ += local.local.count * static_cast<int64_t>(size_of(local.local.dtype));
  }

  KernelStep joined(size_t first_stage) const {
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
    for (size_t t = 0; t < stages_.size(); ++t) {
      for (size_t i = 0; i < stages_[t].step.buffers.size(); ++i) {
        BufferUse use = stages_[t].step.buffers[i];
        if (locals_.contains(key_of(use))) continue;
        const Dtype dtype = stages_[t].step.kernel->buffers[i].dtype;
        const SharedUse& shared = uses_.at(key_of(use));
        use.tile = shared.use.tile;
        use.first_stage = use.last_stage = first_stage + t;
        const size_t known = argument(use, dtype);
        if (known == arguments.size()) arguments.emplace_back(use, dtype);
        arguments[known].first.last_stage = use.last_stage;
        arguments[known].first.last_order = use.last_order;
      }
    }

    std::vector<loop::Stage> stages;
    for (const Candidate& stage : stages_) {
      loop::Stage& next = stages.emplace_back(loop::Stage{stage.step.kernel.get(), {}});
      for (size_t i = 0; i < stage.step.buffers.size(); ++i) {
        const BufferUse& use = stage.step.buffers[i];
        const auto local = locals_.find(key_of(use));
        next.buffers.push_back(local == locals_.end()
                                   ? argument(use, stage.step.kernel->buffers[i].dtype)
                                   : static_cast<uint32_t>(arguments.size()) +
                                         static_cast<uint32_t>(std::distance(locals_.begin(), local)));
      }
      step.params.insert(step.params.end(), stage.step.params.begin(), stage.step.params.end());
    }
    step.params.push_back(block_);
    for (const Candidate& stage : stages_) step.params.push_back(stage.step.items / tiles_);
    std::vector<loop::Local> locals;
    for (const auto& [_, local] : locals_) {
      locals.push_back(local.local);
      step.params.push_back(local.tile_elements);
    }
    std::vector<Dtype> dtypes;
    for (const auto& [use, dtype] : arguments) {
      step.buffers.push_back(use);
      dtypes.push_back(dtype);
    }
    step.kernel = std::make_shared<const loop::Kernel>(loop::staged_kernel(name(), stages, dtypes, locals));
    step.items = tiles_;
    step.nanoseconds = total_ / static_cast<double>(tiles_.unguarded());
    return step;
  }

  std::string name() const {
    std::string name;
    const size_t shown = std::min(stages_.size(), kMaxNames);
    for (size_t i = 0; i < shown; ++i) name += (i ? "__" : "") + stages_[i].step.kernel->name;
    return stages_.size() > shown ? name + "__" + std::to_string(stages_.size() - shown) + "_more" : name;
  }

  std::vector<Candidate> stages_;
  SymInt tiles_;
  double total_ = 0;
  size_t instructions_ = 0;
  std::map<MemoryKey, SharedUse> uses_;
  int64_t block_ = 1;
  std::map<MemoryKey, LocalUse> locals_;
  int64_t local_bytes_ = 0;
};

}  // namespace

int64_t grain_of(const KernelStep& step) {
  return std::max<int64_t>(1, static_cast<int64_t>(kMinThreadNanoseconds / std::max(step.nanoseconds, 0.01)));
}

void set_stage(KernelStep& step, size_t stage) {
  for (BufferUse& use : step.buffers) use.first_stage = use.last_stage = stage;
}

void number_stages(Schedule& schedule) {
  for (size_t stage = 0; stage < schedule.steps.size(); ++stage) set_stage(schedule.steps[stage], stage);
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
  // Packed forms of inputs may be kept from run to run. Their steps come first and are not joined.
  const auto is_kept = [&](const Candidate& candidate) {
    return candidate.step.packs && !computed.contains(*candidate.step.packs);
  };
  bool changed = !std::is_partitioned(steps.begin(), steps.end(), is_kept);
  for (Candidate& candidate : steps)
    if (is_kept(candidate)) schedule.steps.push_back(std::move(candidate.step));
  std::erase_if(steps, is_kept);
  number_stages(schedule);

  // A copy of an input to an output need not run if the input donates its memory. On its own, it can be left out.
  const auto is_optional = [&](const Candidate& candidate) {
    return candidate.step.is_copy && std::ranges::all_of(candidate.step.buffers, [&](const BufferUse& use) {
             return use.kind == BufferUse::Kind::kValue && outside.contains(use.index);
           });
  };
  const auto is_private = [&](const MemoryKey& key, size_t uses) {
    return users.total(key) == uses && !(key.first == BufferUse::Kind::kValue && outside.contains(key.second));
  };
  size_t stage = schedule.steps.size();
  std::vector<bool> taken(steps.size());
  for (size_t first = 0; first < steps.size(); ++first) {
    if (taken[first]) continue;
    users.remove(steps[first].step);
    if (!steps[first].is_kernel() || is_optional(steps[first])) {
      set_stage(steps[first].step, stage++);
      schedule.steps.push_back(std::move(steps[first].step));
      continue;
    }
    FusedKernel fused(std::move(steps[first]));
    Accesses skipped_accesses;
    size_t skipped = 0;
    for (size_t next = first + 1; next < steps.size() && skipped < kLookAhead; ++next) {
      if (taken[next]) continue;
      const auto& [step, writes] = steps[next];
      if (steps[next].is_kernel() && !is_optional(steps[next]) && skipped_accesses.allows(step, writes) &&
          users.may_come_early(schedule, step, writes, outside, skipped) && fused.accepts(steps[next])) {
        taken[next] = true;
        users.remove(step);
        fused.add(std::move(steps[next]));
      } else {
        skipped_accesses.add(step, writes);
        ++skipped;
      }
    }
    const size_t stages = fused.size();
    changed = changed || stages > 1;
    schedule.steps.push_back(std::move(fused).finish(schedule, stage, is_private));
    stage += stages;
  }
  return changed;
}

}  // namespace lucid
