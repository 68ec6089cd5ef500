#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codegen/code_generator.h"
#include "runtime/storage.h"

namespace lucid {

/// The packed forms of one buffer: what kernels that read nothing else made of its contents, kept until the contents
/// change or the buffer goes. A form is worth its memory when it is asked for a second time; see
/// docs/decisions/0004-packed-forms.md. Readers may ask while another thread writes: what they make then is not kept.
class PackedForms {
 public:
  PackedForms() = default;
  PackedForms(const PackedForms&) = delete;
  PackedForms& operator=(const PackedForms&) = delete;
  ~PackedForms() { drop(); }

  /// What makes a form: the kernel, its parameters, and the address that it reads from.
  struct Maker {
    const Ref<codegen::LoadedCode>& code;
    std::span<const int64_t> params;
    const void* source;
  };

  struct Answer {
    Ref<Storage> form;     // null when it has to be made
    bool keep_it = false;  // by whoever makes it, with keep()
    uint32_t changes = 0;  // of the contents so far
  };
  Answer ask(const Maker& maker);
  /// Does nothing if the contents have changed since `answer` was given.
  void keep(const Maker& maker, const Answer& answer, const Ref<Storage>& form);

  /// Must precede every change of the contents.
  void drop() {
    if (marks_.load(std::memory_order_relaxed)) [[unlikely]]
      forget();
  }
  /// Must follow every change of the contents: a reader that asked meanwhile either sees the change or is seen here.
  void drop_after_write() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    drop();
  }
  /// From now on the contents may change without notice, so nothing is kept.
  void stop_keeping();

 private:
  friend class FormStore;
  void forget();

  /// A bit for each form that was asked for since the last change, by its hash; two forms may share one. The highest
  /// bits are kKept and kNeverKept.
  std::atomic<uint64_t> marks_{0};
  std::atomic<uint32_t> changes_{0};
};

/// Bytes of all forms that are kept.
size_t packed_form_bytes();

/// Sets how many bytes may be kept until the end of a scope; for tests.
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
