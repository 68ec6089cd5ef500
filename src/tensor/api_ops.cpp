#include <lucid/ops.h>

#include "base/error.h"
#include "base/shape.h"
#include "tensor/api.h"
#include "tensor/compute.h"
#include "tensor/inplace.h"
#include "tensor/observer.h"

namespace lucid {

Tensor Tensor::max() const { return amax(); }
MaxDimResult Tensor::max(int64_t dim, bool keepdim) const { return lucid::max_dim(*this, dim, keepdim); }
Tensor Tensor::max(const Tensor& other) const { return maximum(other); }
Tensor Tensor::min() const { return amin(); }
MinDimResult Tensor::min(int64_t dim, bool keepdim) const { return lucid::min_dim(*this, dim, keepdim); }
Tensor Tensor::min(const Tensor& other) const { return minimum(other); }
MedianDimResult Tensor::median(int64_t dim, bool keepdim) const { return lucid::median_dim(*this, dim, keepdim); }

Tensor Tensor::where(const Tensor& condition, const Argument& y) const { return lucid::where(condition, *this, y); }
Tensor Tensor::index_put(const std::vector<Tensor>& indices, const Argument& values, bool accumulate) const {
  return TensorMethods::index_put(values, indices, accumulate);
}
Tensor& Tensor::index_put_(const std::vector<Tensor>& indices, const Argument& values, bool accumulate) {
  return TensorMethods::index_put_(values, indices, accumulate);
}

Tensor Tensor::to(Dtype dtype) const { return lucid::to(*this, dtype); }
Tensor Tensor::to(const std::string& device) const { return to_device(*this, device); }

Tensor Tensor::view(Ints shape) const { return wrap(view_of(unwrap(*this), dims_of(shape))); }

Tensor Tensor::t() const {
  if (dim() > 2)
    throw RuntimeError("t: expected at most 2 dimensions, got {}; use mT() or permute()",
                       lucid::to_string(unwrap(*this).type()));
  return dim() == 2 ? transpose(0, 1) : *this;
}

Tensor Tensor::mT() const {
  if (dim() < 2)
    throw RuntimeError("mT: expected at least 2 dimensions, got {}", lucid::to_string(unwrap(*this).type()));
  return transpose(-2, -1);
}

Tensor& Tensor::copy_(const Argument& source) {
  lucid::copy_(unwrap(*this), operand_of(source));
  return *this;
}
Tensor& Tensor::fill_(const Argument& value) {
  lucid::fill_(unwrap(*this), operand_of(value));
  return *this;
}
Tensor& Tensor::zero_() {
  lucid::zero_(unwrap(*this));
  return *this;
}

Tensor& Tensor::operator+=(const Argument& other) { return add_(other); }
Tensor& Tensor::operator-=(const Argument& other) { return sub_(other); }
Tensor& Tensor::operator*=(const Argument& other) { return mul_(other); }
Tensor& Tensor::operator/=(const Argument& other) { return div_(other); }
Tensor& Tensor::operator%=(const Argument& other) { return remainder_(other); }
Tensor& Tensor::operator&=(const Argument& other) { return bitwise_and_(other); }
Tensor& Tensor::operator|=(const Argument& other) { return bitwise_or_(other); }
Tensor& Tensor::operator^=(const Argument& other) { return bitwise_xor_(other); }

Tensor operator+(const Argument& x, const Argument& y) { return add(x, y); }
Tensor operator-(const Argument& x, const Argument& y) { return sub(x, y); }
Tensor operator*(const Argument& x, const Argument& y) { return mul(x, y); }
Tensor operator/(const Argument& x, const Argument& y) { return div(x, y); }
Tensor operator%(const Argument& x, const Argument& y) { return remainder(x, y); }
Tensor operator&(const Argument& x, const Argument& y) { return bitwise_and(x, y); }
Tensor operator|(const Argument& x, const Argument& y) { return bitwise_or(x, y); }
Tensor operator^(const Argument& x, const Argument& y) { return bitwise_xor(x, y); }
Tensor operator==(const Argument& x, const Argument& y) { return eq(x, y); }
Tensor operator!=(const Argument& x, const Argument& y) { return ne(x, y); }
Tensor operator<(const Argument& x, const Argument& y) { return lt(x, y); }
Tensor operator<=(const Argument& x, const Argument& y) { return le(x, y); }
Tensor operator>(const Argument& x, const Argument& y) { return gt(x, y); }
Tensor operator>=(const Argument& x, const Argument& y) { return ge(x, y); }
Tensor operator-(const Tensor& x) { return neg(x); }
Tensor operator~(const Tensor& x) { return bitwise_not(x); }

bool equal(const Tensor& x, const Tensor& y) {
  for (const Tensor* each : {&x, &y}) on_use(unwrap(*each));
  return unwrap(x).sizes() == unwrap(y).sizes() && (x == y).all().item<bool>();
}

bool allclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) {
  return isclose(x, y, rtol, atol, equal_nan).all().item<bool>();
}

}  // namespace lucid
