#include "tensor/snapshot.h"

#include <cstring>
#include <memory>
#include <thread>

#include "support.h"

namespace lucid::testing {
namespace {

Numbers values_of(const Snapshot& snapshot) { return read(wrap(snapshot.tensor())); }
const Storage* storage_of(const Tensor& x) { return unwrap(x).cell()->storage().get(); }

TEST(Snapshot, KeepsItsValueWhenTheTensorIsWritten) {
  Tensor x = counting({4});
  const Snapshot snapshot(unwrap(x));
  x.fill_(7.0);
  EXPECT_EQ(values_of(snapshot), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(read(x), (Numbers{7, 7, 7, 7}));
}

TEST(Snapshot, CopiesNothingUntilAWriteHitsIt) {
  Tensor x = counting({8});
  Tensor left = x[{Slice(0, 4)}], right = x[{Slice(4, 8)}];
  const Snapshot snapshot(unwrap(left));
  right.fill_(0.0);
  EXPECT_EQ(snapshot.tensor()->cell(), unwrap(x).cell());
  left.fill_(0.0);
  EXPECT_NE(snapshot.tensor()->cell(), unwrap(x).cell());
  EXPECT_EQ(values_of(snapshot), (Numbers{1, 2, 3, 4}));
}

TEST(Snapshot, IsCopiedOutOnlyOnce) {
  Tensor x = counting({2});
  const Snapshot snapshot(unwrap(x));
  x.fill_(3.0);
  const Storage* copied = snapshot.tensor()->cell()->storage().get();
  x.fill_(4.0);
  EXPECT_EQ(snapshot.tensor()->cell()->storage().get(), copied);
  EXPECT_FALSE(unwrap(x).cell()->has_snapshots());
}

TEST(Snapshot, KeepsAViewsElements) {
  Tensor x = counting({2, 3});
  const Snapshot snapshot(unwrap(transpose(x)[{Slice(1, 3)}]));
  x.fill_(0.0);
  EXPECT_EQ(values_of(snapshot), (Numbers{2, 5, 3, 6}));
}

TEST(Snapshot, OfAnExpandedTensorCopiesEachElementOnce) {
  Tensor x = counting({1, 3});
  const Snapshot snapshot(unwrap(expand(x, {100, 3})));
  x.fill_(0.0);
  EXPECT_EQ(snapshot.tensor()->cell()->storage()->bytes(), 3 * sizeof(double));
  EXPECT_EQ(values_of(snapshot).back(), 3);
}

TEST(Snapshot, MovesTheCellWhenSnapshotsAreLargerThanTheBuffer) {
  Tensor x = counting({4});
  const Storage* before = storage_of(x);
  const Snapshot a(unwrap(x)), b(unwrap(x));
  x.fill_(9.0);
  EXPECT_NE(storage_of(x), before);
  EXPECT_EQ(a.tensor()->cell()->storage().get(), before);
  EXPECT_EQ(b.tensor()->cell()->storage().get(), before);
  EXPECT_EQ(values_of(a), (Numbers{1, 2, 3, 4}));
}

TEST(Snapshot, PinnedMemoryStaysAndTheCellMoves) {
  Tensor x = counting({4});
  Tensor view = x[{Slice(1, 3)}];
  Snapshot snapshot(unwrap(x));
  const auto* pointer = static_cast<const double*>(snapshot.pin());
  EXPECT_EQ(pointer, x.data<double>());
  view.fill_(9.0);
  EXPECT_EQ(pointer[1], 2);
  EXPECT_NE(pointer, x.data<double>());
  EXPECT_EQ(read(x), (Numbers{1, 9, 9, 4}));
  EXPECT_EQ(read(view), (Numbers{9, 9}));
}

TEST(Snapshot, OfBorrowedMemoryIsCopiedImmediately) {
  double memory[2] = {1, 2};
  Ref<Cell> cell = make_ref<Cell>(Storage::borrow(memory, sizeof memory, nullptr));
  const TensorRef tensor = make_ref<TensorImpl>(Dtype::kF64, Dims{2}, Dims{1}, 0, cell);
  const Snapshot snapshot(*tensor);
  memory[0] = 5;
  EXPECT_EQ(values_of(snapshot), (Numbers{1, 2}));
  EXPECT_EQ(read(wrap(tensor)), (Numbers{5, 2}));
}

TEST(Snapshot, ManyOnOneCellEachKeepTheirPart) {
  constexpr int64_t kCount = 200;
  Tensor x = counting({kCount});
  std::vector<std::unique_ptr<Snapshot>> snapshots;
  for (int64_t i = 0; i < kCount; ++i) snapshots.push_back(std::make_unique<Snapshot>(unwrap(x[i])));
  x[{Slice(50, 60)}].fill_(0.0);
  x[199].fill_(0.0);
  for (int64_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(values_of(*snapshots[static_cast<size_t>(i)]), (Numbers{static_cast<double>(i + 1)}));
    const bool copied = (i >= 50 && i < 60) || i == 199;
    EXPECT_EQ(snapshots[static_cast<size_t>(i)]->tensor()->cell() != unwrap(x).cell(), copied) << i;
  }
  // Dropped in another order than they were taken.
  for (size_t i = 0; i < snapshots.size(); i += 2) snapshots[i].reset();
  EXPECT_TRUE(unwrap(x).cell()->has_snapshots());
  snapshots.clear();
  EXPECT_FALSE(unwrap(x).cell()->has_snapshots());
}

TEST(Snapshot, MayBeTakenAndDroppedByManyThreadsWhileAnotherWrites) {
  Tensor x = counting({64});
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, part = x[{Slice(0, 32)}]] {
      for (int i = 0; i < 2000; ++i) {
        const Snapshot snapshot(unwrap(part));
        if (snapshot.tensor()->numel() != 32) failed = true;
      }
    });
  Tensor rest = x[{Slice(32, 64)}];
  for (int i = 0; i < 2000; ++i) unwrap(rest).before_write();
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
  EXPECT_FALSE(unwrap(x).cell()->has_snapshots());
}

TEST(CopyStrided, CopiesBetweenLayouts) {
  const int32_t source[6] = {1, 2, 3, 4, 5, 6};
  int32_t transposed[6];
  copy_strided(Dims{2, 3}, 4, source, Dims{3, 1}, transposed, Dims{1, 2});
  EXPECT_EQ(std::vector<int32_t>(transposed, transposed + 6), (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace lucid::testing
