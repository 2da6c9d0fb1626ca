#pragma once

/// \file
/// CAPSTAN: the Belos::SolverManager that solves each system of a sequence by the method that earlier solves show to be
/// the fastest. It solves by a SolverManager of that method, whose promises are its own.
///
/// What is known of a system belongs to the communicator: solvers that are made anew for each solve find it, and it is
/// the same on all ranks. The seconds of a solve are summed over the ranks in the first reduction of the next one,
/// which is made anyway: a choice rests on all solves but the last.
///
/// Every function that communicates says so; the others are local.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/choice/arm.hpp"
#include "belos_ext/manager/solver_manager.hpp"

namespace capstan {

struct SystemChoice;

template <class Types>
class ChoosingManager final : public AskedSolver<Types> {
 public:
  using Asked = AskedSolver<Types>;
  using Inner = SolverManager<Types>;
  using typename Asked::Base;
  using typename Asked::Scalar;

  /// \param askedAs as in AskedSolver
  explicit ChoosingManager(const std::string& askedAs = "");
  ~ChoosingManager() override;

  Teuchos::RCP<Base> clone() const override;
  void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) override;
  void reserve(const std::vector<std::string>& names, const std::string& why) override;

  /// As SolverManager::reset(), of all methods that have solved; what is known of the system is kept.
  void reset(Belos::ResetType type) override;

  /// Chooses, and solves for all right-hand sides. Collective.
  Belos::ReturnType solve() override;

  std::string description() const override { return "Capstan::ChoosingManager (CAPSTAN)"; }

 private:
  using Asked::askedAs_, Asked::lossOfAccuracy_, Asked::parameters_, Asked::problem_, Asked::report_;

  /// What is known of this system, with the user's options taken. Call it once a solve, on all ranks alike. Collective
  /// in the first solve of a system with "Choice File"; else local.
  SystemChoice& choiceOfSystem();
  /// The arms for this system, and what is known of them beforehand. Collective where there is a "Choice File", else
  /// local.
  void begin(SystemChoice& choice) const;
  /// Takes what "Choice File" has of this system. Throws where "Choice" is fixed and it has none. Collective.
  void takeFromFile(SystemChoice& choice) const;
  /// Writes what is known of the system to "Choice File", where it is time to. Local.
  void keepInFile(SystemChoice& choice) const;
  /// Sums what the last solve has shown in the first reduction of the next one, and learns it then. Local.
  void sendAlong(SystemChoice& choice, Inner& solver) const;
  /// The solver of an arm, with the parameters, tests and limits of now. Local.
  Inner& solverOf(const Arm& arm);
  /// The solver of an arm.
  struct Kept {
    std::string arm;
    std::unique_ptr<Inner> solver;
    long changes = -1;  ///< of the parameters that it has got
  };

  long changes_ = 0;  ///< of the parameters, but for the limits that applications set before every solve
  static constexpr std::size_t mostSolvers = 3;  ///< the best one, and trials
  std::vector<Kept> solvers_;                    ///< the last used first
  std::vector<std::pair<std::vector<std::string>, std::string>> reserved_;
};

/// A solver manager for a row of namedMethods(). `askedAs` as in SolverManager.
template <class Types>
Teuchos::RCP<Belos::SolverManager<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>>
makeSolver(const MethodTraits& method, const std::string& askedAs = "");

}  // namespace capstan
