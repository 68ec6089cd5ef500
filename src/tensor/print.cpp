#include "tensor/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <ostream>
#include <span>

#include "lucid/autograd.h"
#include "lucid/ops.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/node.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

constexpr const char* kOmitted = "...";

/// A dimension as it is shown: all of it, or `edge` elements at each end.
struct Shown {
  int64_t size = 0;
  bool is_summarized = false;
};

std::string text_of(bool value) { return value ? "True" : "False"; }

/// One format and a common width for all elements that are shown.
class Formatter {
 public:
  Formatter(std::span<const double> values, const PrintOptions& options) : precision_(options.precision) {
    choose(values, options.scientific);
    for (double value : values) texts_.push_back(real_text(value));
    align();
  }
  Formatter(std::span<const int64_t> values, bool are_bools) {
    for (int64_t value : values) texts_.push_back(are_bools ? text_of(value != 0) : std::to_string(value));
    align();
  }

  size_t width() const { return width_; }
  const std::string& text(size_t element) const { return texts_[element]; }

 private:
  enum class Style { kWhole, kFixed, kScientific };

  void choose(std::span<const double> values, std::optional<bool> scientific) {
    double low = 0, high = 0;
    bool whole = true;
    for (double value : values) {
      const double size = std::abs(value);
      if (size == 0 || !std::isfinite(size)) continue;
      low = low == 0 ? size : std::min(low, size);
      high = std::max(high, size);
      whole = whole && size == std::ceil(size);
    }
    if (high == 0) return;
    const bool is_wide = high / low > 1000 || high > 1e8 || (!whole && low < 1e-4);
    if (scientific.value_or(is_wide)) {
      style_ = Style::kScientific;
    } else {
      style_ = whole ? Style::kWhole : Style::kFixed;
    }
  }

  std::string real_text(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if (style_ == Style::kWhole) return fmt::format("{:.0f}.", value);
    return style_ == Style::kFixed ? fmt::format("{:.{}f}", value, precision_)
                                   : fmt::format("{:.{}e}", value, precision_);
  }

  void align() {
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
    for (std::string& text : texts_) text.insert(0, width_ - text.size(), ' ');
  }

  int precision_ = 0;
  Style style_ = Style::kWhole;
  size_t width_ = 1;
  std::vector<std::string> texts_;
};

/// Lays out the elements that are shown, in row-major order, as nested lists.
class Layout {
 public:
  Layout(std::span<const Shown> dims, const Formatter& formatter, const PrintOptions& options)
      : dims_(dims), formatter_(formatter), options_(options) {}

  std::string text(int64_t indent) { return dims_.empty() ? formatter_.text(0) : list(0, indent); }

 private:
  std::string list(size_t depth, int64_t indent) {
    const size_t inner = dims_.size() - depth - 1;
    const std::vector<std::string> parts = parts_of(depth, indent);
    const auto margin = static_cast<size_t>(indent) + 1;
    if (inner > 0) return "[" + joined(parts, "," + std::string(inner, '\n') + std::string(margin, ' ')) + "]";
    const auto per_line = static_cast<size_t>(
        std::max<int64_t>(1, (options_.line_width - indent) / static_cast<int64_t>(formatter_.width() + 2)));
    std::vector<std::string> lines;
    for (size_t first = 0; first < parts.size(); first += per_line)
      lines.push_back(joined(std::span(parts).subspan(first, std::min(per_line, parts.size() - first)), ", "));
    return "[" + joined(lines, ",\n" + std::string(margin, ' ')) + "]";
  }

  std::vector<std::string> parts_of(size_t depth, int64_t indent) {
    const bool is_last = depth + 1 == dims_.size();
    std::vector<std::string> parts;
    for (int64_t i = 0; i < dims_[depth].size; ++i) {
      if (dims_[depth].is_summarized && i == options_.edge_items) parts.push_back(is_last ? " ..." : kOmitted);
      parts.push_back(is_last ? formatter_.text(next_++) : list(depth + 1, indent + 1));
    }
    return parts;
  }

