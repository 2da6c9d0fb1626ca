#pragma once
/// \file
/// The Tpetra types that adapters work in: double, int, and Tpetra's default global ordinal and node.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsMatrix_fwd.hpp>
#include <Tpetra_Map_fwd.hpp>
#include <Tpetra_MultiVector_fwd.hpp>
#include <Tpetra_Operator_fwd.hpp>

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan::preconditioning {

using Matrix = Tpetra::CrsMatrix<double>;
using MultiVector = Tpetra::MultiVector<double>;
using Operator = Tpetra::Operator<double>;
using Map = Tpetra::Map<>;
using Communicator = Teuchos::Comm<int>;

}  // namespace capstan::preconditioning
