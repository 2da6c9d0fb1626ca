#pragma once
/// \file
/// What all ranks have to see alike before a solve begins. A solver that is made anew on one rank alone, or an error
/// that one rank alone returns, would let the others wait for ever.
#include <string>

#include "adapters/hypre/record.hpp"

namespace capstan::hypre {

/// The arguments of a solve.
struct Call {
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
};

struct Rows {
  HYPRE_BigInt first = 0, last = 0;
  bool square = false;  ///< the columns are shared out alike
  long long count() const { return static_cast<long long>(last) - first + 1; }
};
Rows rowsOf(HYPRE_ParCSRMatrix a);

/// The communicator of the matrix, or where that is NULL of Setup's; MPI_COMM_NULL where there is neither.
MPI_Comm commOf(const Call& call, HYPRE_ParVector residual);

/// Of two ranks, the later one counts.
enum class Verdict { Fine, ToHypre, Settings, Order, Matrix, RightHandSide, Solution, Differ };

struct Agreed {
  Verdict verdict;
  bool isNew;          ///< the solver is to be made anew
  bool zero;           ///< b is zero
  int argument;        ///< the number of the wrong one; 0: another fault
  std::string reason;  ///< for people; empty: all is well
};

/// One reduction. \param text of the solver that is needed \param residual hypre's vector, which Setup has made
Agreed agree(MPI_Comm comm, const Record& record, const Settings& settings, const std::string& text, const Call& call,
             HYPRE_ParVector residual);

}  // namespace capstan::hypre
