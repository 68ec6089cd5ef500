#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lucid/error.h"
#include "lucid/tensor_methods.h"

#pragma GCC visibility push(default)
namespace lucid {

class IndexItem;
class IndexedTensor;
struct MaxDimResult;
struct MinDimResult;
struct MedianDimResult;

/// A handle to an n-dimensional array. Copying a Tensor is as cheap as copying a pointer; copies refer to the same
/// tensor. Views share memory: a write through one is visible through all of them. A default-constructed Tensor is
/// undefined: it refers to no tensor, and using it throws ValueError.
///
/// The ops are methods too: `x.sum(-1).sqrt()`; TensorMethods lists them.
class Tensor : public TensorMethods {
 public:
  Tensor() : impl_(nullptr) {}
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  /// Makes this refer to another tensor. It copies no elements; copy_() does.
  Tensor& operator=(Tensor other) & noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor();

  /// Whether this refers to a tensor.
  bool defined() const { return impl_ != nullptr; }
  /// Whether both refer to the same tensor.
  bool is_same(const Tensor& other) const;

  Shape shape() const;
  /// The distance between neighbors in each dimension, in elements.
  Shape strides() const;
  /// The number of dimensions.
  int64_t dim() const;
  /// The number of elements.
  SymInt numel() const;
  /// The size of one dimension. A negative axis counts from the last.
  SymInt size(int64_t axis) const;
  Dtype dtype() const;
  /// Where the elements are: "cpu" or "gpu:0".
  std::string device() const;
  /// Whether the elements are stored in row-major order without gaps.
  bool is_contiguous() const;
  /// The tensor as Python prints it; see lucid/print.h.
  std::string to_string() const;

  /// The value of a one-element tensor, converted to T. Throws RuntimeError for any other number of elements.
  template <typename T>
  T item() const {
    T value;
    read_item(&value, dtype_of<T>());
    return value;
  }
  /// All elements in row-major order, converted to T.
  template <typename T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> is not an array of bools: read bools as uint8_t");
    std::vector<T> values(static_cast<size_t>(numel()));
    read_all(values.data(), dtype_of<T>());
    return values;
  }
  /// The address of the first element, for reading; strides() tells where the others are. Throws TypeError if T is not
  /// the type of the elements.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(read_pointer(dtype_of<T>()));
  }
  /// The same for writing. It counts as an in-place operation that is not recorded. Because the pointer may be written
  /// at any later time, matrix products never cache a packed form of this tensor afterwards.
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(write_pointer(dtype_of<T>()));
  }

  // Gradients.

  /// Whether ops on this tensor are recorded.
  bool requires_grad() const;
  /// Requires a gradient for a leaf, or stops requiring it. Throws RuntimeError for dtypes that are not floating point.
  Tensor& requires_grad_(bool requires_grad = true);
  /// Whether the tensor was created by the user, not by a recorded op.
  bool is_leaf() const;
  /// The accumulated gradient; undefined if there is none yet.
  Tensor grad() const;
  /// Replaces the gradient. An undefined tensor clears it.
  void set_grad(const Tensor& gradient);
  /// Computes the gradients of this tensor and adds them to grad() of the leaves that it depends on. `gradient` is the
  /// gradient of this tensor itself; it may be omitted, and is then 1, if the tensor has one element. For the flags see
  /// GradOptions.
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false, bool create_graph = false) const;
  /// Makes backward() also keep the gradient of this tensor, if it is not a leaf.
  void retain_grad();
  /// A tensor on the same memory, outside the gradient graph.
  Tensor detach() const;

  // Ops that depend on the kind of their arguments.

  /// The maximum of all elements; the maxima along a dimension and their indices; or the elementwise maximum of two
  /// tensors.
  Tensor max() const;
  MaxDimResult max(int64_t dim, bool keepdim = false) const;
  Tensor max(const Tensor& other) const;
  /// The same for minima.
  Tensor min() const;
  MinDimResult min(int64_t dim, bool keepdim = false) const;
  Tensor min(const Tensor& other) const;
  /// The median of all elements, the lower of two in the middle; or those along a dimension.
  using TensorMethods::median;
  MedianDimResult median(int64_t dim, bool keepdim = false) const;
  /// This tensor where the condition is true, and `y` elsewhere.
  Tensor where(const Tensor& condition, const Argument& y) const;
  /// Writes values at the positions given by index tensors for the leading dimensions, or adds them if `accumulate`.
  Tensor index_put(const std::vector<Tensor>& indices, const Argument& values, bool accumulate = false) const;
  Tensor& index_put_(const std::vector<Tensor>& indices, const Argument& values, bool accumulate = false);
  /// The tensor converted to a dtype: itself if it has the dtype.
  Tensor to(Dtype dtype) const;
  /// The tensor on a device, "cpu", "gpu" or "gpu:1": itself if it is there, otherwise a copy.
  Tensor to(const std::string& device) const;
  Tensor to(const char* device) const { return to(std::string(device)); }
  Tensor cpu() const { return to("cpu"); }
  Tensor gpu() const { return to("gpu"); }
  /// The same memory with another shape. Throws RuntimeError where that takes a copy; reshape() makes one.
  Tensor view(Ints shape) const;
  /// The matrix with its two dimensions exchanged; a vector stays the same.
  Tensor t() const;
  /// The last two dimensions exchanged.
  Tensor mT() const;

  // Indexing and in-place operations.

  /// NumPy indexing: `x[{0, Slice(1, 5)}]` is `x[0, 1:5]`, and `x[2]` one element of the first dimension. A view if no
  /// item is a bool or a tensor with dimensions, otherwise a copy. An assignment to it, `x[{0, Slice(1, 5)}] = 1`,
  /// writes to the indexed elements of x. If the index makes a copy, an assignment computes that copy too; index_put_()
  /// and masked_fill_() do not.
  IndexedTensor operator[](std::initializer_list<IndexItem> items) const;
  IndexedTensor operator[](const IndexItem& item) const;
  /// Copies `source`, broadcast to this shape and converted to this dtype.
  Tensor& copy_(const Argument& source);
  /// Sets all elements to a number or a 0-d tensor.
  Tensor& fill_(const Argument& value);
  Tensor& zero_();
  Tensor& operator+=(const Argument& other);
  Tensor& operator-=(const Argument& other);
  Tensor& operator*=(const Argument& other);
  Tensor& operator/=(const Argument& other);
  Tensor& operator%=(const Argument& other);
  Tensor& operator&=(const Argument& other);
  Tensor& operator|=(const Argument& other);
  Tensor& operator^=(const Argument& other);

  // For the library itself.
  TensorImpl* impl() const { return impl_; }
  explicit Tensor(TensorImpl* impl);

 private:
  void read_item(void* value, Dtype dtype) const;
  void read_all(void* values, Dtype dtype) const;
  const void* read_pointer(Dtype dtype) const;
  void* write_pointer(Dtype dtype);

  TensorImpl* impl_;
};