  static std::string joined(std::span<const std::string> parts, const std::string& separator) {
    return fmt::format("{}", fmt::join(parts, separator));
  }

  std::span<const Shown> dims_;
  const Formatter& formatter_;
  const PrintOptions& options_;
  size_t next_ = 0;
};

/// The elements that are shown, and the sizes of their dimensions.
Tensor shown_part(Tensor tensor, const PrintOptions& options, std::vector<Shown>& dims) {
  const bool summarize = tensor.numel() > options.threshold;
  const int64_t edge = options.edge_items;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const int64_t size = tensor.size(dim);
    dims.push_back({size, summarize && size > 2 * edge});
    if (!dims.back().is_summarized) continue;
    dims.back().size = 2 * edge;
    tensor = cat({tensor.narrow(dim, 0, edge), tensor.narrow(dim, size - edge, edge)}, dim);
  }
  return tensor;
}

std::string elements_text(const Tensor& tensor, int64_t indent, const PrintOptions& options) {
  const NoGrad no_grad;
  std::vector<Shown> dims;
  const Tensor part = shown_part(tensor.detach(), options, dims);
  const Formatter formatter = is_float(tensor.dtype()) ? Formatter(part.to_vector<double>(), options)
                                                       : Formatter(part.to_vector<int64_t>(), is_bool(tensor.dtype()));
  return Layout(dims, formatter, options).text(indent);
}

std::vector<std::string> suffixes_of(TensorImpl& tensor) {
  std::vector<std::string> suffixes;
  const Dtype dtype = tensor.dtype();
  const bool is_empty = tensor.numel() == 0;
  if (is_empty && tensor.sizes().rank() != 1) {
    const Shape sizes(tensor.sizes().begin(), tensor.sizes().end());
    suffixes.push_back(fmt::format("size=({})", fmt::join(sizes, ", ")));
  }
  const bool is_usual = dtype == default_float() || dtype == Dtype::kI64 || dtype == Dtype::kBool;
  if (!is_usual || (is_empty && dtype != default_float()))
    suffixes.push_back(fmt::format("dtype=lucid.{}", long_name_of(dtype)));
  if (tensor.device().is_gpu()) suffixes.push_back(fmt::format("device='{}'", to_string(tensor.device())));
  on_inspection(tensor, "reads grad_fn of a tensor");
  if (const Edge edge = gradient_node(tensor)) {
    suffixes.push_back(fmt::format("grad_fn=<{}>", class_name_of(*edge.node)));
  } else if (requires_grad(tensor)) {
    suffixes.emplace_back("requires_grad=True");
  }
  return suffixes;
}

std::string with_suffixes(std::string text, std::span<const std::string> suffixes, int64_t indent, int64_t line_width) {
  auto last_line = static_cast<int64_t>(text.size()) - static_cast<int64_t>(text.rfind('\n')) + 1;
  for (const std::string& suffix : suffixes) {
    const auto size = static_cast<int64_t>(suffix.size());
    if (last_line + size + 2 > line_width) {
      text += ",\n" + std::string(static_cast<size_t>(indent), ' ') + suffix;
      last_line = indent + size;
    } else {
      text += ", " + suffix;
      last_line += size + 2;
    }
  }
  return text + ")";
}

std::mutex g_options_mutex;
PrintOptions g_options;

}  // namespace

std::string text_of(TensorImpl& tensor, const std::string& name, const PrintOptions& options) {
  const auto indent = static_cast<int64_t>(name.size()) + 1;
  const std::string elements = tensor.numel() == 0 ? "[]" : elements_text(wrap(TensorRef(&tensor)), indent, options);
  return with_suffixes(name + "(" + elements, suffixes_of(tensor), indent, options.line_width);
}

void set_print_options(const PrintOptions& options) {
  const std::lock_guard lock(g_options_mutex);
  g_options = options;
}

PrintOptions print_options() {
  const std::lock_guard lock(g_options_mutex);
  return g_options;
}

std::string Tensor::to_string() const { return defined() ? text_of(*impl(), "tensor", print_options()) : "tensor()"; }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }
std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << long_name_of(dtype); }

}  // namespace lucid
