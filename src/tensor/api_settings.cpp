#include <lucid/settings.h>

#include "base/device.h"
#include "base/dtype.h"
#include "base/error.h"
#include "runtime/thread_pool.h"
#include "tensor/observer.h"

namespace lucid {

Dtype get_default_dtype() { return default_float(); }

void set_default_dtype(Dtype dtype) {
  if (!is_float(dtype)) throw TypeError("set_default_dtype: expected a float dtype, got {}", name_of(dtype));
  note_act_outside("sets the default dtype");
  set_default_float(dtype);
}

std::string get_default_device() { return to_string(current_device()); }

void set_default_device(const std::string& device) {
  note_act_outside("sets the default device");
  set_default_device(parse_device(device));
}

int get_num_threads() { return num_threads(); }

void set_num_threads(int threads) { set_thread_count(threads); }

}  // namespace lucid
