/// \file
/// When CG is hopeless, by numbers of its iterations.

#include "belos_ext/convergence/definiteness_watch.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace capstan {
namespace {

constexpr int enough = std::numeric_limits<int>::max();

/// Iterations with these residuals until CG is hopeless; their number where it never is.
/// \param negativeFrom (r, M^{-1} r) < 0 from this iteration on
std::size_t hopelessAfter(const std::vector<double>& residuals, std::size_t negativeFrom) {
  DefinitenessWatch watch;
  watch.begin(residuals.front());
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    watch.sees(1, k < negativeFrom ? 1 : -1, 1);
    watch.iterated(residuals[k]);
    if (watch.hopeless(1e-30, enough)) return k + 1;
  }
  return residuals.size();
}

// As seen with a preconditioner that rounding has made indefinite: the residual falls by eight digits, and rises for
// ever.
const std::vector<double> fallen{2e-1, 5e-3, 1e-4, 3e-6, 7e-8, 9e-10, 1e-9, 2e-8, 1e-6, 3e-5, 7e-4, 2e-2, 9e-1, 1e1};

TEST(DefinitenessWatch, IsHopelessWhereTheResidualRisesAfterASign) {
  EXPECT_EQ(hopelessAfter(fallen, 5), 12U) << "2e-2 is more than 1e6 times 9e-10";
}

TEST(DefinitenessWatch, LetsResidualsRiseWhereNothingSpeaksAgainstIt) {
  EXPECT_EQ(hopelessAfter(fallen, fallen.size()), fallen.size());
}

TEST(DefinitenessWatch, LetsThemRiseALittleAfterASign) {
  EXPECT_EQ(hopelessAfter({1, 1e-3, 1e-6, 1e-3, 1e-1, 1e-3, 1e-6, 1e-9}, 2), 8U);
}

TEST(DefinitenessWatch, BeginsAnewWithASolve) {
  DefinitenessWatch watch;
  watch.begin(1);
  watch.sees(1, 1, 1);
  watch.sees(1, -1, 1);
  watch.iterated(1e-9);
  watch.iterated(1);
  EXPECT_TRUE(watch.hopeless(1e-30, enough));
  watch.begin(1);
  EXPECT_EQ(watch.seen(), Cause::None);
  EXPECT_FALSE(watch.hopeless(1e-30, enough));
}

}  // namespace
}  // namespace capstan
