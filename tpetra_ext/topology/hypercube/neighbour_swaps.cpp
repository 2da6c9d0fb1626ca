#include "tpetra_ext/topology/hypercube/neighbour_swaps.hpp"

#include <limits>

namespace capstan::topology {
namespace {

constexpr long long least() { return std::numeric_limits<long long>::min(); }
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

}  // namespace

LargestOf::LargestOf(const std::vector<long long>& numbers) {
  while (leaves_ < numbers.size()) leaves_ *= 2;
  winners_.assign(2 * leaves_, nowhere);
  for (std::size_t k = 0; k < numbers.size(); ++k) winners_[leaves_ + k] = k;
  for (std::size_t k = leaves_ - 1; k > 0; --k) winners_[k] = better(numbers, winners_[2 * k], winners_[2 * k + 1]);
}

std::size_t LargestOf::better(const std::vector<long long>& numbers, std::size_t left, std::size_t right) const {
  return right == nowhere || (left != nowhere && numbers[left] >= numbers[right]) ? left : right;
}

void LargestOf::update(const std::vector<long long>& numbers, std::size_t place) {
  for (std::size_t k = (leaves_ + place) / 2; k > 0; k /= 2) {
    winners_[k] = better(numbers, winners_[2 * k], winners_[2 * k + 1]);
  }
}

NeighbourSwaps::NeighbourSwaps(const MappingProblem& problem) : counts_(problem) {
  const std::size_t parts = problem.positions.size();
  movesOf_.assign(parts * static_cast<std::size_t>(counts_.dimensions()), Pair{-1, -1});
  locked_.assign(parts, 0);
  seen_.assign(parts, nowhere);
  findMoves(problem);
  gains_.assign(moves_.size(), 0);
  isTouched_.assign(moves_.size(), 0);
  if (moves_.empty()) return;
  const std::uint32_t all = (1U << counts_.dimensions()) - 1U;
  for (std::size_t value = 0; value < counts_.values(); ++value) add(value, all, 1);
  touched_.clear();
  isTouched_.assign(moves_.size(), 0);
  largest_.emplace(gains_);
}

void NeighbourSwaps::findMoves(const MappingProblem& problem) {
  const std::uint32_t corners = 1U << counts_.dimensions();
  std::vector<Pair> on(corners, Pair{-1, -1});  // by corner: its parts
  for (int part = 0; part < counts_.parts(); ++part) {
    Pair& there = on[counts_.corner(part)];
    there[there[0] < 0 ? 0 : 1] = part;
  }
  for (int d = 0; d < counts_.dimensions(); ++d) {
    for (std::uint32_t corner = 0; corner < corners; ++corner) {
      if ((corner >> d & 1U) != 0) continue;
      for (const int a : on[corner]) {
        for (const int b : on[corner | 1U << d]) {
          if (a < 0 || b < 0) continue;
          if (problem.group[static_cast<std::size_t>(a)] == problem.group[static_cast<std::size_t>(b)]) {
            addMove(a, b, d);
          }
        }
      }
    }
  }
}

void NeighbourSwaps::addMove(int a, int b, int dimension) {
  const int move = static_cast<int>(moves_.size());
  moves_.push_back({a, b});
  for (const int part : {a, b}) {
    Pair& mine = movesOf(part, dimension);
    mine[mine[0] < 0 ? 0 : 1] = move;
  }
}

/// Adds (sign 1) or takes away (-1) what a value makes swaps in some dimensions save. A value that has both parts of a
/// swap travels as before.
void NeighbourSwaps::add(std::size_t value, std::uint32_t dimensions, int sign) {
  const long long weight = sign * counts_.weight(value);
  const std::uint32_t still = counts_.still(value) & dimensions;
  for (const int part : counts_.partsOf(value)) seen_[static_cast<std::size_t>(part)] = value;
  for (const int part : counts_.partsOf(value)) {
    if (locked_[static_cast<std::size_t>(part)] != 0) continue;
    const std::uint32_t alone = counts_.alone(value, part) & dimensions;
    for (std::uint32_t rest = still | alone; rest != 0; rest &= rest - 1) {
      const int d = __builtin_ctz(rest);
      const long long change = (alone >> d & 1U) != 0 ? weight : -weight;
      for (const int k : movesOf(part, d)) {
        if (k < 0) continue;
        const auto move = static_cast<std::size_t>(k);
        const int other = moves_[move][moves_[move][0] == part ? 1 : 0];
        if (gains_[move] == least() || seen_[static_cast<std::size_t>(other)] == value) continue;
        gains_[move] += change;
        if (isTouched_[move] == 0) touched_.push_back(move);
        isTouched_[move] = 1;
      }
    }
  }
}

std::optional<Swap> NeighbourSwaps::best() const {
  if (!largest_) return std::nullopt;
  const std::size_t move = largest_->place();
  if (gains_[move] == least()) return std::nullopt;
  return Swap{moves_[move][0], moves_[move][1], gains_[move]};
}

void NeighbourSwaps::apply(const Swap& swap) {
  lock(swap.a);
  lock(swap.b);
  counts_.swap(
      swap.a, swap.b, [this](std::size_t value, std::uint32_t dimensions) { add(value, dimensions, -1); },
      [this](std::size_t value, std::uint32_t dimensions) { add(value, dimensions, 1); });
  for (const std::size_t move : touched_) {
    isTouched_[move] = 0;
    largest_->update(gains_, move);
  }
  touched_.clear();
}

void NeighbourSwaps::lock(int part) {
  locked_[static_cast<std::size_t>(part)] = 1;
  for (int d = 0; d < counts_.dimensions(); ++d) {
    for (const int move : movesOf(part, d)) {
      if (move < 0) continue;
      gains_[static_cast<std::size_t>(move)] = least();
      largest_->update(gains_, static_cast<std::size_t>(move));
    }
  }
}

std::vector<Swap> NeighbourSwaps::left() const {
  std::vector<Swap> swaps;
  for (std::size_t move = 0; move < moves_.size(); ++move) {
    if (gains_[move] != least()) swaps.push_back({moves_[move][0], moves_[move][1], gains_[move]});
  }
  return swaps;
}

}  // namespace capstan::topology
