#pragma once

/// \file
/// The one bundle of types every Capstan class is parametrised by.

#include <Teuchos_ScalarTraits.hpp>
#include <Tpetra_CrsMatrix_fwd.hpp>
#include <Tpetra_Details_DefaultTypes.hpp>
#include <Tpetra_Map_fwd.hpp>
#include <Tpetra_MultiVector_fwd.hpp>
#include <Tpetra_Operator_fwd.hpp>
#include <Tpetra_Vector_fwd.hpp>

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// The Tpetra classes for one real scalar S, local ordinal LO, global ordinal GO and node NO.
///
/// Only declarations: a file that calls members of these classes includes their Tpetra headers itself. Which
/// combinations exist in the library is decided by compat/instantiate.hpp.
template <class S, class LO, class GO, class NO>
struct TpetraTypes {
  using Scalar = S;
  using LocalOrdinal = LO;
  using GlobalOrdinal = GO;
  using Node = NO;
  using Magnitude = typename Teuchos::ScalarTraits<S>::magnitudeType;
  using Map = Tpetra::Map<LO, GO, NO>;
  using Vector = Tpetra::Vector<S, LO, GO, NO>;
  using MultiVector = Tpetra::MultiVector<S, LO, GO, NO>;
  using Operator = Tpetra::Operator<S, LO, GO, NO>;
  using CrsMatrix = Tpetra::CrsMatrix<S, LO, GO, NO>;
  using ExecutionSpace = typename NO::execution_space;
  using DeviceType = typename NO::device_type;
  using Comm = Teuchos::Comm<int>;
};

/// The types an application gets when it names none (Tpetra's own defaults).
using DefaultTypes =
    TpetraTypes<Tpetra::Details::DefaultTypes::scalar_type, Tpetra::Details::DefaultTypes::local_ordinal_type,
                Tpetra::Details::DefaultTypes::global_ordinal_type, Tpetra::Details::DefaultTypes::node_type>;

}  // namespace capstan
