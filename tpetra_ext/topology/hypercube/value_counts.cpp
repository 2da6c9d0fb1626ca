#include "tpetra_ext/topology/hypercube/value_counts.hpp"

#include <utility>

namespace capstan::topology {
namespace {

int bitsIn(std::uint32_t set) { return __builtin_popcount(set); }

/// Calls take(value, part) for each value that has one of two parts and not the other. Both lists ascend.
template <class Take>
void forValuesOfOne(Span<std::size_t> ofA, Span<std::size_t> ofB, int a, int b, const Take& take) {
  const std::size_t* i = ofA.begin();
  const std::size_t* j = ofB.begin();
  while (i != ofA.end() || j != ofB.end()) {
    if (j == ofB.end() || (i != ofA.end() && *i < *j)) {
      take(*i++, a);
    } else if (i == ofA.end() || *j < *i) {
      take(*j++, b);
    } else {
      ++i;
      ++j;
    }
  }
}

}  // namespace

ValueCounts::ValueCounts(const MappingProblem& problem) : dimensions_(problem.dimensions) {
  for (const int position : problem.positions) corner_.push_back(cornerOf(position, dimensions_));
  const std::size_t values = problem.values.size();
  valuesBegin_.assign(corner_.size() + 1, 0);
  partsBegin_.push_back(0);
  for (const SharedValues& value : problem.values) {
    weight_.push_back(value.count);
    parts_.insert(parts_.end(), value.ranks.begin(), value.ranks.end());
    partsBegin_.push_back(parts_.size());
    for (const int part : value.ranks) ++valuesBegin_[static_cast<std::size_t>(part) + 1];
  }
  for (std::size_t part = 0; part < corner_.size(); ++part) valuesBegin_[part + 1] += valuesBegin_[part];
  values_.resize(parts_.size());
  auto next = valuesBegin_;
  ones_.assign(values * static_cast<std::size_t>(dimensions_), 0);
  for (std::size_t value = 0; value < values; ++value) {
    for (const int part : partsOf(value)) {
      values_[next[static_cast<std::size_t>(part)]++] = value;
      for (int d = 0; d < dimensions_; ++d) {
        ones_[value * static_cast<std::size_t>(dimensions_) + static_cast<std::size_t>(d)] +=
            static_cast<int>(corner(part) >> d & 1U);
      }
    }
    states_.push_back(stateOf(value));
  }
}

ValueCounts::State ValueCounts::stateOf(std::size_t value) const {
  State state;
  const int size = static_cast<int>(partsOf(value).size());
  const int* ones = ones_.data() + value * static_cast<std::size_t>(dimensions_);
  for (int d = 0; d < dimensions_; ++d) {
    const std::uint32_t bit = 1U << d;
    if (ones[d] == 0) state.none |= bit;
    if (ones[d] == 1) state.one |= bit;
    if (ones[d] == size - 1) state.allButOne |= bit;
    if (ones[d] == size) state.all |= bit;
  }
  return state;
}

long long ValueCounts::cost() const {
  long long sum = 0;
  for (std::size_t value = 0; value < values(); ++value) sum += weight_[value] * (dimensions_ - bitsIn(still(value)));
  return sum;
}

long long ValueCounts::gain(int a, int b) const {
  const std::uint32_t differ = corner(a) ^ corner(b);
  long long sum = 0;
  forValuesOfOne(valuesOf(a), valuesOf(b), a, b, [&](std::size_t value, int part) {
    sum += weight_[value] * (bitsIn(differ & alone(value, part)) - bitsIn(differ & still(value)));
  });
  return sum;
}

void ValueCounts::findChanges(int a, int b) {
  const std::uint32_t differ = corner(a) ^ corner(b);
  changes_.clear();
  forValuesOfOne(valuesOf(a), valuesOf(b), a, b, [&](std::size_t value, int part) {
    const int size = static_cast<int>(partsOf(value).size());
    const int* ones = ones_.data() + value * static_cast<std::size_t>(dimensions_);
    std::uint32_t changing = 0;
    for (int d = 0; d < dimensions_; ++d) {
      const std::uint32_t bit = 1U << d;
      if ((differ & bit) == 0) continue;
      const int now = ones[d], then = now + ((corner(part) & bit) != 0 ? -1 : 1);
      const auto plain = [size](int count) { return 1 < count && count < size - 1; };
      if (!plain(now) || !plain(then)) changing |= bit;
    }
    changes_.push_back({value, changing, part});
  });
}

void ValueCounts::apply(int a, int b) {
  const std::uint32_t differ = corner(a) ^ corner(b);
  for (const Change& change : changes_) {
    int* ones = ones_.data() + change.value * static_cast<std::size_t>(dimensions_);
    for (int d = 0; d < dimensions_; ++d) {
      const std::uint32_t bit = 1U << d;
      if ((differ & bit) != 0) ones[d] += (corner(change.part) & bit) != 0 ? -1 : 1;
    }
    if (change.dimensions != 0) states_[change.value] = stateOf(change.value);
  }
  std::swap(corner_[static_cast<std::size_t>(a)], corner_[static_cast<std::size_t>(b)]);
}

}  // namespace capstan::topology
