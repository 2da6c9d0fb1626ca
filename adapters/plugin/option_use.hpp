#pragma once

/// \file
/// What a run has made of the user's options, told at its end.

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "belos_ext/parameters/parameter_overlay.hpp"

namespace capstan {

/// Whether solves have used a layer of options or a redirect.
struct OptionUse {
  bool used = false;
  std::set<std::string> keys;  ///< parameters that a solve's method has taken
};

/// Guards every OptionUse. Local.
std::mutex& optionUseMutex();

/// The solves of this process while there are options, so that messages can say what labels could have meant. Bounded.
/// Local, thread-safe.
class SolvesSeen {
 public:
  /// The process's.
  static SolvesSeen& instance();

  void solved(const SolveFacts& facts);
  void askedFor(const std::string& name);

  /// Names of solvers and matrices that solves had.
  std::vector<std::string> names() const;
  /// Names by which the application asked for solvers.
  std::vector<std::string> requests() const;
  /// One line a system: `system 1: "gmres", CAPSTAN GMRES, 10000 rows`. Empty where there was no solve.
  std::string systems() const;

 private:
  static constexpr std::size_t most = 20;

  mutable std::mutex mutex_;
  std::set<std::string> names_, requests_;
  std::vector<std::string> systems_;
  bool more_ = false;
};

}  // namespace capstan
