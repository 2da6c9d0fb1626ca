#pragma once
/// \file
/// Deterministic two-stage sums: every team sums its rows, then one team per entry adds the teams' sums.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/generic/workspace.hpp"

namespace capstan::kernels::detail {

/// Sums kept in registers by one vector lane.
template <class T, int Size>
struct SumArray {
  T sum[Size];

  KOKKOS_INLINE_FUNCTION SumArray() {
    for (int i = 0; i < Size; ++i) sum[i] = T(0);
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const SumArray& other) {
    for (int i = 0; i < Size; ++i) sum[i] += other.sum[i];
  }
  // Kokkos 3 instantiates the volatile form in some of its team reductions.
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile SumArray& other) volatile {
    for (int i = 0; i < Size; ++i) sum[i] = sum[i] + other.sum[i];
  }
};

/// Rows split over a league of teams; the split depends on the number of rows alone.
struct TeamPlan {
  static constexpr std::ptrdiff_t rowsPerStep = 512;  // rows that all tiles of a team read before it moves on
  static constexpr std::ptrdiff_t maximumLeague = 2048;
  std::ptrdiff_t rows;
  int league;
  std::ptrdiff_t rowsPerTeam;

  explicit TeamPlan(std::ptrdiff_t n)
      : rows(n),
        league(static_cast<int>(
            std::max<std::ptrdiff_t>(1, std::min(maximumLeague, (n + rowsPerStep - 1) / rowsPerStep)))),
        rowsPerTeam((n + league - 1) / league) {}

  KOKKOS_INLINE_FUNCTION std::ptrdiff_t begin(int team) const { return clamp(rowsPerTeam * team); }
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t end(int team) const { return clamp(rowsPerTeam * (team + 1)); }

 private:
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t clamp(std::ptrdiff_t row) const { return row < rows ? row : rows; }
};

/// First stage. Tiles is a functor over register tiles of sums:
/// `tiles.count()` tiles of `Tiles::size` sums; `tiles.add(tile, row, sums)` adds the row's products to `sums`.
/// partial[(tile * size + k) * league + team] receives the sums of one team.
template <class Exec, class T, class Tiles>
struct TeamSums {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Sums = SumArray<T, Tiles::size>;

  Tiles tiles;
  TeamPlan plan;
  T* partial;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int rank = team.league_rank();
    const std::ptrdiff_t last = plan.end(rank);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiles.count()), [&](const int tile) {
      Kokkos::single(Kokkos::PerThread(team), [&]() {
        for (int k = 0; k < Tiles::size; ++k) entry(tile, k, rank) = T(0);
      });
    });
    for (std::ptrdiff_t first = plan.begin(rank); first < last; first += TeamPlan::rowsPerStep) {
      const std::ptrdiff_t left = last - first;
      const auto rows = static_cast<int>(left < TeamPlan::rowsPerStep ? left : TeamPlan::rowsPerStep);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiles.count()), [&](const int tile) {
        Sums sums;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, rows),
            [&](const int row, Sums& lane) { tiles.add(tile, first + row, lane.sum); }, Kokkos::Sum<Sums>(sums));
        Kokkos::single(Kokkos::PerThread(team), [&]() {
          for (int k = 0; k < Tiles::size; ++k) entry(tile, k, rank) += sums.sum[k];
        });
      });
      // Keeps the tiles on the same rows, so that a row is fetched from memory once.
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION T& entry(int tile, int k, int rank) const {
    return partial[(std::ptrdiff_t(tile) * Tiles::size + k) * plan.league + rank];
  }
};

/// Second stage: tiles.write(tile, k, sum) for every sum.
template <class Exec, class T, class Tiles>
struct FinishSums {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  Tiles tiles;
  int league;
  const T* partial;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int index = team.league_rank();
    const T* sums = partial + std::ptrdiff_t(index) * league;
    T total = T(0);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, league), [&](const int i, T& sum) { sum += sums[i]; }, total);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { tiles.write(index / Tiles::size, index % Tiles::size, total); });
  }
};

/// Sums tiles.add over n rows and hands the totals to tiles.write. Asynchronous.
template <class Exec, class T, class Tiles>
void sumOverRows(const Exec& exec, std::ptrdiff_t n, const Tiles& tiles) {
  if (tiles.count() == 0) return;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static_assert(sizeof(TeamSums<Exec, T, Tiles>) <= smallArguments,
                "the arguments would travel through constant memory");
  const TeamPlan plan(n);
  const int entries = tiles.count() * Tiles::size;
  T* partial = workspace<Exec, T>(exec, static_cast<std::size_t>(entries) * static_cast<std::size_t>(plan.league));
  const int lanes = std::min(32, static_cast<int>(Policy::vector_length_max()));
  Kokkos::parallel_for("capstan sums", Policy(exec, plan.league, Kokkos::AUTO, lanes),
                       TeamSums<Exec, T, Tiles>{tiles, plan, partial});
  Kokkos::parallel_for("capstan totals", Policy(exec, entries, Kokkos::AUTO),
                       FinishSums<Exec, T, Tiles>{tiles, plan.league, partial});
}

}  // namespace capstan::kernels::detail

namespace Kokkos {
template <class T, int Size>
struct reduction_identity<capstan::kernels::detail::SumArray<T, Size>> {
  KOKKOS_FORCEINLINE_FUNCTION static capstan::kernels::detail::SumArray<T, Size> sum() { return {}; }
};
}  // namespace Kokkos