inline Argument::Argument(const Tensor& tensor)
    : tensor_(tensor.impl()), kind_(tensor.defined() ? Kind::kTensor : Kind::kNone) {}

/// `start:stop:step`. Bounds that are kNone are open; they may be negative or out of range, as in Python. The step must
/// be positive.
struct Slice {
  std::optional<SymInt> start;
  std::optional<SymInt> stop;
  std::optional<SymInt> step;

  Slice(std::optional<SymInt> start = kNone, std::optional<SymInt> stop = kNone,  // NOLINT
        std::optional<SymInt> step = kNone)
      : start(start), stop(stop), step(step) {}
};

/// In an index: all dimensions that the other items do not index.
struct Ellipsis {};
inline constexpr Ellipsis kEllipsis;

/// One item of an index: an integer, a Slice, kNone for a new dimension of size 1, kEllipsis, a bool, or a tensor of
/// integers or bools. As in NumPy, `true` inserts a dimension of size 1 and `false` one of size 0.
class IndexItem {
 public:
  enum class Kind : uint8_t { kInteger, kSlice, kNewAxis, kEllipsis, kBool, kTensor };

  IndexItem(WholeNumber auto index) : slice_(SymInt(index)), kind_(Kind::kInteger) {}    // NOLINT
  IndexItem(SymInt index) : slice_(index), kind_(Kind::kInteger) {}                      // NOLINT
  IndexItem(std::same_as<bool> auto keep) : slice_(SymInt(keep)), kind_(Kind::kBool) {}  // NOLINT
  IndexItem(const Slice& slice) : slice_(slice), kind_(Kind::kSlice) {}                  // NOLINT
  IndexItem(std::nullopt_t) : kind_(Kind::kNewAxis) {}                                   // NOLINT
  IndexItem(Ellipsis) : kind_(Kind::kEllipsis) {}                                        // NOLINT
  IndexItem(const Tensor& tensor) : tensor_(tensor), kind_(Kind::kTensor) {}             // NOLINT

  Kind kind() const { return kind_; }
  const Tensor& tensor() const { return tensor_; }
  const Slice& slice() const { return slice_; }
  /// The integer, or the bool as 0 or 1.
  SymInt integer() const { return *slice_.start; }

 private:
  Tensor tensor_;
  Slice slice_;
  Kind kind_;
};

