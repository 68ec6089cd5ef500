#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "lucid/sym_int.h"

namespace lucid {

/// A vector of trivially copyable elements that stores up to `kInline` of them in the object. Shapes and operand lists
/// of ordinary rank never use the heap.
template <typename T, size_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(size_t count, T value = T{}) {
    if (count <= kInline) {
      // A fill of constant size compiles to a few moves instead of a call.
      std::fill_n(inline_, kInline, value);
      size_ = count;
    } else {
      assign(count, value);
    }
  }
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  SmallVector(std::span<const T> values) : SmallVector(values.begin(), values.end()) {}  // NOLINT
  template <std::input_iterator It>
  SmallVector(It first, It last) {
    reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) data_[size_++] = static_cast<T>(*first);
  }
  SmallVector(const SmallVector& other) { copy_from(other); }
  SmallVector(SmallVector&& other) noexcept { take(std::move(other)); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      size_ = 0;
      copy_from(other);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(std::move(other));
    }
    return *this;
  }
  ~SmallVector() { release(); }

  size_t size() const { return size_; }
  /// The size as a signed integer, as dimension arithmetic uses.
  int64_t rank() const { return static_cast<int64_t>(size_); }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT

  void clear() { size_ = 0; }
  void reserve(size_t capacity) {
    if (capacity > capacity_) [[unlikely]]
      grow(capacity);
  }
  /// Appends `count` uninitialized elements and returns the first.
  T* extend(size_t count) {
    reserve(size_ + count);
    return data_ + std::exchange(size_, size_ + count);
  }
  void resize(size_t size, T value = T{}) {
    reserve(size);
    for (size_t i = size_; i < size; ++i) data_[i] = value;
    size_ = size;
  }
  void assign(size_t count, T value) {
    clear();
    resize(count, value);
  }
  void push_back(T value) {
    reserve(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void insert(size_t position, T value) {
    push_back(value);
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }

  bool operator==(const SmallVector& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }

 private:
  // Not inlined, so that the common case of its callers is a few instructions.
  [[gnu::noinline]] void grow(size_t capacity) {
    const size_t grown_capacity = std::max(capacity, 2 * capacity_);
    const size_t kept = size_;
    T* grown = new T[grown_capacity];
    if (kept) std::memcpy(static_cast<void*>(grown), data_, kept * sizeof(T));
    release();
    data_ = grown;
    size_ = kept;
    capacity_ = grown_capacity;
  }
  void copy_from(const SmallVector& other) {
    if (other.size_ <= kInline) {
      // Every buffer holds at least kInline elements, and a copy of constant size compiles to a few moves.
      std::memcpy(static_cast<void*>(data_), other.data_, kInline * sizeof(T));
    } else {
      reserve(other.size_);
      std::memcpy(static_cast<void*>(data_), other.data_, other.size_ * sizeof(T));
    }
    size_ = other.size_;
  }
  void take(SmallVector&& other) {
    if (other.data_ == other.inline_) {
      copy_from(other);
    } else {
      data_ = std::exchange(other.data_, other.inline_);
      size_ = other.size_;
      capacity_ = std::exchange(other.capacity_, kInline);
    }
    other.size_ = 0;
  }
  void release() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    size_ = 0;
    capacity_ = kInline;
  }

  T* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = kInline;
  T inline_[kInline];
};

/// Sizes, strides or axes: one integer for each dimension.
using Dims = SmallVector<SymInt, 5>;

}  // namespace lucid
