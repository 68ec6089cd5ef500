// Debian has fmt as headers and as a shared library. A wheel must not need the latter, and used header-only fmt takes
// more than half of the time that each of our files compiles for: so its implementation is compiled here, once.

#include <fmt/format-inl.h>

namespace fmt::detail {

template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float);
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double);

}  // namespace fmt::detail
