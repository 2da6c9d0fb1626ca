#pragma once
/// \file
/// Deterministic sums in two stages: every team sums its rows, then the teams' sums are added. Where those are few, the
/// team that ends last adds them, and all is one launch; else a second launch has one team per entry.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/generic/workspace.hpp"

namespace capstan::kernels::detail {

/// Rows split over a league of teams; the split depends on the number of rows alone.
struct TeamPlan {
  static constexpr std::ptrdiff_t fewestRows = 1024;  // of a team
  static constexpr std::ptrdiff_t maximumLeague = 2048;
  std::ptrdiff_t rows;
  int league;
  std::ptrdiff_t rowsPerTeam;

  explicit TeamPlan(std::ptrdiff_t n)
      : rows(n),
        league(
            static_cast<int>(std::max<std::ptrdiff_t>(1, std::min(maximumLeague, (n + fewestRows - 1) / fewestRows)))),
        rowsPerTeam((n + league - 1) / league) {}

  KOKKOS_INLINE_FUNCTION std::ptrdiff_t begin(int team) const { return clamp(rowsPerTeam * team); }
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t end(int team) const { return clamp(rowsPerTeam * (team + 1)); }

 private:
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t clamp(std::ptrdiff_t row) const { return row < rows ? row : rows; }
};

/// Of a team on a device, 32 lanes each: the largest tile takes 131 registers of a lane (nvcc 11.8, sm_80, without the
/// second stage), and a team has 65536. With more tiles than that a thread has several, one after the other.
constexpr int mostThreads = 14;

/// Sums of teams that a lane of a device loads where the team that ends last adds them. Chosen: so many loads take less
/// than a launch; not measured.
constexpr std::ptrdiff_t fewSums = 20;

/// First stage, and the second where `finished` is there. Tiles is a functor over register tiles of sums:
/// `tiles.count()` tiles of `Tiles::size` sums; `tiles.add(tile, row, sums)` adds the row's products to `sums`.
/// partial[(tile * size + k) * league + team] receives the sums of one team.
///
/// A thread of the team has a tile at a time, each of its vector lanes some of the rows, two at once. The threads go
/// over the same rows at about the same time; to make them wait for each other, so that more comes from the first-level
/// cache, took longer on an H200. Lanes are added up once, at the end.
template <class Exec, class T, class Tiles>
struct TeamSums {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  Tiles tiles;
  TeamPlan plan;
  int lanes;  ///< of a thread
  T* partial;
  unsigned* finished;  ///< teams that are done, 0 before and after; null: the second stage is another launch

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    sumRows(team);
    if (finished != nullptr && isLast(team)) addTeams(team);
  }

 private:
  static constexpr int rowsAtOnce = 2;

  KOKKOS_INLINE_FUNCTION T& entry(int tile, int k, int rank) const {
    return partial[(std::ptrdiff_t(tile) * Tiles::size + k) * plan.league + rank];
  }

  KOKKOS_INLINE_FUNCTION void sumRows(const Member& team) const {
    const int rank = team.league_rank();
    const std::ptrdiff_t first = plan.begin(rank);
    const auto rows = static_cast<int>(plan.end(rank) - first);
    // Turns of all lanes. Lanes side by side read rows side by side.
    const int turns = rows / rowsAtOnce / lanes * lanes;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiles.count()), [&](const int tile) {
      T sums[Tiles::size];  // each lane's own
      for (int k = 0; k < Tiles::size; ++k) sums[k] = T(0);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, turns), [&](const int turn) {
        const std::ptrdiff_t row = first + std::ptrdiff_t(turn / lanes) * lanes * rowsAtOnce + turn % lanes;
        for (int r = 0; r < rowsAtOnce; ++r) tiles.add(tile, row + r * lanes, sums);
      });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows - turns * rowsAtOnce),
                           [&](const int row) { tiles.add(tile, first + turns * rowsAtOnce + row, sums); });
      for (int k = 0; k < Tiles::size; ++k) {
        T total = T(0);
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, lanes), [&](const int, T& sum) { sum += sums[k]; }, total);
        Kokkos::single(Kokkos::PerThread(team), [&]() { entry(tile, k, rank) = total; });
      }
    });
  }

  /// Whether all other teams are done, and their sums to be seen.
  KOKKOS_INLINE_FUNCTION bool isLast(const Member& team) const {
    Kokkos::memory_fence();
    team.team_barrier();
    int last = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](int& value) { value = Kokkos::atomic_fetch_add(finished, 1U) + 1 == unsigned(plan.league) ? 1 : 0; }, last);
    Kokkos::memory_fence();
    return last != 0;
  }

  KOKKOS_INLINE_FUNCTION void addTeams(const Member& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiles.count() * Tiles::size), [&](const int index) {
      const T* sums = partial + std::ptrdiff_t(index) * plan.league;
      T total = T(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, plan.league), [&](const int i, T& sum) { sum += sums[i]; }, total);
      Kokkos::single(Kokkos::PerThread(team), [&]() { tiles.write(index / Tiles::size, index % Tiles::size, total); });
    });
    Kokkos::single(Kokkos::PerTeam(team), [&]() { *finished = 0; });
  }
};

/// Second stage on its own: tiles.write(tile, k, sum) for every sum.
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
void sumOverRows(Queue<Exec>& queue, std::ptrdiff_t n, const Tiles& tiles) {
  if (tiles.count() == 0) return;
  static_assert(sizeof(TeamSums<Exec, T, Tiles>) <= smallArguments,
                "the arguments would travel through constant memory");
  const TeamPlan plan(n);
  const int entries = tiles.count() * Tiles::size;
  T* partial = workspace<Exec, T>(queue, static_cast<std::size_t>(entries) * static_cast<std::size_t>(plan.league));
  // CPUs have one thread and one lane; devices a thread for each tile.
  constexpr bool device = !IsCpuBackend<Exec>::value;
  const int lanes = device ? std::min(32, static_cast<int>(Kokkos::TeamPolicy<Exec>::vector_length_max())) : 1;
  const int passes = (tiles.count() + mostThreads - 1) / mostThreads;
  const int threads = (tiles.count() + passes - 1) / passes;
  const bool few = std::ptrdiff_t(entries) * plan.league <= fewSums * 32 * threads;
  unsigned* const finished = few ? finishedTeams(queue) : nullptr;
  launchTeams("capstan sums", queue, {plan.league, device ? threads : 1, lanes},
              TeamSums<Exec, T, Tiles>{tiles, plan, lanes, partial, finished});
  if (few) return;
  launchTeams("capstan totals", queue, {entries, device ? std::min(128, (plan.league + 31) / 32 * 32) : 1},
              FinishSums<Exec, T, Tiles>{tiles, plan.league, partial});
}

}  // namespace capstan::kernels::detail