/// Part of a tensor, as returned by operator[]. Assigning to what operator[] returns writes to that part.
class IndexedTensor : public Tensor {
 public:
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)

  /// Writes `value`, broadcast and converted, to the indexed elements.
  void operator=(const Argument& value) &&;
  void operator=(const Tensor& value) && { std::move(*this) = Argument(value); }
  void operator=(const IndexedTensor& value) && { std::move(*this) = Argument(value); }
  void operator+=(const Argument& other) && { write(Tensor::operator+=(other)); }
  void operator-=(const Argument& other) && { write(Tensor::operator-=(other)); }
  void operator*=(const Argument& other) && { write(Tensor::operator*=(other)); }
  void operator/=(const Argument& other) && { write(Tensor::operator/=(other)); }
  void operator%=(const Argument& other) && { write(Tensor::operator%=(other)); }
  void operator&=(const Argument& other) && { write(Tensor::operator&=(other)); }
  void operator|=(const Argument& other) && { write(Tensor::operator|=(other)); }
  void operator^=(const Argument& other) && { write(Tensor::operator^=(other)); }

  // A variable is a tensor like any other: these change it in place. If it is a view, the indexed tensor changes too.

  Tensor& operator+=(const Argument& other) & { return Tensor::operator+=(other); }
  Tensor& operator-=(const Argument& other) & { return Tensor::operator-=(other); }
  Tensor& operator*=(const Argument& other) & { return Tensor::operator*=(other); }
  Tensor& operator/=(const Argument& other) & { return Tensor::operator/=(other); }
  Tensor& operator%=(const Argument& other) & { return Tensor::operator%=(other); }
  Tensor& operator&=(const Argument& other) & { return Tensor::operator&=(other); }
  Tensor& operator|=(const Argument& other) & { return Tensor::operator|=(other); }
  Tensor& operator^=(const Argument& other) & { return Tensor::operator^=(other); }
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)

  using Tensor::operator=;
  IndexedTensor(const IndexedTensor&) = default;
  IndexedTensor(IndexedTensor&&) noexcept = default;
  /// A variable refers to the part; assigning to it makes it refer to another tensor, as for any Tensor.
  IndexedTensor& operator=(const IndexedTensor&) & = default;

 private:
  friend class Tensor;
  IndexedTensor(Tensor part, Tensor whole, std::vector<IndexItem> items)
      : Tensor(std::move(part)), whole_(std::move(whole)), items_(std::move(items)) {}
  /// Writes the part back, if it is a copy.
  void write(const Tensor& part);

  Tensor whole_;
  std::vector<IndexItem> items_;
};

Tensor operator+(const Argument& x, const Argument& y);
Tensor operator-(const Argument& x, const Argument& y);
Tensor operator*(const Argument& x, const Argument& y);
Tensor operator/(const Argument& x, const Argument& y);
Tensor operator%(const Argument& x, const Argument& y);
Tensor operator&(const Argument& x, const Argument& y);
Tensor operator|(const Argument& x, const Argument& y);
Tensor operator^(const Argument& x, const Argument& y);
Tensor operator-(const Tensor& x);
Tensor operator~(const Tensor& x);

// Elementwise comparisons: tensors of bools.

Tensor operator==(const Argument& x, const Argument& y);
Tensor operator!=(const Argument& x, const Argument& y);
Tensor operator<(const Argument& x, const Argument& y);
Tensor operator<=(const Argument& x, const Argument& y);
Tensor operator>(const Argument& x, const Argument& y);
Tensor operator>=(const Argument& x, const Argument& y);

/// Whether two tensors have the same shape and the same elements.
bool equal(const Tensor& x, const Tensor& y);
/// Whether all elements are close: |x - y| <= atol + rtol * |y|. `equal_nan` says whether two NaNs count as close.
bool allclose(const Tensor& x, const Tensor& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

/// A tensor of the given shape with a copy of the elements at `data`, which are in row-major order.
Tensor from_data(const void* data, const Shape& shape, Dtype dtype);
/// The same for memory with `count` elements. Throws ValueError if the shape has another number of them.
Tensor from_data(const void* data, size_t count, const Shape& shape, Dtype dtype);
/// A tensor of the given shape with a copy of `values`, which are in row-major order. Throws ValueError if their number
/// differs.
template <typename T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  return from_data(values.data(), values.size(), shape, dtype_of<T>());
}
/// A 1-d tensor of the given values.
template <typename T>
Tensor tensor(std::initializer_list<T> values) {
  return from_data(std::data(values), {static_cast<int64_t>(values.size())}, dtype_of<T>());
}
/// A 0-d tensor.
template <typename T>
Tensor scalar(T value) {
  return from_data(&value, {}, dtype_of<T>());
}

}  // namespace lucid
#pragma GCC visibility pop
