// Includes all of Ifpack2 and MueLu.
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
#include <regex>

#include "adapters/preconditioners/boomeramg.hpp"
#include "adapters/preconditioners/makers.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::preconditioning {
namespace {

using Scalar = double;
using LocalOrdinal = Matrix::local_ordinal_type;
using GlobalOrdinal = Matrix::global_ordinal_type;
using Node = Matrix::node_type;
using MueLuOperator = MueLu::TpetraOperator<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
using Ifpack2Operator = Ifpack2::Preconditioner<Scalar, LocalOrdinal, GlobalOrdinal, Node>;

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

Teuchos::RCP<Matrix> identity(const Teuchos::RCP<const Communicator>& comm) {
  const auto map = Teuchos::rcp(new const Map(static_cast<Tpetra::global_size_t>(comm->getSize()), 1, 0, comm));
  auto matrix = Teuchos::rcp(new Matrix(map, 1));
  const GlobalOrdinal row = map->getGlobalElement(0);
  matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(row), Teuchos::tuple<Scalar>(1.0));
  matrix->fillComplete();
  return matrix;
}

class TrilinosMakers final : public Makers {
 public:
  bool hasBoomerAmg() const override { return preconditioning::hasBoomerAmg(); }

  std::optional<ParameterProblem> problem(const PreconditionerName& name, const Teuchos::ParameterList& own,
                                          const Teuchos::RCP<const Communicator>& comm) const override {
    if (name.name == "muelu") {
      if (auto unknown = unknownMueLuName(own)) return unknown;
      Teuchos::ParameterList list = own;
      const MueLu::ParameterListInterpreter<Scalar, LocalOrdinal, GlobalOrdinal, Node> interpreter(list, comm);
    } else if (!name.ifpack2.empty()) {
      if (auto unknown = unknownIfpack2Name(name.ifpack2, own)) return unknown;
      const Teuchos::RCP<const Matrix::row_matrix_type> matrix = identity(comm);
      const auto op = Ifpack2::Factory().create(name.ifpack2, matrix, 0);
      op->setParameters(ifpack2Parameters(name, own));
    } else {
      if (!hasBoomerAmg()) return ParameterProblem{"", howToGetBoomerAmg()};
      return boomerAmgProblem(own);
    }
    return std::nullopt;
  }

  Teuchos::RCP<Operator> make(const PreconditionerName& name, const Teuchos::RCP<Matrix>& A,
                              const Teuchos::ParameterList& own) const override {
    if (name.name == "muelu") {
      Teuchos::ParameterList list = own;
      return MueLu::CreateTpetraPreconditioner<Scalar, LocalOrdinal, GlobalOrdinal, Node>(
          Teuchos::rcp_implicit_cast<Operator>(A), list);
    }
    if (name.ifpack2.empty()) return makeBoomerAmg(A, own);
    const auto op = Ifpack2::Factory().create<Matrix::row_matrix_type>(name.ifpack2, A, 0);
    op->setParameters(ifpack2Parameters(name, own));
    op->initialize();
    op->compute();
    return op;
  }

  void renew(const PreconditionerName& name, const Teuchos::RCP<Matrix>& A, Operator& made) const override {
    if (name.name == "muelu") {
      MueLu::ReuseTpetraPreconditioner(A, Teuchos::dyn_cast<MueLuOperator>(made));
    } else {
      Teuchos::dyn_cast<Ifpack2Operator>(made).compute();
    }
  }

  std::optional<CoarseCheck> checkCoarseSolve(const Operator& op) const override {
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
};

}  // namespace

const Makers& linkedMakers() {
  static const TrilinosMakers own;
  return own;
}

}  // namespace capstan::preconditioning
