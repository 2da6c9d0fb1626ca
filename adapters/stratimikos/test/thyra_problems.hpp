#pragma once

/// \file
/// Systems, builders and solves for the tests of Stratimikos' linear solver type "Capstan".

#include <gtest/gtest.h>

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_AbstractFactoryStd.hpp>
#include <Thyra_Ifpack2PreconditionerFactory.hpp>
#include <Thyra_LinearOpWithSolveFactoryHelpers.hpp>
#include <Thyra_MultiVectorStdOps.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/stratimikos/enable.hpp"

namespace capstan::test {

using Matrix = Tpetra::CrsMatrix<>;
using Global = Matrix::global_ordinal_type;
using LinearOp = Thyra::LinearOpBase<double>;
using Columns = Thyra::MultiVectorBase<double>;
using Factory = Thyra::LinearOpWithSolveFactoryBase<double>;
using SolveOp = Thyra::LinearOpWithSolveBase<double>;
using Criteria = Thyra::SolveCriteria<double>;
using Status = Thyra::SolveStatus<double>;
using Row = std::vector<std::pair<Global, double>>;

/// A matrix of so many rows; columns outside of it are left out.
inline Teuchos::RCP<Matrix> matrixOf(Global rows, const std::function<Row(Global)>& row) {
  const auto map = Teuchos::rcp(new const Tpetra::Map<>(rows, 0, Tpetra::getDefaultComm()));
  const auto matrix = Teuchos::rcp(new Matrix(map, 9));
  for (Global i = map->getMinGlobalIndex(); i <= map->getMaxGlobalIndex(); ++i) {
    for (const auto& [column, value] : row(i)) {
      if (column >= 0 && column < rows) matrix->insertGlobalValues(i, Teuchos::tuple(column), Teuchos::tuple(value));
    }
  }
  matrix->fillComplete();
  return matrix;
}

/// Four rows, nonsymmetric, as those of Stratimikos' own smallest test.
inline Teuchos::RCP<Matrix> fourRows() {
  return matrixOf(4, [](Global i) {
    return Row{{i, 1.0 + 0.1 * static_cast<double>(i)}, {i - 1, 0.13}, {i - 3, 0.2}};
  });
}

/// A clamped beam: fourth differences.
inline Teuchos::RCP<Matrix> beam(Global points) {
  return matrixOf(points, [](Global i) {
    return Row{{i - 2, 1.0}, {i - 1, -4.0}, {i, 6.0}, {i + 1, -4.0}, {i + 2, 1.0}};
  });
}

/// Second differences on a square of n x n points.
inline Teuchos::RCP<Matrix> plate(Global n) {
  return matrixOf(n * n, [n](Global i) {
    Row row = {{i - n, -1.0}, {i, 4.0}, {i + n, -1.0}};
    if (i % n > 0) row.emplace_back(i - 1, -1.0);
    if (i % n < n - 1) row.emplace_back(i + 1, -1.0);
    return row;
  });
}

/// Powers of ten from 0 to `power` times 2, by row.
inline Tpetra::Vector<> diagonalScale(const Teuchos::RCP<const Tpetra::Map<>>& map, double power) {
  Tpetra::Vector<> scale(map);
  for (Global i = map->getMinGlobalIndex(); i <= map->getMaxGlobalIndex(); ++i) {
    scale.replaceGlobalValue(i, std::pow(10.0, power * 0.5 * static_cast<double>(7 * i % 5)));
  }
  return scale;
}

inline Teuchos::RCP<const LinearOp> thyraOf(const Teuchos::RCP<Matrix>& matrix) {
  return Thyra::createConstLinearOp<double>(Teuchos::RCP<const Tpetra::Operator<>>(matrix));
}

/// A "Capstan" list: its solver, and a few of that solver's parameters.
inline Teuchos::RCP<Teuchos::ParameterList> listOf(const std::string& solver,
                                                   const Teuchos::ParameterList& parameters = Teuchos::ParameterList(),
                                                   const std::string& type = "Capstan") {
  const auto list = Teuchos::parameterList("builder");
  list->set("Linear Solver Type", type);
  list->set("Preconditioner Type", "None");
  Teuchos::ParameterList& own = list->sublist("Linear Solver Types").sublist(type);
  own.set("Solver Type", solver);
  own.sublist("Solver Types").sublist(solver).setParameters(parameters);
  return list;
}

/// Stratimikos' builder with what an application adds: Ifpack2 and Capstan.
inline Teuchos::RCP<Factory> factoryOf(const Teuchos::RCP<Teuchos::ParameterList>& list) {
  Stratimikos::DefaultLinearSolverBuilder builder;
  using Ifpack2 = Thyra::Ifpack2PreconditionerFactory<Matrix>;
  builder.setPreconditioningStrategyFactory(
      Teuchos::abstractFactoryStd<Thyra::PreconditionerFactoryBase<double>, Ifpack2>(), "Ifpack2");
  enableStratimikos(builder);
  builder.setParameterList(list);
  return builder.createLinearSolveStrategy("");
}

/// B = A X for X with entries that are all different, columns too.
inline Teuchos::RCP<Columns> rightHandSides(const LinearOp& op, int count) {
  const auto x = Thyra::createMembers(op.domain(), count), b = Thyra::createMembers(op.range(), count);
  const auto tpetra = Thyra::TpetraOperatorVectorExtraction<double>::getTpetraMultiVector(x);
  const Tpetra::Map<>& map = *tpetra->getMap();
  for (int j = 0; j < count; ++j) {
    for (Global i = map.getMinGlobalIndex(); i <= map.getMaxGlobalIndex(); ++i) {
      tpetra->replaceGlobalValue(i, j, std::cos(static_cast<double>((3 + j) * i) + j));
    }
  }
  Thyra::apply<double>(op, Thyra::NOTRANS, *x, b.ptr());
  return b;
}

inline std::vector<double> norms(const Columns& columns) {
  std::vector<double> all(columns.domain()->dim());
  Thyra::norms_2<double>(columns, Teuchos::arrayViewFromVector(all));
  return all;
}

/// The largest ||b - A x|| over the columns, each over a denominator.
inline double largestResidual(const LinearOp& op, const Columns& b, const Columns& x,
                              const std::vector<double>& denominators) {
  const auto residual = Thyra::createMembers(op.range(), b.domain());
  Thyra::assign(residual.ptr(), b);
  Thyra::apply<double>(op, Thyra::NOTRANS, x, residual.ptr(), -1.0, 1.0);
  const std::vector<double> all = norms(*residual);
  double largest = 0.0;
  for (std::size_t j = 0; j < all.size(); ++j) largest = std::max(largest, all[j] / denominators[j]);
  return largest;
}

/// What an action throws, or "no error".
template <class Action>
std::string errorOf(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

inline Status solve(const SolveOp& op, const Columns& b, const Teuchos::RCP<Columns>& x,
                    const Criteria* criteria = nullptr) {
  return Thyra::solve<double>(op, Thyra::NOTRANS, b, x.ptr(), Teuchos::ptr(criteria));
}

/// \param text that has to hold `part`
inline void expectIn(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

inline int iterations(const Status& status) { return status.extraParameters->get<int>("Iteration Count"); }

/// What a solve from zero gives.
struct Solved {
  Status status;
  Teuchos::RCP<Columns> x;
};

inline Solved solveFromZero(const SolveOp& op, const Columns& b, const Criteria* criteria = nullptr) {
  Solved solved;
  solved.x = Thyra::createMembers(op.domain(), b.domain());
  Thyra::assign(solved.x.ptr(), 0.0);
  solved.status = solve(op, b, solved.x, criteria);
  return solved;
}

inline Teuchos::RCP<Teuchos::ParameterList> withIlut(const Teuchos::RCP<Teuchos::ParameterList>& list) {
  list->set("Preconditioner Type", "Ifpack2");
  list->sublist("Preconditioner Types").sublist("Ifpack2").set("Prec Type", "ILUT");
  return list;
}

inline Teuchos::ParameterList one(const std::string& key, double value) {
  Teuchos::ParameterList list;
  list.set(key, value);
  return list;
}

}  // namespace capstan::test
