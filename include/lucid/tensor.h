#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace lucid {

/// Element types. The constants below name them.
enum class Dtype : uint8_t;
inline constexpr Dtype kBool = static_cast<Dtype>(0);
inline constexpr Dtype kUint8 = static_cast<Dtype>(1);
inline constexpr Dtype kInt8 = static_cast<Dtype>(2);
inline constexpr Dtype kInt16 = static_cast<Dtype>(3);
inline constexpr Dtype kInt32 = static_cast<Dtype>(4);
inline constexpr Dtype kInt64 = static_cast<Dtype>(5);
inline constexpr Dtype kFloat16 = static_cast<Dtype>(6);
inline constexpr Dtype kBfloat16 = static_cast<Dtype>(7);
inline constexpr Dtype kFloat32 = static_cast<Dtype>(8);
inline constexpr Dtype kFloat64 = static_cast<Dtype>(9);

/// The dtype that stores values of a C++ type.
template <typename T>
constexpr Dtype dtype_of();
template <>
constexpr Dtype dtype_of<bool>() {
  return kBool;
}
template <>
constexpr Dtype dtype_of<uint8_t>() {
  return kUint8;
}
template <>
constexpr Dtype dtype_of<int8_t>() {
  return kInt8;
}
template <>
constexpr Dtype dtype_of<int16_t>() {
  return kInt16;
}
template <>
constexpr Dtype dtype_of<int32_t>() {
  return kInt32;
}
template <>
constexpr Dtype dtype_of<int64_t>() {
  return kInt64;
}
template <>
constexpr Dtype dtype_of<float>() {
  return kFloat32;
}
template <>
constexpr Dtype dtype_of<double>() {
  return kFloat64;
}

/// Sizes or strides, one for each dimension.
using Shape = std::vector<int64_t>;

class TensorImpl;
class Argument;
class IndexItem;

/// A handle to an n-dimensional array. Copying a Tensor is as cheap as copying a pointer; copies refer to the same
/// tensor. Views share memory: a write through one is visible through all of them. A default-constructed Tensor is
/// undefined: it refers to no tensor, and using it throws ValueError.
class Tensor {
 public:
  Tensor() : impl_(nullptr) {}
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor();

  /// Whether this refers to a tensor.
  bool defined() const { return impl_ != nullptr; }
  /// Whether both refer to the same tensor.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  Shape shape() const;
  /// The distance between neighbors in each dimension, in elements.
  Shape strides() const;
  /// The number of dimensions.
  int64_t dim() const;
  /// The number of elements.
  int64_t numel() const;
  /// The size of one dimension. A negative axis counts from the last.
  int64_t size(int64_t axis) const;
  Dtype dtype() const;
  /// Whether the elements are stored in row-major order without gaps.
  bool is_contiguous() const;

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

  // Indexing and in-place operations.

  /// The view x[index]: one element of the first dimension. A negative index counts from the end.
  Tensor operator[](int64_t index) const;
  /// NumPy indexing: `x.index({0, IndexItem::slice(1, 5)})` is `x[0, 1:5]`. A view if no item is a bool or a tensor
  /// with dimensions, otherwise a copy.
  Tensor index(std::initializer_list<IndexItem> items) const;
  /// Assigns to the indexed elements, in place.
  void set_index(std::initializer_list<IndexItem> items, const Argument& value);
  /// Copies `source`, broadcast to this shape and converted to this dtype.
  Tensor& copy_(const Argument& source);
  /// Sets all elements to a number or a 0-d tensor.
  Tensor& fill_(const Argument& value);
  Tensor& zero_();
  Tensor& operator+=(const Argument& other);
  Tensor& operator-=(const Argument& other);
  Tensor& operator*=(const Argument& other);
  Tensor& operator/=(const Argument& other);

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

/// An argument of an op: a tensor or a number. A number adapts to the dtype of the tensors in type promotion. Use it
/// only as a parameter: it borrows the tensor, which must outlive it.
class Argument {
 public:
  Argument() = default;
  Argument(const Tensor& tensor) : tensor_(tensor.impl()), kind_(tensor_ ? Kind::kTensor : Kind::kNone) {}  // NOLINT
  Argument(bool number) : integer_(number), kind_(Kind::kBool) {}                                           // NOLINT
  Argument(int number) : integer_(number), kind_(Kind::kInteger) {}                                         // NOLINT
  Argument(int64_t number) : integer_(number), kind_(Kind::kInteger) {}                                     // NOLINT
  Argument(double number) : real_(number), kind_(Kind::kReal) {}                                            // NOLINT

  enum class Kind : uint8_t { kNone, kTensor, kBool, kInteger, kReal };
  Kind kind() const { return kind_; }
  TensorImpl* tensor() const { return tensor_; }
  int64_t integer() const { return integer_; }
  double real() const { return real_; }

 private:
  union {
    TensorImpl* tensor_ = nullptr;
    int64_t integer_;
    double real_;
  };
  Kind kind_ = Kind::kNone;
};

/// One item of an index: an integer, a slice, a new axis, an ellipsis, a bool, or a tensor of integers or bools. As in
/// NumPy, `true` inserts a dimension of size 1 and `false` one of size 0.
class IndexItem {
 public:
  enum class Kind : uint8_t { kInteger, kSlice, kNewAxis, kEllipsis, kBool, kTensor };

  IndexItem(int index) : start_(index), kind_(Kind::kInteger) {}              // NOLINT
  IndexItem(int64_t index) : start_(index), kind_(Kind::kInteger) {}          // NOLINT
  IndexItem(bool keep) : start_(keep), kind_(Kind::kBool) {}                  // NOLINT
  IndexItem(const Tensor& tensor) : tensor_(tensor), kind_(Kind::kTensor) {}  // NOLINT
  /// `start:stop:step`. Bounds may be negative or out of range, as in Python; the step must be positive.
  static IndexItem slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                         std::optional<int64_t> step = std::nullopt) {
    IndexItem item(Kind::kSlice);
    item.start_ = start;
    item.stop_ = stop;
    item.step_ = step;
    return item;
  }
  /// Inserts a dimension of size 1.
  static IndexItem new_axis() { return IndexItem(Kind::kNewAxis); }
  /// Stands for all dimensions that the other items do not index.
  static IndexItem ellipsis() { return IndexItem(Kind::kEllipsis); }

  Kind kind() const { return kind_; }
  const Tensor& tensor() const { return tensor_; }
  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  std::optional<int64_t> step() const { return step_; }

 private:
  explicit IndexItem(Kind kind) : kind_(kind) {}
  Tensor tensor_;
  std::optional<int64_t> start_;
  std::optional<int64_t> stop_;
  std::optional<int64_t> step_;
  Kind kind_;
};

Tensor operator+(const Argument& x, const Argument& y);
Tensor operator-(const Argument& x, const Argument& y);
Tensor operator*(const Argument& x, const Argument& y);
Tensor operator/(const Argument& x, const Argument& y);
Tensor operator-(const Tensor& x);

/// A tensor of the given shape with a copy of the elements at `data`, which are in row-major order.
Tensor from_data(const void* data, const Shape& shape, Dtype dtype);
/// A tensor of the given shape with a copy of `values`, which are in row-major order.
template <typename T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  return from_data(values.data(), shape, dtype_of<T>());
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
