#include "adapters/preconditioners/preconditioner.hpp"

#include <fmt/format.h>

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>

#include "adapters/preconditioners/boomeramg.hpp"
#include "adapters/preconditioners/explicit_preconditioners.hpp"
#include "adapters/preconditioners/makers.hpp"
#include "adapters/preconditioners/negative_definite.hpp"

namespace capstan::preconditioning {
namespace {

constexpr double directSolveTolerance = 1e-6;
constexpr const char* boomerAmgName = "boomeramg";

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool usesRowSums(const Teuchos::ParameterList& list) {
  const char* const scaling = "chebyshev: use rowsumabs diagonal scaling";
  if (list.isType<bool>(scaling) && list.get<bool>(scaling)) return true;
  return std::any_of(list.begin(), list.end(), [&list](const auto& entry) {
    return entry.second.isList() && usesRowSums(list.sublist(entry.first));
  });
}

/// Whether a renewed hierarchy would smooth with the row sums of the old values: smoothers that MueLu keeps compute
/// them once. The bound on the eigenvalues would no longer hold.
bool keepsRowSums(const Teuchos::ParameterList& list) {
  const bool keepsSmoothers = list.isType<std::string>("reuse: type") && list.get<std::string>("reuse: type") != "none";
  return keepsSmoothers && usesRowSums(list);
}

/// Debian's Tacho ends the process on more than one rank, so it cannot be tried.
void refuseTacho(const Teuchos::ParameterList& list, int ranks) {
  if (ranks == 1 || !list.isType<std::string>("coarse: type")) return;
  if (lowerCase(list.get<std::string>("coarse: type")) != "tacho") return;
  throw PreconditionerError(fmt::format(
      "'coarse: type': found 'Tacho' on {} ranks, where it crashes; allowed: CHEBYSHEV, RELAXATION, SCHWARZ", ranks));
}

}  // namespace

const std::vector<PreconditionerName>& preconditionerNames() {
  static const std::vector<PreconditionerName> names = {
      {"none", "", "", "no preconditioner"},
      {"default", "RELAXATION", "Jacobi", "what Nalu-wind takes when nothing is said: one sweep of Jacobi"},
      {"jacobi", "RELAXATION", "Jacobi", "Jacobi, one sweep"},
      {"gs", "RELAXATION", "Gauss-Seidel", "Gauss-Seidel within a rank, Jacobi between ranks"},
      {"sgs", "RELAXATION", "Symmetric Gauss-Seidel", "symmetric Gauss-Seidel within a rank, Jacobi between ranks"},
      {"mt_sgs", "RELAXATION", "MT Symmetric Gauss-Seidel", "multi-threaded (coloured) symmetric Gauss-Seidel"},
      {"sgs2", "RELAXATION", "Two-stage Symmetric Gauss-Seidel", "two-stage symmetric Gauss-Seidel (inner_iterations)"},
      {"chebyshev", "CHEBYSHEV", "", "Chebyshev polynomial; no global reduction in an application"},
      {"polynomial", "", "", "Chebyshev polynomial by its roots, with a proven bound; explicit"},
      {"approximate_inverse", "", "", "factored sparse approximate inverse of a symmetric matrix; explicit"},
      {"ilut", "ILUT", "", "incomplete LU with threshold, within a rank"},
      {"riluk", "RILUK", "", "incomplete LU with level of fill, within a rank"},
      {"muelu", "", "", "algebraic multigrid; parameters from muelu_xml_file_name (a file or a preset)"},
      {"boomeramg", "", "", "algebraic multigrid of hypre (a build with CAPSTAN_HYPRE)"},
  };
  return names;
}

const PreconditionerName* findPreconditioner(const std::string& name) {
  const std::string wanted = lowerCase(name);
  for (const auto& row : preconditionerNames()) {
    if (row.name == wanted) return &row;
  }
  return nullptr;
}

bool isMultigrid(const std::string& name) { return name == "muelu" || name == boomerAmgName; }

std::optional<CoarseCheck> checkCoarseSolve(const Operator& op) { return makers().checkCoarseSolve(op); }

bool CoarseCheck::passed() const {
  return std::isfinite(relativeResidual) && (!direct || relativeResidual <= directSolveTolerance);
}

void overrideParameters(Teuchos::ParameterList& file, const Teuchos::ParameterList& own) {
  const std::string type = "type";
  for (const auto& entry : own) {
    const std::string& name = entry.first;
    if (name.size() < type.size() || name.compare(name.size() - type.size(), type.size(), type) != 0) continue;
    if (!own.isType<std::string>(name) || !file.isType<std::string>(name)) continue;
    if (lowerCase(own.get<std::string>(name)) == lowerCase(file.get<std::string>(name))) continue;
    file.remove(name.substr(0, name.size() - type.size()) + "params", false);
  }
  file.setParameters(own);
}

std::optional<ParameterProblem> validatePreconditioner(const PreconditionerOptions& options,
                                                       const Teuchos::RCP<const Communicator>& comm) {
  const auto* name = findPreconditioner(options.name);
  if (name == nullptr) return ParameterProblem{"", fmt::format("unknown preconditioner '{}'", options.name)};
  try {
    if (name->name == "muelu") refuseTacho(options.parameters, comm->getSize());
    if (isExplicit(name->name)) {
      options.parameters.validateParameters(*explicitParameters(name->name));
    } else if (name->name != "none") {
      return makers().problem(*name, options.parameters, comm);
    }
  } catch (const std::exception& error) {
    return parameterProblem(error.what());
  }
  return std::nullopt;
}

Preconditioner::Preconditioner(PreconditionerOptions options)
    : options_(std::move(options)), name_(findPreconditioner(options_.name)) {
  if (name_ == nullptr) throw PreconditionerError(fmt::format("unknown preconditioner '{}'", options_.name));
  if (name_->name == boomerAmgName && !makers().hasBoomerAmg()) throw PreconditionerError(howToGetBoomerAmg());
}

void Preconditioner::update(const Teuchos::RCP<Matrix>& A) {
  if (name_->name == "none") return;
  warning_.clear();
  try {
    if (operator_.is_null() || options_.recompute || builtFor_ != A.get()) {
      build(A);
    } else if (options_.reuse) {
      if (keepsRowSums(options_.parameters)) {
        build(A);
      } else {
        renew(A);
      }
    }
  } catch (const PreconditionerError&) {
    throw;
  } catch (const std::exception& error) {
    throw PreconditionerError(
        fmt::format("preconditioner '{}' cannot be built: {}", name_->name, plainMessage(error.what())));
  }
}

void Preconditioner::build(const Teuchos::RCP<Matrix>& A) {
  operator_ = Teuchos::null;
  builtFor_ = nullptr;
  if (isExplicit(name_->name)) {
    operator_ = makeExplicit(name_->name, A, options_.parameters);
  } else {
    const bool multigrid = name_->name == "muelu";
    if (multigrid) refuseTacho(options_.parameters, A->getComm()->getSize());
    operator_ = makers().make(
        *name_, A, multigrid && negativeTrace(*A) ? forNegativeDefinite(options_.parameters) : options_.parameters);
    if (multigrid) requireSoundCoarseSolve();
  }
  builtFor_ = A.get();
  ++builds_;
}

void Preconditioner::renew(const Teuchos::RCP<Matrix>& A) {
  if (isExplicit(name_->name)) {
    operator_ = makeExplicit(name_->name, A, options_.parameters);  // its structure costs little
  } else if (name_->name == boomerAmgName) {
    operator_ = Teuchos::null;                                  // two hierarchies at a time would be one too many
    operator_ = makers().make(*name_, A, options_.parameters);  // hypre keeps nothing of a hierarchy
  } else {
    makers().renew(*name_, A, *operator_);
    if (name_->name == "muelu") requireSoundCoarseSolve();
  }
  ++renewals_;
}

void Preconditioner::requireSoundCoarseSolve() {
  const auto check = checkCoarseSolve(*operator_);
  if (!check || check->passed()) return;
  const int ranks = operator_->getDomainMap()->getComm()->getSize();
  const std::string text = fmt::format(
      "{}: MueLu's coarse solver ({}, {} rows, {} rank{}) does not solve: relative residual {:.2g} after one coarse "
      "solve, expected {}. Set 'coarse: type' to CHEBYSHEV, RELAXATION or SCHWARZ, or use one of Capstan's presets",
      options_.origin.empty() ? "muelu" : options_.origin, check->solver, check->rows, ranks, ranks == 1 ? "" : "s",
      check->relativeResidual, check->direct ? fmt::format("at most {:.0e}", directSolveTolerance) : "a finite number");
  // On one rank the usual cause is a singular coarse matrix, which a Krylov method can live with.
  if (ranks == 1 && std::isfinite(check->relativeResidual)) {
    warning_ = text;
    return;
  }
  operator_ = Teuchos::null;
  throw PreconditionerError(text);
}

}  // namespace capstan::preconditioning
