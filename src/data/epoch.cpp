#include "data/epoch.h"

#include <lucid/ops.h>
#include <lucid/random.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/device.h"
#include "base/error.h"
#include "tensor/api.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"

namespace lucid::data {

/// Threads that prepare the batches of an epoch. Each takes the next batch that nobody has taken, but none that is
/// further ahead of the loop than `window_`.
class DataLoader::Epoch::Workers {
 public:
  explicit Workers(const Epoch& epoch)
      : epoch_(epoch),
        window_(static_cast<size_t>(std::min(epoch.options_.prefetch_factor, epoch.count_) *
                                    std::min(epoch.options_.num_workers, epoch.count_))),
        prepared_(window_),
        records_gradients_(GradMode::enabled()),
        is_inference_(GradMode::inference()),
        device_(current_device()) {
    try {
      start();
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Workers() { stop(); }

  /// Waits for the batch, which is the one after that of the last call.
  std::vector<Tensor> take(int64_t batch) {
    std::optional<Prepared>& slot = slot_of(batch);
    std::unique_lock lock(mutex_);
    is_prepared_.wait(lock, [&] { return slot.has_value(); });
    const Prepared prepared = *std::exchange(slot, std::nullopt);
    taken_ = batch + 1;
    lock.unlock();
    may_start_.notify_one();
    if (prepared.error) std::rethrow_exception(prepared.error);
    return prepared.tensors;
  }

  /// Whether this process has the threads. The child of a fork does not.
  bool is_alive() const { return process_ == getpid(); }

 private:
  struct Prepared {
    std::vector<Tensor> tensors;
    std::exception_ptr error;
  };

  std::optional<Prepared>& slot_of(int64_t batch) { return prepared_[static_cast<size_t>(batch) % window_]; }

  void start() {
    // Signals are delivered to the program's own threads: the workers inherit a mask that blocks them all.
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    try {
      for (int64_t i = 0; i < std::min(epoch_.options_.num_workers, epoch_.count_); ++i) {
        threads_.emplace_back([this] { work(); });
        pthread_setname_np(threads_.back().native_handle(), "lucid-data");
      }
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &saved, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    may_start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void work() {
    GradMode::set_enabled(records_gradients_);
    GradMode::set_inference(is_inference_);
    const DeviceScope device(device_);
    const auto generator = make_ref<GeneratorImpl>();
    std::unique_lock lock(mutex_);
    for (;;) {
      may_start_.wait(lock, [&] {
        return is_stopped_ || started_ == epoch_.count_ || started_ < taken_ + static_cast<int64_t>(window_);
      });
      if (is_stopped_ || started_ == epoch_.count_) return;
      const int64_t batch = started_++;
      lock.unlock();
      Prepared prepared;
      try {
        prepared.tensors = epoch_.prepare(batch, *generator);
      } catch (...) {
        prepared.error = std::current_exception();
      }
      lock.lock();
      slot_of(batch) = std::move(prepared);
      is_prepared_.notify_one();
    }
  }

  const Epoch& epoch_;
  const size_t window_;
  std::vector<std::optional<Prepared>> prepared_;
  const bool records_gradients_;
  const bool is_inference_;
  const Device device_;
  const pid_t process_ = getpid();

  std::mutex mutex_;
  std::condition_variable may_start_;
  std::condition_variable is_prepared_;
  int64_t started_ = 0;
  int64_t taken_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

DataLoader::Epoch::Epoch(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options)
    : dataset_(std::move(dataset)), options_(options) {
  on_external_effect("takes batches from a DataLoader");
  const int64_t samples = dataset_->size();
  if (samples < 0) throw ValueError("DataLoader: the size of the dataset is {}", samples);
  // Python's loader samples the seed first too, so both orders are the same.
  const Tensor seed = randint(0, int64_t{1} << 62, {});
  seed_ = seed.item<int64_t>();
  if (options.shuffle) {
    order_ = randperm(samples).to_vector<int64_t>();
  } else {
    order_.resize(static_cast<size_t>(samples));
    std::iota(order_.begin(), order_.end(), int64_t{0});
  }
  count_ = batch_count(samples, options);
  if (options.num_workers > 0)
    workers_ = std::make_unique<Workers>(*this);
  else
    generator_ = make_ref<GeneratorImpl>();
}

DataLoader::Epoch::~Epoch() {
  // In the child of a fork there is nothing to stop, and the locks are copies in any state.
  if (workers_ && !workers_->is_alive()) {
    [[maybe_unused]] const Workers* const abandoned = workers_.release();
  }
}

std::optional<std::vector<Tensor>> DataLoader::Epoch::next() {
  if (next_ == count_) return std::nullopt;
  if (workers_ && !workers_->is_alive())
    throw RuntimeError("DataLoader: the workers belong to the process that started the epoch, not to its child");
  const int64_t batch = std::exchange(next_, count_);
  std::vector<Tensor> tensors = workers_ ? workers_->take(batch) : prepare(batch, *generator_);
  next_ = batch + 1;
  return tensors;
}

std::vector<Tensor> DataLoader::Epoch::prepare(int64_t batch, GeneratorImpl& generator) const {
  // The same seed as in the workers of Python's loader.
  generator.manual_seed((static_cast<uint64_t>(seed_) + static_cast<uint64_t>(batch)) % (uint64_t{1} << 63));
  const DefaultGeneratorScope scope(generator);
  const size_t start = static_cast<size_t>(batch * options_.batch_size);
  const size_t length = std::min(static_cast<size_t>(options_.batch_size), order_.size() - start);
  return dataset_->get_batch(std::span(order_).subspan(start, length));
}

int64_t batch_count(int64_t samples, const DataLoaderOptions& options) {
  return samples / options.batch_size + (!options.drop_last && samples % options.batch_size != 0);
}

}  // namespace lucid::data
