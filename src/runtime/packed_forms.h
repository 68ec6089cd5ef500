#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "code/loaded_code.h"
#include "runtime/storage.h"

namespace lucid {

/// The cached packed forms of one buffer: results of kernels that read only its contents, cached until the contents
/// change or the buffer is freed. A form is cached when it is requested a second time; see
/// docs/decisions/0004-packed-forms.md. A form that is computed while another thread writes the buffer is not cached.
class PackedForms {
 public:
  PackedForms() = default;
  PackedForms(const PackedForms&) = delete;
  PackedForms& operator=(const PackedForms&) = delete;
  ~PackedForms() { drop(); }

  /// Identifies a form: the kernel that computes it, its parameters, and the address that it reads from.
  struct Maker {
    const Ref<LoadedCode>& code;
    std::span<const int64_t> params;
    const void* source;
  };

  struct Answer {
    Ref<Storage> form;     // null if it must be computed
    bool keep_it = false;  // whether the caller should pass the computed form to keep()
    uint32_t changes = 0;  // the number of changes of the contents so far
  };
  Answer ask(const Maker& maker);
  /// Caches a form. Does nothing if the contents have changed since ask() returned `answer`.
  void keep(const Maker& maker, const Answer& answer, const Ref<Storage>& form);

  /// Must precede every change of the contents.
  void drop() {
    if (marks_.load(std::memory_order_relaxed)) [[unlikely]]
      forget();
  }
  /// Must follow every change of the contents: a concurrent reader either sees the change, or its request is seen here.
  void drop_after_write() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    drop();
  }
  /// Disables caching: the contents may change without notice from now on.
  void stop_keeping();

 private:
  friend class FormStore;
  void forget();

  /// A bit for each form that was requested since the last change, by its hash; two forms may share a bit. The highest
  /// bits are kKept and kNeverKept.
  std::atomic<uint64_t> marks_{0};
  std::atomic<uint32_t> changes_{0};
};

/// Bytes of all cached forms.
size_t packed_form_bytes();

/// Sets the limit of cached bytes until the end of a scope; for tests.
class PackedFormLimitScope {
 public:
  explicit PackedFormLimitScope(size_t bytes);
  PackedFormLimitScope(const PackedFormLimitScope&) = delete;
  PackedFormLimitScope& operator=(const PackedFormLimitScope&) = delete;
  ~PackedFormLimitScope();

 private:
  size_t saved_;
};

}  // namespace lucid
