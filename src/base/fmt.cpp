// SPDX-License-Identifier: Apache-2.0
// What fmt's headers only declare, compiled once. Debian has fmt as a shared library alone, whose soname changes with
// each of its minor versions; and where every source compiles it for itself (FMT_HEADER_ONLY), that is more than a
// second of each.
#include <fmt/format.h>
#ifndef FMT_HEADER_ONLY
#include <fmt/format-inl.h>

// The templates that fmt's headers expect to find instantiated, for char.
FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float x) noexcept;
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double x) noexcept;
template FMT_API locale_ref::locale_ref(const std::locale& loc);
template FMT_API std::locale locale_ref::get<std::locale>() const;
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref);
template FMT_API char decimal_point_impl(locale_ref);
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
#endif
