#include <lucid.h>

#include <algorithm>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/thread_object.h"
#include "program/graph_plans.h"
#include "program/open_program.h"
#include "runtime/thread_pool.h"

using lucid::Dtype;
using lucid::ThreadObject;
using lucid::program::Array;
using lucid::program::LoadedProgram;
using lucid::program::ProgramCode;
using lucid::program::Signature;

static_assert(LUCID_BOOL == static_cast<int>(Dtype::kBool) && LUCID_F16 == static_cast<int>(Dtype::kF16) &&
              LUCID_F64 == static_cast<int>(Dtype::kF64) && LUCID_F64 + 1 == lucid::kDtypeCount);

struct lucid_program {
  explicit lucid_program(std::shared_ptr<ProgramCode> code) : loaded(std::move(code)) {
    for (const Signature& input : loaded.file().inputs) inputs.push_back(spec_of(input));
    for (const Signature& output : loaded.file().outputs) outputs.push_back(spec_of(output));
  }

  lucid_spec spec_of(const Signature& signature) const {
    lucid_spec spec{};
    if (signature.shape.size() > LUCID_MAX_RANK)
      throw lucid::ValueError("{} has {} dimensions; programs in C have at most {}", signature.name,
                              signature.shape.size(), LUCID_MAX_RANK);
    spec.name = signature.name.c_str();
    spec.dtype = static_cast<lucid_dtype>(signature.dtype);
    spec.rank = static_cast<int32_t>(signature.shape.size());
    for (size_t i = 0; i < signature.shape.size(); ++i) {
      const Signature::Size& size = signature.shape[i];
      spec.shape[i] = size.symbol >= 0 ? -1 : size.number;
      if (size.symbol >= 0) spec.size_names[i] = loaded.file().symbols[static_cast<size_t>(size.symbol)].name.c_str();
    }
    return spec;
  }

  LoadedProgram loaded;
  std::vector<lucid_spec> inputs;
  std::vector<lucid_spec> outputs;
};

namespace {

struct LastError {
  std::string text;
};

/// Calls `function`. If it throws, notes why and returns `failed`: nothing is thrown into C.
template <typename Result, typename Function>
Result guarded(Result failed, const Function& function) noexcept {
  const char* reason = "out of memory";
  try {
    try {
      return function();
    } catch (const std::bad_alloc&) {
      ThreadObject<LastError>::get().text = reason;
    } catch (const std::exception& error) {
      ThreadObject<LastError>::get().text = error.what();
    }
  } catch (...) {
    // There is no memory for the message either.
  }
  return failed;
}

Array array_of(const lucid_tensor& tensor) {
  if (tensor.rank < 0 || tensor.rank > LUCID_MAX_RANK)
    throw lucid::ValueError("a tensor has {} dimensions, not 0 to {}", tensor.rank, LUCID_MAX_RANK);
  if (tensor.dtype < LUCID_BOOL || tensor.dtype > LUCID_F64)
    throw lucid::TypeError("{} is not a dtype", static_cast<int>(tensor.dtype));
  Array array{.dtype = static_cast<Dtype>(tensor.dtype), .data = tensor.data};
  bool is_empty = false;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] < 0) throw lucid::ValueError("a tensor has the size {}", tensor.shape[i]);
    is_empty = is_empty || tensor.shape[i] == 0;
    array.shape.push_back(tensor.shape[i]);
  }
  if (!tensor.data && !is_empty) throw lucid::ValueError("the data of a tensor is NULL");
  return array;
}

}  // namespace

