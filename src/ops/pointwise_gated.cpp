// Activations with their own loops, because a composition of other ops would suffer from cancellation or underflow:
// products of x and a function that vanishes for negative x, and x - tanh(x).

#include <numbers>

#include "loop/math.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

template <typename T>
T sigmoid_of(T x) {
  return 1 / (1 + std::exp(-x));
}

/// x - tanh(x) = (x cosh(x) - sinh(x)) / cosh(x); the numerator is the sum of 2 k x^(2 k + 1) / (2 k + 1)!.
template <typename T>
T tanhshrink_of(T x) {
  if (!(std::fabs(x) < 1)) return x - std::tanh(x);
  T sum = x * 0, term = x;
  for (int k = 1; k < 12; ++k) {
    term *= x * x / (2 * k * (2 * k + 1));
    sum += 2 * k * term;
  }
  return sum / std::cosh(x);
}

/// Completes an activation with the loop `lower`. `f` defines its result and computes in a wider type.
template <typename F>
Op gated(Op op, loop::Value (*lower)(loop::Value), F f) {
  op.dtypes = kFloats;
  op.promote = Promote::kSame;
  op.lowering = lower_unary(lower);
  op.reference = reference_in_wide(f);
  op.samples = unary_samples();
  op.ulp = 4;
  return op;
}

bool is_tanh_form(const Call& call) { return call.text("approximate") == "tanh"; }

constexpr double kCubic = 0.044715;
constexpr double kSqrtTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;

/// The slope of gelu's tanh form, which is x * (1 + tanh(u)) / 2 with u = sqrt(2 / pi) * (x + 0.044715 * x^3).
Value tanh_form_slope(Emitter& e, const Value& x) {
  const Value u = e.mul(e.add(x, e.mul(e.mul(e.mul(x, x), x), kCubic)), kSqrtTwoOverPi);
  const Value t = e.tanh(u);
  const Value inner = e.mul(e.add(e.mul(e.mul(x, x), 3 * kCubic), 1), kSqrtTwoOverPi);
  const Value bend = e.mul(e.mul(x, e.sub(1, e.mul(t, t))), inner);
  return e.mul(e.add(e.add(t, 1), bend), 0.5);
}

Op gelu() {
  return {
      .signature = "gelu(x, *, approximate: str = 'none')",
      .doc = R"(Computes the Gaussian error linear unit x * P(Z <= x), elementwise, where Z is a standard normal
variable. `approximate` is 'none' for the exact form or 'tanh' for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x
+ 0.044715 * x^3))), which older models use. Raises ValueError for any other `approximate`.

>>> lucid.gelu(lucid.tensor([-1.0, 0.0, 1.0]))
tensor([-0.1587,  0.0000,  0.8413]))",
      .names = {.in_place = true},
      .dtypes = kFloats,
      .promote = Promote::kSame,
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (const std::string& form = call.text("approximate"); form != "none" && form != "tanh")
          throw ValueError("gelu: approximate must be 'none' or 'tanh', got '{}'", form);
        return infer_pointwise(call);
      },
      .lowering = PointwiseLowering{.body =
                                        [](loop::Builder&, std::span<const loop::Value> in, const Call& call) {
                                          return is_tanh_form(call) ? loop::gelu_tanh(in[0]) : loop::gelu(in[0]);
                                        }},
      .reference =
          [](HostCall& call) {
            if (is_tanh_form(call)) {
              reference_in_wide([]<typename T>(T x) {
                const T u = static_cast<T>(kSqrtTwoOverPi) * (x + static_cast<T>(kCubic) * x * x * x);
                return x * sigmoid_of(2 * u);
              })(call);
            } else {
              reference_in_wide([]<typename T>(T x) { return x * std::erfc(-x / std::numbers::sqrt2_v<T>) / 2; })(call);
            }
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value& x = call.in(0);
                     if (is_tanh_form(call)) return {e.mul(g[0], tanh_form_slope(e, x))};
                     return {e.mul(g[0], e.add(e.ndtr(x), e.mul(x, normal_density(e, x))))};
                   },
                   .saved_inputs = {0}},
      .samples = unary_samples() + with(unary_samples(), {{"approximate", std::string("tanh")}}),
      .ulp = 4,
  };
}

Op silu() {
  return gated({.signature = "silu(x)",
                .doc = R"(Computes x * sigmoid(x), elementwise. Also known as swish.

>>> lucid.silu(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.7311]))",
                .names = {.in_place = true, .takes_inplace = true},
                .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) {
                  const Value s = e.sigmoid(x);
                  return e.mul(g, e.mul(s, e.add(e.mul(x, e.sub(1, s)), 1)));
                })},
               loop::silu, [](auto x) { return x * sigmoid_of(x); });
}

Op mish() {
  return gated({.signature = "mish(x)",
                .doc = R"(Computes x * tanh(softplus(x)), elementwise.

>>> lucid.mish(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.8651]))",
                .names = {.in_place = true, .takes_inplace = true},
                .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) {
                  const Value t = e.tanh(e.softplus(x));
                  return e.mul(g, e.add(t, e.mul(e.mul(x, e.sigmoid(x)), e.sub(1, e.mul(t, t)))));
                })},
               loop::mish, [](auto x) { return x * std::tanh(std::log1p(std::exp(x))); });
}

Op tanhshrink() {
  return gated({.signature = "tanhshrink(x)",
                .doc = R"(Computes x - tanh(x), elementwise.

>>> lucid.tanhshrink(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.2384]))",
                .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) {
                  const Value t = e.tanh(x);
                  return e.mul(g, e.mul(t, t));
                })},
               loop::tanhshrink, [](auto x) { return tanhshrink_of(x); });
}

}  // namespace

void add_gated_ops(std::vector<Op>& ops) {
  for (auto make : {gelu, silu, mish, tanhshrink}) ops.push_back(make());
}

}  // namespace lucid
