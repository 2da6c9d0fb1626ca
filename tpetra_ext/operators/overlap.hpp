#pragma once

/// \file
/// Whether two blocks share memory.

#include <functional>

namespace capstan {

/// Whether two blocks share memory: the result of a product must then not be written where X is still to be read.
/// Views of any memory. Local.
template <class View, class Other>
bool overlap(const View& x, const Other& y) {
  if (x.span() == 0 || y.span() == 0) return false;
  const std::less<const void*> before;
  return before(x.data(), y.data() + y.span()) && before(y.data(), x.data() + x.span());
}

}  // namespace capstan
