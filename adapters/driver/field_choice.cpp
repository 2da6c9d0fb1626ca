// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/field_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "adapters/driver/trilinos_types.hpp"
#include "belos_ext/choice/arm.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::driver {
namespace {

// Of the host's own preconditioners, as OpenFOAM has them. A cycle of multigrid takes the time of 17 to 33 iterations
// with DIC (CAPSTAN CG on 1 and 2 ranks, set-up included). Where 2.5 cycles make a digit of a pressure, 20 iterations
// with DIC do; where a third of a cycle does, of a velocity, a third of one with DILU.
GroupModel groupOf(const PreconditionerChoice& choice) {
  if (choice.solves && !choice.cycle) return {3, 2, 1.2, 2, 2};  // a smoother, of which less is known
  // Where solves are short there is nothing to gain: a cycle sets up all levels first.
  if (choice.cycle) return {1, 1, 0.6, 25, 1, choice.solves ? 0.0 : 24.0};
  if (choice.own == 0) return {3, 2, 0.8};  // of Trilinos: it may be multigrid, whose iterations are few
  return {3, 2, 0.8, 1, 4};
}

// Little is known of a method of Belos or of the host: one reduction, a product, M, and ten vectors read or written.
ArmModel modelOf(const Way& way) {
  const MethodTraits* const method = findMethod(way.solver.method);
  if (method != nullptr) {
    return capstan::modelOf({method, way.arm}, parametersOf(*method, way.solver.settings).options(), true);
  }
  return {way.solver.method, [](int) { return IterationCost{{1, 1, 1, 0, 0, 80}}; }, way.solver.method};
}

}  // namespace

FieldChoice::FieldChoice(const Plan& plan, const std::string& field, const Agreement& agreed, const std::string& kind,
                         const Teuchos::Comm<int>& comm)
    : plan_(plan),
      kind_(kind),
      multigrid_(agreed.multigrid),
      field_(field),
      rank_(comm.getRank()),
      ranks_(agreed.ranks),
      rows_(static_cast<long long>(agreed.rows)) {
  for (const Way& way : plan_.ways) {
    const PreconditionerChoice& one = preconditioner(way);
    if (!plan_.named && one.cycle && !multigrid_) continue;
    ways_.push_back(way);
    if (std::find(groups_.begin(), groups_.end(), way.preconditioner) == groups_.end()) {
      groups_.push_back(way.preconditioner);
    }
  }
  if (!chooses()) return;
  options_ = parametersOf(choosingMethod(), plan_.choice).options();
  options_.outputStream = Teuchos::null;
  std::vector<ArmModel> arms;
  for (const Way& way : ways_) {
    const auto group = std::find(groups_.begin(), groups_.end(), way.preconditioner) - groups_.begin();
    arms.push_back(modelOf(way));
    arms.back().group = static_cast<std::size_t>(group);
    if (preconditioner(way).cycle) arms.back().symmetric = false;  // methods take it as it is, not linear
    arms.back().reference = preconditioner(way).solves;
  }
  std::vector<GroupModel> models;
  for (const std::size_t number : groups_) models.push_back(groupOf(plan_.preconditioners[number]));
  std::optional<MachineTimes> counted;
  if (options_.choiceMode == ChoiceMode::Counted) counted = countedTimes(agreed.rows, ranks_, true);
  chooser_.emplace(std::move(arms), counted, models);
  if (!options_.choiceFile.empty()) takeFromFile(comm);
  told_ = seen_ = report(chooser_->best()).arm;
}

std::size_t FieldChoice::next() {
  if (!chooses()) return 0;
  last_ = options_.choiceMode == ChoiceMode::Fixed ? chooser_->best() : chooser_->choose();
  return last_;
}

std::optional<std::size_t> FieldChoice::bestWithOther(const Way& way) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g] != way.preconditioner) return chooser_->best(g);
  }
  return std::nullopt;
}

ChoiceReport FieldChoice::report(std::size_t number) const {
  ChoiceReport report = choiceReport(*chooser_, number);
  if (groups_.size() == 1) return report;
  const auto with = [this](std::size_t one) {
    const PreconditionerChoice& choice = preconditioner(ways_[one]);
    return choice.solves ? " of the application" : " with " + choice.name;
  };
  report.arm += with(number);
  report.best += with(chooser_->best());
  if (const auto second = chooser_->second()) report.second += with(*second);
  for (std::size_t one = 0; one < report.arms.size(); ++one) report.arms[one].arm += with(one);
  return report;
}

std::string FieldChoice::news(const ChoiceReport& report) {
  constexpr int settled = 5;  // solves: two that are alike may take turns
  if (report.trial || report.bestSeconds == 0) return "";
  if (std::exchange(seen_, report.arm) != report.arm) since_ = 0;
  if (report.arm == told_ || ++since_ < settled) return "";
  return said(report, std::exchange(told_, report.arm));
}

void FieldChoice::saw(const Observation& seen) {
  if (!chooses() || options_.choiceMode == ChoiceMode::Fixed) return;
  waiting_ = seen;
}

void FieldChoice::share(const RankMeasures& means) {
  if (!waiting_) return;
  Observation seen = *waiting_;
  waiting_.reset();
  setMeasures(seen, means);
  chooser_->learn(last_, seen);
  if (!options_.choiceFile.empty()) keepInFile();
}

ChoiceKey FieldChoice::keyOf(std::size_t group) const {
  const PreconditionerChoice& choice = plan_.preconditioners[groups_[group]];
  return {
      kind_.empty() ? field_ : field_ + ", " + kind_,
      toString(options_.choiceMode),
      choice.solves ? choice.name + " of the application" : choice.name,  // it has a preconditioner of that name, too
      machine_,
      ranks_,
      rows_};
}

void FieldChoice::takeFromFile(const Teuchos::Comm<int>& comm) {
  machine_ = machineName(Map::execution_space::name(), comm);
  const ChoiceFile file = readChoiceFile(options_.choiceFile, comm);
  const bool fixed = options_.choiceMode == ChoiceMode::Fixed;
  bool any = false;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const ChoiceKey key = keyOf(g);
    const ChoiceFile::Entry* const found = file.find(key);
    if (found == nullptr || found->key.preconditioner != key.preconditioner) continue;
    chooser_->resume(found->known, fixed || found->key == key, g);
    any = true;
  }
  if (any || !fixed) return;
  const std::vector<std::string> systems = file.systems();
  throw std::invalid_argument(fmt::format(
      "\"Choice\" = \"fixed\", \"Choice File\" = \"{}\": found nothing of \"{}\"; it has: {}{}", options_.choiceFile,
      keyOf(0).system, systems.empty() ? "none" : fmt::format("{}", fmt::join(systems, ", ")),
      didYouMean(keyOf(0).system, systems)));
}

void FieldChoice::keepInFile() {
  const std::string best = report(chooser_->best()).best;
  if (rank_ != 0 || !isToBeKept(*chooser_, best, written_)) return;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto known = chooser_->knowledge(g);
    if (!known) continue;
    written_ = best;
    keepInChoiceFile(options_.choiceFile, {keyOf(g), *known}, std::cerr);
  }
}

}  // namespace capstan::driver