extern "C" {

lucid_program* lucid_program_load(const char* path, unsigned flags) {
  return guarded<lucid_program*>(nullptr, [&] {
    if (!path) throw lucid::ValueError("lucid_program_load: the path is NULL");
    const auto trust = flags & LUCID_TRUSTED ? lucid::program::Trust::kCode : lucid::program::Trust::kNone;
    return new lucid_program(lucid::program::open_program(path, trust, lucid::program::make_graph_plans()));
  });
}

lucid_program* lucid_program_open(const lucid_linked_program* linked) {
  return guarded<lucid_program*>(nullptr, [&] {
    if (!linked) throw lucid::ValueError("lucid_program_open: the program is NULL");
    return new lucid_program(lucid::program::open_linked({static_cast<const char*>(linked->bytes), linked->size},
                                                         {linked->kernels, linked->kernel_count}));
  });
}

lucid_program* lucid_program_copy(const lucid_program* program) {
  return guarded<lucid_program*>(nullptr, [&] {
    if (!program) throw lucid::ValueError("lucid_program_copy: the program is NULL");
    return new lucid_program(program->loaded.shared_code());
  });
}

void lucid_program_free(lucid_program* program) { delete program; }

const char* lucid_program_name(const lucid_program* program) {
  return program ? program->loaded.file().name.c_str() : nullptr;
}

size_t lucid_program_input_count(const lucid_program* program) { return program ? program->inputs.size() : 0; }

size_t lucid_program_output_count(const lucid_program* program) { return program ? program->outputs.size() : 0; }

const lucid_spec* lucid_program_input(const lucid_program* program, size_t index) {
  return index < lucid_program_input_count(program) ? &program->inputs[index] : nullptr;
}

const lucid_spec* lucid_program_output(const lucid_program* program, size_t index) {
  return index < lucid_program_output_count(program) ? &program->outputs[index] : nullptr;
}

int lucid_program_run(lucid_program* program, const lucid_tensor* inputs, size_t input_count, lucid_tensor* outputs,
                      size_t output_count) {
  return guarded(-1, [&] {
    if (!program) throw lucid::ValueError("lucid_program_run: the program is NULL");
    if ((!inputs && input_count > 0) || (!outputs && output_count > 0))
      throw lucid::ValueError("lucid_program_run: the inputs or the outputs are NULL");
    if (output_count != program->outputs.size())
      throw lucid::TypeError("{}: expects {} outputs, got {}", lucid_program_name(program), program->outputs.size(),
                             output_count);
    std::vector<Array> arrays;
    for (size_t i = 0; i < input_count; ++i) arrays.push_back(array_of(inputs[i]));
    std::vector<Array> results = program->loaded.run(arrays);
    // A file whose results have other ranks than its outputs is not loaded. The caller's memory depends on that.
    for (size_t i = 0; i < output_count; ++i)
      LUCID_CHECK(results[i].shape.size() == static_cast<size_t>(program->outputs[i].rank), "result {} has rank {}", i,
                  results[i].shape.size());
    for (size_t i = 0; i < output_count; ++i) {
      lucid_tensor& output = outputs[i] = {};
      output.dtype = static_cast<lucid_dtype>(results[i].dtype);
      output.rank = static_cast<int32_t>(results[i].shape.size());
      std::ranges::copy(results[i].shape, output.shape);
      output.data = results[i].data;
      output.owner = results[i].memory.detach();
    }
    return 0;
  });
}

int lucid_program_reset(lucid_program* program) {
  return guarded(-1, [&] {
    if (!program) throw lucid::ValueError("lucid_program_reset: the program is NULL");
    program->loaded.reset();
    return 0;
  });
}

void lucid_tensor_release(lucid_tensor* tensors, size_t count) {
  for (size_t i = 0; tensors && i < count; ++i) {
    if (tensors[i].owner) lucid::Ref<lucid::Storage>::adopt(static_cast<lucid::Storage*>(tensors[i].owner)).reset();
    tensors[i].data = tensors[i].owner = nullptr;
  }
}

size_t lucid_dtype_size(lucid_dtype dtype) {
  return dtype < LUCID_BOOL || dtype > LUCID_F64 ? 0 : lucid::size_of(static_cast<Dtype>(dtype));
}

int lucid_set_threads(int threads) {
  return guarded(-1, [&] {
    lucid::set_thread_count(threads);
    return 0;
  });
}

const char* lucid_error(void) {
  const LastError* const error = ThreadObject<LastError>::find();
  return error ? error->text.c_str() : "";
}

}  // extern "C"
