#pragma once

#include <random>

#include "ir/op.h"
#include "ops/interpreter.h"

/// Samples of the op table as values of the interpreter.
namespace lucid::test {

/// The dtypes in `among` to test an op's samples with.
inline std::vector<Dtype> dtypes_of(const Op& op, DtypeSet among = kAllDtypes) {
  std::vector<Dtype> dtypes;
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    if (op.dtypes.contains(dtype) && among.contains(dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

inline double random_element(std::mt19937& random, const SampleTensor& tensor, Dtype dtype, int64_t i) {
  const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
  const double normal = std::normal_distribution<double>()(random);
  const auto whole = [&](int64_t low, int64_t high) {
    return static_cast<double>(std::uniform_int_distribution<int64_t>(low, high)(random));
  };
  const bool is_unsigned = dtype == Dtype::kU8 || dtype == Dtype::kBool;
  switch (tensor.fill) {
    case Fill::kNormal:
      return is_float(dtype) ? normal : whole(is_unsigned ? 0 : -4, 4);
    case Fill::kPositive:
      return is_float(dtype) ? 0.5 + std::abs(normal) : whole(1, 5);
    case Fill::kLarge:
      return is_float(dtype) ? 1.25 + std::abs(normal) : whole(2, 6);
    case Fill::kUnit:
      return is_float(dtype) ? unit * 0.9 : whole(is_unsigned ? 0 : -1, 1);
    case Fill::kProbability:
      return is_float(dtype) ? 0.5 + unit * 0.45 : whole(0, 1);
    case Fill::kSign:
      return unit > 0 ? 1 : -1;
    case Fill::kNonZero:
      if (is_float(dtype)) return std::copysign(0.5 + std::abs(normal), unit);
      return is_unsigned || unit > 0 ? whole(1, 4) : whole(-4, -1);
    case Fill::kDistinct:
      // Multiples of 37 modulo the prime 113: distinct for the small tensors that use this fill.
      return static_cast<double>(i * 37 % 113) * (is_float(dtype) ? 0.25 : 1);
    case Fill::kIndex:
      return whole(-tensor.bound, tensor.bound - 1);
    case Fill::kOffset:
      return whole(0, tensor.bound - 1);
    case Fill::kMask:
      return unit > 0;
    case Fill::kBound:
      return static_cast<double>(tensor.bound);
    case Fill::kTrueMask:
      return 1;
  }
  return 0;
}

/// A sample's tensor with random elements from `seed`. Elements that share memory are equal. Returns an empty value for
/// numbers and absent operands.
inline Value make_tensor(const SampleTensor& tensor, Dtype dtype, uint32_t seed) {
  if (tensor.absent || tensor.number) return {};
  if (tensor.dtype) dtype = *tensor.dtype;
  std::mt19937 random(seed);
  const Value value = Interpreter::make({dtype, tensor.shape});
  const HostArray array = Interpreter::array(value);
  const Dims strides = tensor.strides.empty() ? contiguous_strides(tensor.shape) : tensor.strides;
  const auto [begin, end] = element_range({tensor.shape, strides, 0});
  std::vector<double> memory;
  for (int64_t i = begin; i < end; ++i) memory.push_back(random_element(random, tensor, dtype, i));
  const Dims place = contiguous_strides(tensor.shape);
  for (int64_t i = 0; i < array.size(); ++i) {
    int64_t at = -begin;
    for (size_t d = 0; d < place.size(); ++d) at += i / place[d] % tensor.shape[d] * strides[d];
    Scalar(memory[static_cast<size_t>(at)]).store(dtype, array.as<char>() + i * static_cast<int64_t>(size_of(dtype)));
  }
  return value;
}

/// One sample as a call. Owns the values of its operands.
struct SampleCall {
  SampleCall(const Op& op, const Sample& sample, Dtype dtype) : op(op), attributes(op.schema.default_attributes()) {
    for (const auto& [name, value] : sample.attributes) {
      const int index = op.schema.attribute_index(name);
      LUCID_CHECK(index >= 0, "a sample of {} sets {}, which it does not have", op.name(), name);
      attributes[static_cast<size_t>(index)] = value;
    }
    uint32_t seed = 1;
    for (const SampleTensor& tensor : sample.tensors) values.push_back(make_tensor(tensor, dtype, seed++));
    for (size_t i = 0; i < values.size(); ++i) operands.push_back(operand(sample.tensors[i], values[i]));
  }
  SampleCall(const SampleCall&) = delete;

  static Operand operand(const SampleTensor& tensor, const Value& value) {
    if (tensor.absent) return {};
    return tensor.number ? Operand(*tensor.number) : Operand(value);
  }
  Call call() const { return Call(op, operands, attributes); }
  std::vector<TensorType> types() const { return infer_types(call()); }

  const Op& op;
  Attributes attributes;
  Values values;
  std::vector<Operand> operands;
};

/// Whether the types of the results are known before the call runs, that is, do not depend on data.
inline bool has_types(const SampleCall& sample) {
  try {
    sample.types();
    return true;
  } catch (const NotImplementedError&) {
    return false;
  }
}

inline std::string describe(const SampleCall& sample) {
  std::string text = sample.op.name() + "(";
  for (const Operand& operand : sample.operands)
    text += (operand.is_scalar() ? to_string(operand.scalar())
             : operand.present() ? to_string(operand.type())
                                 : "none") +
            ", ";
  for (const Attribute& attribute : sample.attributes) text += to_string(attribute) + ", ";
  return text + ")";
}

}  // namespace lucid::test
