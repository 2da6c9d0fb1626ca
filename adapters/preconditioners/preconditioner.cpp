#include "adapters/preconditioners/preconditioner.hpp"

#include <fmt/format.h>

#include <Ifpack2_Factory.hpp>
#include <MueLu_Amesos2Smoother.hpp>
#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <MueLu_DirectSolver.hpp>
#include <MueLu_Level.hpp>
#include <MueLu_MasterList.hpp>
#include <MueLu_ParameterListInterpreter.hpp>
#include <MueLu_SmootherBase.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <regex>

#include "adapters/preconditioners/boomeramg.hpp"
#include "adapters/preconditioners/explicit_preconditioners.hpp"
#include "adapters/preconditioners/negative_definite.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::preconditioning {
namespace {

using Scalar = double;
using LocalOrdinal = Matrix::local_ordinal_type;
using GlobalOrdinal = Matrix::global_ordinal_type;
using Node = Matrix::node_type;
using MueLuOperator = MueLu::TpetraOperator<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
using Ifpack2Operator = Ifpack2::Preconditioner<Scalar, LocalOrdinal, GlobalOrdinal, Node>;

constexpr double directSolveTolerance = 1e-6;
constexpr const char* boomerAmgName = "boomeramg";

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// MueLu checks names itself, but prints the distance to every name it knows when one is wrong.
std::optional<ParameterProblem> unknownMueLuName(const Teuchos::ParameterList& list) {
  for (const char* ownSyntax : {"Factories", "Hierarchy", "Matrix"}) {
    if (list.isSublist(ownSyntax)) return std::nullopt;
  }
  const auto& valid = *MueLu::MasterList::List();
  std::vector<std::string> names;
  for (const auto& entry : valid) names.push_back(entry.first);
  const std::regex free("level [0-9]+|user data|.*: params.*");
  for (const auto& entry : list) {
    const std::string& name = entry.first;
    if (valid.isParameter(name) || std::regex_match(name, free)) continue;
    return ParameterProblem{name, fmt::format("unknown MueLu parameter '{}'{}", name, didYouMean(name, names))};
  }
  return std::nullopt;
}

Teuchos::ParameterList ifpack2Parameters(const PreconditionerName& name, const Teuchos::ParameterList& own) {
  Teuchos::ParameterList list;
  if (!name.relaxation.empty()) {
    list.set("relaxation: type", name.relaxation);
    list.set("relaxation: sweeps", 1);
  }
  list.setParameters(own);
  return list;
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

Teuchos::RCP<Matrix> identity(const Teuchos::RCP<const Communicator>& comm) {
  const auto map = Teuchos::rcp(new const Map(static_cast<Tpetra::global_size_t>(comm->getSize()), 1, 0, comm));
  auto matrix = Teuchos::rcp(new Matrix(map, 1));
  const GlobalOrdinal row = map->getGlobalElement(0);
  matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(row), Teuchos::tuple<Scalar>(1.0));
  matrix->fillComplete();
  return matrix;
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

bool CoarseCheck::passed() const {
  return std::isfinite(relativeResidual) && (!direct || relativeResidual <= directSolveTolerance);
}

std::optional<CoarseCheck> checkCoarseSolve(const Operator& op) {
  const auto* mueLu = dynamic_cast<const MueLuOperator*>(&op);
  if (mueLu == nullptr) return std::nullopt;
  using Smoother = MueLu::SmootherBase<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
  using Direct = MueLu::DirectSolver<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
  using Amesos2 = MueLu::Amesos2Smoother<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
  using CoarseMatrix = Xpetra::Matrix<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
  using CoarseVector = Xpetra::MultiVectorFactory<Scalar, LocalOrdinal, GlobalOrdinal, Node>;

  const auto hierarchy = mueLu->GetHierarchy();
  const auto level = hierarchy->GetLevel(hierarchy->GetNumLevels() - 1);
  if (level.is_null() || !level->IsAvailable("PreSmoother") || !level->IsAvailable("A")) return std::nullopt;
  const auto solver = level->Get<Teuchos::RCP<Smoother>>("PreSmoother");
  const auto A = level->Get<Teuchos::RCP<CoarseMatrix>>("A");
  if (solver.is_null() || A.is_null()) return std::nullopt;

  // b = A * something: solvable even when A is singular.
  auto x = CoarseVector::Build(A->getDomainMap(), 1);
  auto b = CoarseVector::Build(A->getRangeMap(), 1);
  x->randomize();
  A->apply(*x, *b);
  x->putScalar(0.0);
  Teuchos::Array<double> before(1);
  Teuchos::Array<double> after(1);
  b->norm2(before());
  solver->Apply(*x, *b, true);
  A->apply(*x, *b, Teuchos::NO_TRANS, -1.0, 1.0);
  b->norm2(after());

  CoarseCheck check;
  // MueLu makes a Krylov solver of Belos, too, within a "direct" one. It has no complexity.
  const bool factorises = solver->getNodeSmootherComplexity() != Teuchos::OrdinalTraits<std::size_t>::invalid();
  check.direct = dynamic_cast<const Amesos2*>(solver.get()) != nullptr ||
                 (factorises && dynamic_cast<const Direct*>(solver.get()) != nullptr);
  check.relativeResidual = before[0] == 0.0 ? after[0] : after[0] / before[0];
  check.solver = solver->description();
  check.rows = static_cast<long long>(A->getGlobalNumRows());
  return check;
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
    if (name->name == "muelu") {
      refuseTacho(options.parameters, comm->getSize());
      if (auto unknown = unknownMueLuName(options.parameters)) return unknown;
      Teuchos::ParameterList list = options.parameters;
      const MueLu::ParameterListInterpreter<Scalar, LocalOrdinal, GlobalOrdinal, Node> interpreter(list, comm);
    } else if (name->name == boomerAmgName) {
      if (!hasBoomerAmg()) return ParameterProblem{"", howToGetBoomerAmg()};
      return boomerAmgProblem(options.parameters);
    } else if (isExplicit(name->name)) {
      options.parameters.validateParameters(*explicitParameters(name->name));
    } else if (!name->ifpack2.empty()) {
      if (auto unknown = unknownIfpack2Name(name->ifpack2, options.parameters)) return unknown;
      const Teuchos::RCP<const Matrix::row_matrix_type> matrix = identity(comm);
      const auto op = Ifpack2::Factory().create(name->ifpack2, matrix, 0);
      op->setParameters(ifpack2Parameters(*name, options.parameters));
    }
  } catch (const std::exception& error) {
    return parameterProblem(error.what());
  }
  return std::nullopt;
}

Preconditioner::Preconditioner(PreconditionerOptions options)
    : options_(std::move(options)), name_(findPreconditioner(options_.name)) {
  if (name_ == nullptr) throw PreconditionerError(fmt::format("unknown preconditioner '{}'", options_.name));
  if (name_->name == boomerAmgName && !hasBoomerAmg()) throw PreconditionerError(howToGetBoomerAmg());
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
  if (name_->name == "muelu") {
    refuseTacho(options_.parameters, A->getComm()->getSize());
    Teuchos::ParameterList list =
        negativeTrace(*A) ? forNegativeDefinite(options_.parameters) : Teuchos::ParameterList(options_.parameters);
    operator_ = MueLu::CreateTpetraPreconditioner<Scalar, LocalOrdinal, GlobalOrdinal, Node>(
        Teuchos::rcp_implicit_cast<Operator>(A), list);
    requireSoundCoarseSolve();
  } else if (name_->name == boomerAmgName) {
    operator_ = makeBoomerAmg(A, options_.parameters);
  } else if (isExplicit(name_->name)) {
    operator_ = makeExplicit(name_->name, A, options_.parameters);
  } else {
    const auto op = Ifpack2::Factory().create<Matrix::row_matrix_type>(name_->ifpack2, A, 0);
    op->setParameters(ifpack2Parameters(*name_, options_.parameters));
    op->initialize();
    op->compute();
    operator_ = op;
  }
  builtFor_ = A.get();
  ++builds_;
}

void Preconditioner::renew(const Teuchos::RCP<Matrix>& A) {
  if (name_->name == "muelu") {
    MueLu::ReuseTpetraPreconditioner(A, Teuchos::dyn_cast<MueLuOperator>(*operator_));
    requireSoundCoarseSolve();
  } else if (name_->name == boomerAmgName) {
    operator_ = Teuchos::null;                          // two hierarchies at a time would be one too many
    operator_ = makeBoomerAmg(A, options_.parameters);  // hypre keeps nothing of a hierarchy
  } else if (isExplicit(name_->name)) {
    operator_ = makeExplicit(name_->name, A, options_.parameters);  // its structure costs little
  } else {
    Teuchos::dyn_cast<Ifpack2Operator>(*operator_).compute();
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
