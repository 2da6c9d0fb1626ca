// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which way a field takes where its user leaves it open: of methods and preconditioners those that earlier solves of
/// the field show to take the least time, as CAPSTAN chooses among methods (belos_ext/choice).

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "adapters/driver/choices.hpp"
#include "adapters/driver/host.hpp"
#include "belos_ext/choice/choice_file.hpp"
#include "belos_ext/choice/choosing.hpp"
#include "belos_ext/parameters/solver_options.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan::driver {

/// Decisions are the same on all ranks. What is measured of a solve is summed in the first message of the next one.
class FieldChoice {
 public:
  /// Collective where the settings name a "Choice File", else local. Throws std::invalid_argument for a file that is
  /// none, and as KrylovSolver for settings.  \param agreed whether there is multigrid, and how many rows and ranks
  /// \param kind as HostFacts::kind
  FieldChoice(const Plan& plan, const std::string& field, const Agreement& agreed, const std::string& kind,
              const Teuchos::Comm<int>& comm);

  /// Whether it was made for this. Local.
  bool isFor(const Plan& plan, bool multigrid, const std::string& kind) const {
    return multigrid == multigrid_ && kind == kind_ && plan.isAlike(plan_);
  }

  /// There is more than one way. What follows is local; what it is about makes no sense where there is one alone.
  bool chooses() const { return ways_.size() > 1; }
  /// For the next solve; the number of a way.
  std::size_t next();
  const Way& way(std::size_t number) const { return ways_[number]; }
  const PreconditionerChoice& preconditioner(const Way& way) const { return plan_.preconditioners[way.preconditioner]; }
  /// The best one known.
  std::size_t best() const { return chooser_ ? chooser_->best() : 0; }
  /// The best one with another preconditioner; nothing: there is none.
  std::optional<std::size_t> bestWithOther(const Way& way) const;
  /// Whether its last solve met the tolerance.
  bool bestSolves() const { return chooser_->solves(chooser_->best()); }
  /// Iterations after which a trial of that way is to be handed over.
  int mostIterations(std::size_t number) const { return chooser_->mostIterations(number); }
  /// What is known as a solve begins, for its report.
  ChoiceReport report(std::size_t number) const;
  /// For the user: the best way has been another one than was told for some solves; else empty.
  std::string news(const ChoiceReport& report);

  /// What the solve by the way of next() has shown, with the seconds of this rank.
  void saw(const Observation& seen);
  /// What this rank has measured, of which the others have to know.
  RankMeasures measuresToShare() const { return waiting_ ? measuresOf(*waiting_) : RankMeasures{}; }
  /// Learns of the last solve by their means over the ranks.
  void share(const RankMeasures& means);

 private:
  ChoiceKey keyOf(std::size_t group) const;
  void takeFromFile(const Teuchos::Comm<int>& comm);
  void keepInFile();

  Plan plan_;  ///< a copy: the application may drop its own
  std::string kind_;
  bool multigrid_;
  std::string field_, machine_;  ///< the latter where there is a "Choice File"
  SolverOptions options_;        ///< "Choice" and "Choice File"
  int rank_ = 0, ranks_ = 1;
  long long rows_ = 0;
  std::vector<Way> ways_;
  std::vector<std::size_t> groups_;  ///< the preconditioners of the ways, by their number in the plan
  std::optional<Chooser> chooser_;   ///< its arms are the ways, its groups their preconditioners
  std::size_t last_ = 0;
  std::optional<Observation> waiting_;
  std::string told_, written_;  ///< the name of the way that was told and written last
  std::string seen_;            ///< of the best one, in so many solves that were no trials
  int since_ = 0;
};

}  // namespace capstan::driver
