#include <lucid/settings.h>

#include "base/device.h"
#include "base/dtype.h"
#include "device/find_device.h"
#include "runtime/thread_pool.h"
#include "tensor/observer.h"

namespace lucid {

Dtype get_default_dtype() { return default_float(); }

void set_default_dtype(Dtype dtype) {
  set_default_float(dtype);
  on_external_effect("sets the default dtype");
}

std::string get_default_device() { return to_string(current_device()); }

void set_default_device(const std::string& device) {
  const Device wanted = find_device("set_default_device", device);
  on_external_effect("sets the default device");
  set_default_device(wanted);
}

int get_num_threads() {
  on_external_effect("reads the number of threads");
  return num_threads();
}

void set_num_threads(int threads) {
  on_external_effect("sets the number of threads");
  set_thread_count(threads);
}

}  // namespace lucid
