#pragma once
/// \file
/// When solves are to go without a guess, since guesses have cost more than they saved.

#include <algorithm>
#include <optional>

namespace capstan::tuning::guess {
/// The most solves in a row that go without a guess after guesses that were not worth their cost. Chosen.
inline constexpr int longestRest = 32;
}  // namespace capstan::tuning::guess

namespace capstan {

/// After a guess that was not worth its cost some solves go without: twice as many each time, as long as none is worth
/// it. All members are local; ranks that call them alike know the same.
class RestingPlan {
 public:
  /// What a guess has saved and cost, in iterations; nothing: nobody knows.
  void note(std::optional<double> saved, double cost) {
    if (!saved || *saved >= cost) {
      length_ = 1;
      return;
    }
    rest_ = length_ + 1;  // this solve is the first
    length_ = std::min(2 * length_, tuning::guess::longestRest);
  }

  /// A solve has ended.
  void solved() { rest_ = std::max(0, rest_ - 1); }

  /// How many solves are to go without.
  int rest() const { return rest_; }
  bool rests() const { return rest_ > 0; }

 private:
  int rest_ = 0, length_ = 1;
};

}  // namespace capstan
