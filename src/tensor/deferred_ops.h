#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/busy_flag.h"
#include "tensor/plan_cache.h"

namespace lucid {

/// Ops that were called and have not run, in order, and the cells that they use.
struct DeferredBatch {
  /// A tensor or a number that an op takes, or a tensor that it writes.
  struct Use {
    /// Index in `cells`; -1 for a number.
    int32_t cell = -1;
    int64_t offset = 0;
    Scalar number;
  };
  struct Entry {
    const EagerPlan* plan = nullptr;
    /// Its uses: the inputs of the plan, then the tensors that it writes. Without any, it has new results.
    uint32_t first_use = 0;
    uint32_t inputs = 0;
    uint32_t writes = 0;
    /// The cells of the results.
    uint32_t first_result = 0;
  };
  struct UsedCell {
    Ref<Cell> cell;
    /// Of the first use.
    int64_t offset = 0;
    /// Whether it is the result of an op.
    bool is_new = false;
    bool is_written = false;
    /// Of a new cell: whether something other than the batch holds it when the ops run. Others need no memory.
    bool is_wanted = false;
  };

  std::vector<Entry> ops;
  std::vector<Use> uses;
  std::vector<UsedCell> cells;
  /// The offsets of uses that differ from that of the first use of their cell, and these cells.
  std::vector<std::pair<int32_t, int64_t>> offsets;
  std::vector<Ref<EagerPlan>> held;
  /// Two batches with one key differ only in the contents of memory, in numbers that ops take at run time, and in
  /// offsets into cells that no op writes.
  std::vector<int64_t> key;
  /// The first op that has not run. Zero, unless running the batch failed.
  size_t first = 0;

  void clear();
};

/// Runs a whole batch by one plan, if it has one: sets the memory of the wanted cells, and writes the written ones.
/// Returns false if nothing was done. Called by one thread at a time. May append to the key.
using DeferredRunner = bool (*)(DeferredBatch& batch);

/// The batches of several ops that ran, compiled calls included: all, those that had a plan, and the ops in all.
struct DeferredCounts {
  int64_t batches = 0;
  int64_t planned = 0;
  int64_t ops = 0;
};

/// The ops that the process has deferred. One thread at a time defers ops; any thread may run them, and does so before
/// it uses memory that they use.
///
/// An op on the CPU that a plan computes can wait. All others run at once, after those that wait. Everything else that
/// eager calls do (shapes, views, the gradient graph, random state) is not deferred, so the program cannot tell, except
/// by the order of errors: an op that may fail runs at once, together with those that wait.
class DeferredOps {
 public:
  static DeferredOps& get();
  /// Whether this thread defers ops.
  static bool is_deferring() { return t_is_deferring; }
  /// Whether there may be ops that have not run.
  static bool any() { return has_any_.load(std::memory_order_relaxed); }

  Values compute(const Call& call);
  void compute_into(const Call& call, std::span<TensorImpl* const> destinations);
  /// Counts a compiled call inside the scope: whether a plan served it.
  void count_call(bool is_planned) {
    ++counts_.batches;
    counts_.planned += is_planned;
  }
  /// Runs all ops. If one fails, for lack of memory, it and those after it wait for the next call.
  void run();

  // For those who run batches.
  /// Returns whether all ops of the batch have run. If not, the last one failed, and has no results.
  bool run_one_by_one();
  /// The memory of a cell; null for a result that has not been computed.
  static Ref<Storage> memory_of(const Cell& cell) { return cell.storage_.load(); }
  static void set_memory(Cell& cell, Ref<Storage> storage) { cell.storage_.store(std::move(storage)); }

 private:
  friend class DeferScope;
  /// A longer batch runs at once: compiling it would take too long.
  static constexpr size_t kMaxOps = 4096;
  /// So does a batch that alone keeps more memory than this alive. Checked after this many ops.
  static constexpr size_t kMaxKeptBytes = size_t{64} << 20;
  static constexpr size_t kOpsPerCheck = 64;

  /// Takes back an op that was not added completely, for lack of memory.
  class Addition;

  // The caller has acquired `busy_`.
  Values append(const Call& call, const EagerPlan& plan);
  void append_write(const Call& call, const EagerPlan& plan, std::span<TensorImpl* const> destinations);
  void append_inputs(const Call& call, const EagerPlan& plan);
  bool must_run() const;
  void append_use(const TensorImpl& tensor, bool writes);
  int32_t add_cell(Ref<Cell> cell, int64_t offset, bool is_new);
  /// The part of the key for an offset other than that of the cell's first use.
  int64_t key_of_offset(int32_t cell, int64_t offset);
  /// The same for the batch, by its plan if it has one.
  bool run_now();
  int64_t run_op(const DeferredBatch::Entry& entry);

  static inline constinit thread_local bool t_is_deferring = false;
  static inline constinit std::atomic<bool> has_any_ = false;

  DeferredRunner runner_ = nullptr;
  BusyFlag owner_;  // held by the thread that defers
  BusyFlag busy_;   // held while a thread adds or runs ops
  DeferredBatch batch_;
  std::vector<size_t> last_uses_;
  uint64_t batches_ = 1;
  DeferredCounts counts_;
};

/// Defers the ops of this thread until the end of the scope, unless another thread defers its own.
class DeferScope {
 public:
  explicit DeferScope(DeferredRunner runner);
  DeferScope(const DeferScope&) = delete;
  DeferScope& operator=(const DeferScope&) = delete;
  ~DeferScope();

  /// Runs the ops that wait, and ends the scope. Returns the counts of the scope; nothing if another thread defers.
  std::optional<DeferredCounts> finish();

 private:
  void end();
  bool is_owner_ = false;
};

}  // namespace lucid
