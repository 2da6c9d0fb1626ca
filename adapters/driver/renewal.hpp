// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// When a preconditioner that is kept from solve to solve is renewed.

#include <algorithm>
#include <array>

namespace capstan::driver {

/// When something kept from solve to solve is renewed.
struct UpdatePolicy {
  enum class Kind { Always, Periodic, Adaptive, Never };
  Kind kind = Kind::Always;
  int frequency = 1;    ///< Periodic: at every so many solves
  double growth = 1.5;  ///< Adaptive: when iterations per decimal digit have grown by this factor
};

/// What a preconditioner has cost since it was built, for `update adaptive`: it is renewed after a failure, where it
/// takes `growth` times the iterations for a digit of a fresh one, and where the time lost against a fresh one exceeds
/// what it takes to build one. Seconds of one rank become means over the ranks by share(), so that all decide alike.
class Renewal {
 public:
  /// \param age solves since it was built; 0: never
  bool isDue(const UpdatePolicy& policy, int age) const {
    switch (policy.kind) {
      case UpdatePolicy::Kind::Always:
        return true;
      case UpdatePolicy::Kind::Periodic:
        return age == 0 || age >= policy.frequency;
      case UpdatePolicy::Kind::Adaptive:
        return age == 0 || failed_ || excess_ > setUp_ || lastIterations_ > policy.growth * freshIterations_;
      case UpdatePolicy::Kind::Never:
        return age == 0;
    }
    return true;
  }

  /// It has been built, in so many seconds of this rank.
  void built(double seconds) {
    *this = Renewal();
    setUp_ = seconds;
  }

  /// A solve: iterations and seconds of this rank, for so many decimal digits of the residual.
  void learn(int iterations, double digits, double seconds, bool converged) {
    failed_ = !converged;
    if (iterations == 0 || !(digits > 0)) return;
    lastIterations_ = iterations / digits;
    if (freshIterations_ == 0) freshIterations_ = lastIterations_;
    digits_ = digits;
    unshared_ = seconds / digits;
  }

  /// Seconds of this rank that the others have to know of: for a digit, and to build.
  std::array<double, 2> secondsToShare() const { return {unshared_, setUp_}; }
  /// Their means over the ranks.
  void share(double meanSeconds, double meanSetUp) {
    setUp_ = meanSetUp;
    if (digits_ == 0) return;
    if (fresh_ == 0) {
      fresh_ = meanSeconds;
    } else {
      excess_ += std::max(0.0, meanSeconds - fresh_) * digits_;
    }
    digits_ = unshared_ = 0;
  }

 private:
  double setUp_ = 0;                                 ///< seconds it took to build
  double fresh_ = 0;                                 ///< seconds for a digit right after that
  double freshIterations_ = 0, lastIterations_ = 0;  ///< for a digit
  double excess_ = 0;                                ///< seconds spent beyond what a fresh one takes
  bool failed_ = false;
  double digits_ = 0, unshared_ = 0;
};

}  // namespace capstan::driver
