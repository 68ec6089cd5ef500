#include "ops/scatter_rules.h"

#include "ops/reference_index.h"

namespace lucid {

void reference_combine(ScatterCombine combine, const HostArray& out, int64_t to, const HostArray& source,
                       int64_t from) {
  dispatch_all(out.type.dtype, [&]<typename T>() {
    const T held = element_as<T>(out.type.dtype, element_of(out, to));
    const T next = element_as<T>(out.type.dtype, element_of(source, from));
    T result = next;
    if constexpr (std::is_integral_v<T>) {
      if (combine == ScatterCombine::kAdd) result = wrapped<T>(bits_of(held) + bits_of(next));
      if (combine == ScatterCombine::kMul) result = wrapped<T>(bits_of(held) * bits_of(next));
    } else {
      if (combine == ScatterCombine::kAdd) result = held + next;
      if (combine == ScatterCombine::kMul) result = held * next;
    }
    if (combine == ScatterCombine::kMax) result = next > held || next != next ? next : held;
    if (combine == ScatterCombine::kMin) result = next < held || next != next ? next : held;
    write_element(out, to, result);
  });
}

void check_source(const Call& call, size_t source) {
  if (call.operand(source).is_value() && call.dtype(source) != call.dtype(0))
    throw TypeError("{}: source {} and tensor {} must have the same dtype", call.name(),
                    to_string(call.operand(source).type()), to_string(call.operand(0).type()));
}

Value row_major_indices(Emitter& e, const Dims& shape) { return e.reshape(e.iota(Dims{numel(shape)}), shape); }

}  // namespace lucid
