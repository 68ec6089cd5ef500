#include "device/gpu.h"

#include <nanobind/stl/string.h>

#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/interop.h"
#include "bindings/pure.h"

namespace lucid::python {

void bind_gpu(nb::module_& module) {
  using namespace nb::literals;
  def_pure(module, "gpu_count", &Gpu::count, "The number of gpus.");
  def_pure(module, "gpu_name", [](int index) { return Gpu::at(index).name(); }, "index"_a, "The name of a gpu.");
  module.def("gpu_synchronize", [](int index) { Gpu::at(index).synchronize(); }, "index"_a);
  module.def("gpu_memory_stats", [](int index) { return to_dict(Gpu::at(index).memory_stats()); }, "index"_a);
  module.def("gpu_reset_peak_memory", [](int index) { Gpu::at(index).reset_peak_memory(); }, "index"_a);
  module.def("gpu_empty_cache", [](int index) { Gpu::at(index).empty_cache(); }, "index"_a);
  module.def(
      "gpu_work_stats",
      [](int index) {
        const GpuWorkStats stats = Gpu::at(index).work_stats();
        nb::dict result;
        result["submissions"] = stats.submissions;
        result["dispatches"] = stats.dispatches;
        result["barriers"] = stats.barriers;
        result["recordings"] = stats.recordings;
        result["uploads"] = stats.uploads;
        result["downloads"] = stats.downloads;
        return result;
      },
      "index"_a);
  module.def(
      "set_default_device",
      [](nb::handle device) {
        set_default_device(to_device_or_none("set_default_device", device.ptr()).value_or(kCpuDevice));
      },
      "device"_a.none(),
      "Sets the device of tensors that are created without one. None means the CPU.\n\n"
      ">>> lucid.set_default_device(\"cpu\")");
  def_pure(
      module, "get_default_device", [] { return nb::borrow(device_object(current_device())); },
      "The device of tensors that are created without one.");
}

}  // namespace lucid::python
