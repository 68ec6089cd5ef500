#include <gtest/gtest.h>
#include <lucid/lucid.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <latch>
#include <stdexcept>
#include <thread>

namespace lucid::data {
namespace {

using Integers = std::vector<int64_t>;

/// Sample i is the number i and two random numbers. Counts the calls of get(), and throws at one of them.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t size, int64_t failing = -1) : size_(size), failing_(failing) {}
  int64_t size() const override { return size_; }
  std::vector<Tensor> get(int64_t index) const override {
    ++*calls;
    if (index == failing_) throw std::out_of_range("no such sample");
    return {scalar(index), randint(0, 1000, {2})};
  }
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);

 private:
  int64_t size_;
  int64_t failing_;
};

/// The elements of all tensors of all batches, in order.
std::vector<Integers> all_batches(const DataLoader& loader) {
  std::vector<Integers> batches;
  for (const std::vector<Tensor>& batch : loader) {
    Integers elements;
    for (const Tensor& tensor : batch)
      for (const int64_t element : tensor.to_vector<int64_t>()) elements.push_back(element);
    batches.push_back(elements);
  }
  return batches;
}

TEST(DataLoader, ReturnsBatchesOfTensors) {
  const Tensor x = arange(10).reshape({5, 2});
  const DataLoader loader({x, arange(5)}, {.batch_size = 2});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(all_batches(loader), (std::vector<Integers>{{0, 1, 2, 3, 0, 1}, {4, 5, 6, 7, 2, 3}, {8, 9, 4}}));
  EXPECT_EQ(all_batches(DataLoader({x}, {.batch_size = 2, .drop_last = true})),
            (std::vector<Integers>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(all_batches(DataLoader({zeros({0, 2})})), std::vector<Integers>());
}

TEST(DataLoader, LoopsMayTakeBatchesByReference) {
  const DataLoader loader({arange(4)}, {.batch_size = 2});
  int64_t total = 0;
  for (auto& batch : loader) total += batch[0].sum().item<int64_t>();
  EXPECT_EQ(total, 6);
}

TEST(DataLoader, BatchesAreCopies) {
  const Tensor x = arange(4);
  for (std::vector<Tensor> batch : DataLoader({x}, {.batch_size = 2})) batch[0].zero_();
  EXPECT_EQ(x.to_vector<int64_t>(), (Integers{0, 1, 2, 3}));
}

TEST(DataLoader, IteratorsAreInputIterators) {
  static_assert(std::input_iterator<DataLoader::Iterator>);
  static_assert(std::sentinel_for<std::default_sentinel_t, DataLoader::Iterator>);
  // An iterator outlives the loader.
  auto it = DataLoader(Numbers(3), {.num_workers = 1}).begin();
  ++it;
  EXPECT_EQ((*it)[0].item<int64_t>(), 1);
  it++;
  EXPECT_FALSE(it == std::default_sentinel);
  EXPECT_TRUE(++it == std::default_sentinel);
}

// Python prints these batches for the same seed, the second ones from a loader with workers.
TEST(DataLoader, BatchesEqualThoseOfPython) {
  for (const int64_t workers : {0, 1, 2, 5}) {
    manual_seed(3);
    EXPECT_EQ(all_batches(DataLoader({arange(10)}, {.batch_size = 4, .shuffle = true, .num_workers = workers})),
              (std::vector<Integers>{{4, 9, 1, 5}, {3, 6, 7, 2}, {0, 8}}));
    EXPECT_EQ(all_batches(DataLoader(Numbers(5), {.batch_size = 2, .shuffle = true, .num_workers = workers})),
              (std::vector<Integers>{{0, 1, 217, 398, 602, 778}, {4, 2, 529, 592, 395, 880}, {3, 871, 141}}));
    EXPECT_EQ(randint(0, 1000, {2}).to_vector<int64_t>(), (Integers{995, 38}));
  }
}

TEST(DataLoader, WorkersReturnTheSameBits) {
  for (const int64_t workers : {0, 1, 2, 5})
    for (const int64_t prefetch : {1, 3}) {
      const auto epochs = [&](int64_t num_workers) {
        manual_seed(7);
        const DataLoader loader(Numbers(101),
                                {.batch_size = 4, .num_workers = num_workers, .prefetch_factor = prefetch});
        return std::pair(all_batches(loader), all_batches(loader));
      };
      const auto expected = epochs(0);
      EXPECT_NE(expected.first, expected.second);
      EXPECT_EQ(epochs(workers), expected) << workers << " " << prefetch;
    }
}

TEST(DataLoader, WorkersPrepareAtMostWhatIsToBePrefetched) {
  const Numbers numbers(100);
  const DataLoader loader(numbers, {.batch_size = 2, .num_workers = 2, .prefetch_factor = 3});
  int taken = 0;
  for (const std::vector<Tensor>& batch : loader) {
    ++taken;
    EXPECT_LE(*numbers.calls, 2 * (taken + 6)) << batch[0];
  }
  EXPECT_EQ(taken, 50);
}

TEST(DataLoader, WorkersRunAtTheSameTime) {
  /// No call returns before all four have started.
  class Meeting : public Dataset {
   public:
    int64_t size() const override { return 4; }
    std::vector<Tensor> get(int64_t index) const override {
      started_->arrive_and_wait();
      return {scalar(index)};
    }

   private:
    std::shared_ptr<std::latch> started_ = std::make_shared<std::latch>(4);
  };
  EXPECT_EQ(all_batches(DataLoader(Meeting(), {.num_workers = 4})), (std::vector<Integers>{{0}, {1}, {2}, {3}}));
}

TEST(DataLoader, ErrorsOfTheDatasetReachTheLoop) {
  for (const int64_t workers : {0, 3}) {
    const DataLoader loader(Numbers(10, 5), {.batch_size = 2, .num_workers = workers});
    int batches = 0;
    const auto loop = [&] {
      for (const std::vector<Tensor>& batch : loader) batches += static_cast<int>(batch.size()) / 2;
    };
    EXPECT_THROW(loop(), std::out_of_range) << workers;
    EXPECT_EQ(batches, 2);
    auto it = DataLoader(Numbers(3, 1), {.num_workers = workers}).begin();
    EXPECT_THROW(++it, std::out_of_range);
    EXPECT_TRUE(++it == std::default_sentinel);
  }
}

TEST(DataLoader, LeavingTheLoopStopsTheWorkers) {
  const Numbers numbers(1000);
  for (const std::vector<Tensor>& batch : DataLoader(numbers, {.num_workers = 3, .prefetch_factor = 1}))
    if (batch[0].item<int64_t>() == 4) break;
  const int calls = *numbers.calls;
  EXPECT_LE(calls, 8);
  // The workers are gone: only the dataset's owner, this function, counts.
  EXPECT_EQ(numbers.calls.use_count(), 1);
  EXPECT_EQ(*numbers.calls, calls);
}

TEST(DataLoader, WorkersHaveTheGradientModeOfTheLoop) {
  class Scaled : public Dataset {
   public:
    int64_t size() const override { return 3; }
    std::vector<Tensor> get(int64_t index) const override { return {weight_ * index}; }

   private:
    Tensor weight_ = ones({2}).requires_grad_();
  };
  const DataLoader loader(Scaled(), {.num_workers = 2});
  for (const std::vector<Tensor>& batch : loader) EXPECT_TRUE(batch[0].requires_grad());
  const NoGrad no_grad;
  for (const std::vector<Tensor>& batch : loader) EXPECT_FALSE(batch[0].requires_grad());
}

TEST(DataLoader, CompiledFunctionsSampleFromTheGeneratorOfTheBatch) {
  class Compiled : public Dataset {
   public:
    int64_t size() const override { return 40; }
    std::vector<Tensor> get(int64_t index) const override { return {noise_(scalar(index))}; }

   private:
    lucid::Compiled<Tensor (*)(const Tensor&)> noise_ =
        compile(+[](const Tensor& x) { return x * 1000 + randint(0, 1000, {3}); }, {.wait = true});
  };
  const auto batches = [](int64_t workers) {
    manual_seed(1);
    return all_batches(DataLoader(Compiled(), {.batch_size = 4, .num_workers = workers}));
  };
  const auto expected = batches(0);
  EXPECT_EQ(batches(3), expected);
  // A plan that was recorded with the generator of the process does not serve the calls of a dataset.
  const Compiled dataset;
  dataset.get(0);
  dataset.get(0);
  manual_seed(1);
  EXPECT_EQ(all_batches(DataLoader(dataset, {.batch_size = 4})), expected);
}

TEST(DataLoader, CompiledLoopsRunEagerly) {
  const DataLoader loader({arange(4).to(kFloat32)}, {.batch_size = 2, .shuffle = true, .num_workers = 1});
  const auto first = compile([&](const Tensor& x) { return x + (*loader.begin())[0]; }, {.wait = true});
  const Tensor x = zeros({2});
  manual_seed(0);
  std::vector<std::vector<float>> found, expected;
  for (int i = 0; i < 4; ++i) found.push_back(first(x).to_vector<float>());
  manual_seed(0);
  for (int i = 0; i < 4; ++i) expected.push_back((*loader.begin())[0].to_vector<float>());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(first.cache_info().compiles, 0);
  EXPECT_NE(first.explain().find("takes batches from a DataLoader"), std::string::npos) << first.explain();
}

TEST(DataLoader, AChildProcessHasNoWorkers) {
  auto it = DataLoader(Numbers(10), {.num_workers = 2}).begin();
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    {
      auto inherited = std::move(it);
      try {
        ++inherited;
      } catch (const RuntimeError&) {
        result = 0;
      }
    }
    _exit(result);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ++it;
  EXPECT_EQ((*it)[0].item<int64_t>(), 1);
}

TEST(DataLoader, RejectsInvalidArguments) {
  EXPECT_THROW(TensorDataset({}), ValueError);
  EXPECT_THROW(DataLoader({arange(3), arange(4)}), ValueError);
  EXPECT_THROW(DataLoader({scalar(1.0)}), ValueError);
  EXPECT_THROW(DataLoader(std::shared_ptr<Dataset>()), ValueError);
  EXPECT_THROW(DataLoader({arange(3)}, {.batch_size = 0}), ValueError);
  EXPECT_THROW(DataLoader({arange(3)}, {.num_workers = -1}), ValueError);
  EXPECT_THROW(DataLoader({arange(3)}, {.prefetch_factor = 0}), ValueError);
  EXPECT_THROW(DataLoader(Numbers(-5)).begin(), ValueError);
}

TEST(DataLoader, RejectsSamplesOfDifferentKinds) {
  class Ragged : public Dataset {
   public:
    explicit Ragged(int64_t first) : first_(first) {}
    int64_t size() const override { return 2; }
    std::vector<Tensor> get(int64_t index) const override {
      return std::vector<Tensor>(static_cast<size_t>(first_ + index), scalar(index));
    }

   private:
    const int64_t first_;
  };
  EXPECT_THROW(all_batches(DataLoader(Ragged(1), {.batch_size = 2})), ValueError);
  EXPECT_THROW(all_batches(DataLoader(Ragged(0), {.batch_size = 2})), ValueError);
}

}  // namespace
}  // namespace lucid::data
