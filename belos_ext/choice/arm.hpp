#pragma once

/// \file
/// The ways in which CAPSTAN may solve: methods, with the values of their parameters that are worth a trial.

#include <string>
#include <utility>
#include <vector>

#include "belos_ext/choice/chooser.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan {

struct Arm {
  const MethodTraits* method = nullptr;                 ///< a row of methods(); not null
  std::vector<std::pair<std::string, int>> parameters;  ///< that the arm sets, beside what the application has set
};

/// For people: "CAPSTAN CG PIPELINE, Pipeline Depth 2".
std::string nameOf(const Arm& arm);

/// What is known of A before it is solved with. Unknown: it may be either, and only solves will show.
enum class Symmetry { Likely, Unknown, None };

/// All arms for a system, CG first, then other symmetric methods, then GMRES and others for any matrix; where nothing
/// is known those come first, and where the matrix is known not to be symmetric they are all. A parameter that is given
/// is not varied. Local; the same on all ranks where the parameters are.
std::vector<Arm> armsFor(const Parameters& given, Symmetry symmetry);

/// What the chooser has to know of an arm. \{
ArmModel modelOf(const Arm& arm, const Parameters& given, bool preconditioned);
/// \param options of the arm's solver
ArmModel modelOf(const Arm& arm, SolverOptions options, bool preconditioned);
/// \}

/// What the solver of an arm is given: of the parameters that are given, and no defaults, those that its method takes;
/// and the arm's own. Local.
Teuchos::ParameterList parametersOf(const Arm& arm, const Teuchos::ParameterList& given);

}  // namespace capstan
