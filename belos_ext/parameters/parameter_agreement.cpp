#include "belos_ext/parameters/parameter_agreement.hpp"

#include <fmt/format.h>

#include <Teuchos_CommHelpers.hpp>
#include <algorithm>
#include <vector>

#include "belos_ext/support/checksum.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan {

namespace {

constexpr std::size_t mostNamed = 3;

long long shortened(const std::string& text) {
  Checksum checksum;
  checksum.add(text);
  return static_cast<long long>(checksum.value() >> 2);
}

/// Rank 0's text, and that of the first rank that has another.
std::string compared(const std::string& mine, const Teuchos::Comm<int>& comm) {
  const std::string first = sharedText(mine, 0, comm);
  const int own = mine == first ? comm.getSize() - 1 : comm.getRank();
  int other = 0;
  Teuchos::reduceAll<int, int>(comm, Teuchos::REDUCE_MIN, 1, &own, &other);
  return fmt::format("{} on rank 0, {} on rank {}", first, sharedText(mine, other, comm), other);
}

}  // namespace

std::string differingParameters(const Parameters& parameters, const Teuchos::Comm<int>& comm) {
  const auto values = parameters.alike();
  std::vector<long long> mine, least(2 * values.size());
  for (const auto& value : values) {
    mine.push_back(shortened(value.second));
    mine.push_back(-mine.back());
  }
  Teuchos::reduceAll<int, long long>(comm, Teuchos::REDUCE_MIN, static_cast<int>(mine.size()), mine.data(),
                                     least.data());
  std::string text;
  std::size_t found = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (least[2 * k] == -least[2 * k + 1]) continue;
    if (++found > mostNamed) continue;
    const std::string name = k == 0 ? "the solver" : "parameter \"" + values[k].first + '"';
    text += (text.empty() ? "" : "; ") + name + " differs between ranks: " + compared(values[k].second, comm);
  }
  if (found > mostNamed) text += fmt::format("; and {} more", found - mostNamed);
  if (found == 0) text = "parameters differ between ranks";
  return text +
         ". All ranks must have the same (is CAPSTAN_OPTIONS set on all "
         "nodes?)";
}

}  // namespace capstan
