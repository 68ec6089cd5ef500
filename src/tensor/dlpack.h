#pragma once

#include <cstdint>
#include <functional>

#include "tensor/tensor_impl.h"

// The structures of DLPack 1.0 (https://dmlc.github.io/dlpack/latest/c_api.html), with its memory layout.

namespace lucid::dlpack {

enum DeviceType : int32_t { kCpu = 1 };
enum TypeCode : uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for row-major order
  uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kCopied = 2;

struct VersionedTensor {
  Version version;
  void* context;
  void (*deleter)(VersionedTensor* self);
  uint64_t flags;
  Tensor tensor;
};

inline constexpr const char* kName = "dltensor";
inline constexpr const char* kUsedName = "used_dltensor";
inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

DataType data_type_of(Dtype dtype);

/// A tensor on memory that another library describes. It is a copy if the memory cannot be shared: it is read-only or
/// its elements are not naturally aligned. The description is validated: throws ValueError or TypeError, naming
/// from_dlpack. `release` returns the memory to its owner, also when this throws.
TensorRef import_tensor(const Tensor& in, bool read_only, std::function<void()> release);

}  // namespace lucid::dlpack
