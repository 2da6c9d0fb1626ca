// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What an application brings to the driver: a matrix, the norm of its residual, and words for messages.
///
/// Vectors are arrays of this rank's rows on the host, in the order of the application. No Trilinos type appears here,
/// so that an application's own headers and Trilinos' never meet in one file.

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/driver/choices.hpp"
#include "adapters/driver/host_actions.hpp"

namespace capstan::driver {

/// Of a residual b - A x.
struct Norms {
  double one = 0;  ///< this one is judged
  double two = 0;
  bool finite() const { return std::isfinite(one) && std::isfinite(two); }
};

/// Rows of a square matrix owned by this rank, in compressed form.
///
/// Rows are numbered contiguously by rank. Columns are global; each (row, column) occurs once, in any order.
struct CsrPattern {
  MPI_Comm comm = MPI_COMM_SELF;
  std::int64_t firstRow = 0;
  std::int64_t globalRows = 0;
  std::vector<std::int64_t> rowStart;  ///< local rows + 1 offsets into columns
  std::vector<std::int64_t> columns;
};

/// The pattern of a matrix of the host, and what the host needs to fill it with values.
class HostRows {
 public:
  virtual ~HostRows() = default;
  virtual const CsrPattern& pattern() const = 0;
};

/// Why parameters that the application sets cannot be set by its user, for messages: what to set instead.
struct WhyReserved {
  std::string settings;  ///< in the application's own settings
  std::string options;   ///< in CAPSTAN_OPTIONS
};

/// What is known of a system before it is solved, alike on all ranks.
struct HostFacts {
  std::string label;  ///< of the field, for messages, reports and the state cache
  bool symmetric = false;
  int minIterations = 0;
  int maxIterations = 1000;
  std::string kind;         ///< the tolerances, in words: solves are compared with those to the same alone
  int series = -1;          ///< of solves that resemble each other; below 0: resembles none
  bool timed = false;       ///< somebody wants to know how long products take
  std::string application;  ///< its name
  std::string limit;        ///< the application's word for maxIterations
  std::string unknowns;     ///< and for x: "the field"
};

/// What ranks have agreed on.
struct Agreement {
  double sign = 1;  ///< of A: -1 where it is to be solved as -A
  double rows = 0;  ///< of all ranks
  int ranks = 1;
  bool multigrid = false;  ///< the host's own can be made
};

/// How the host's own solver has ended.
struct OwnEnd {
  int iterations = 0;
  bool met = false;  ///< isMet() holds for the residual of its x, not of a recurrence that may have left it
  double initial = 0, last = 0, asked = 0;  ///< norms of the residual, and what they had to be, over scale()
};

/// Numbers of each rank whose sums over the ranks a solve needs before it begins.
using Shares = std::array<double, 11>;

/// One system A x = b of the application. Functions are collective over its communicator unless said otherwise.
class HostSystem {
 public:
  explicit HostSystem(HostFacts known) : facts(std::move(known)) {}
  virtual ~HostSystem() = default;
  HostSystem(const HostSystem&) = delete;
  HostSystem& operator=(const HostSystem&) = delete;

  const HostFacts facts;

  /// On this rank. Local.
  virtual std::int64_t rows() const = 0;
  /// MPI_COMM_NULL: one process without MPI. Local.
  virtual MPI_Comm communicator() const = 0;
  /// The same, with MPI started where it did not run.
  virtual MPI_Comm startedCommunicator() const = 0;
  /// Sums \p shares over the ranks, in one message with what the host itself asks.
  virtual Agreement agree(Shares& shares) = 0;

  /// r = b - A x for the x that the solve begins with: one product, one message.
  virtual Norms firstResidual(double* r) = 0;
  /// What the norm is divided by where it is printed. Local.
  virtual double scale() const = 0;
  /// Whether a residual of this norm ends the solve. Local.
  virtual bool isMet(double norm) = 0;
  /// What the norm of the residual has to be for that. Local.
  virtual double target() const = 0;
  /// Whether the application wants to see the last residual, and shows it. Alike on all ranks; local. \{
  virtual bool wantsResidual() const = 0;
  virtual void lastResidual(const double* r) = 0;
  /// \}

  /// y = A x.
  virtual void multiply(const double* x, double* y) = 0;
  /// sign A, and the host's own preconditioner where it is one, as a Krylov method applies them. They last until
  /// the next call.  \param eitherSign the method takes A and M that are both negative definite, too
  virtual HostActions& actions(const PreconditionerChoice& preconditioner, bool eitherSign) = 0;

  /// Solves by the host's own solver, until isMet() holds or so many iterations are done.
  /// \param x the guess, and whatever becomes of it   \param target nothing: as without a driver, before
  /// firstResidual() of the same x, and with what the application sees of residuals; then all of what is returned
  /// holds, else its iterations alone
  virtual OwnEnd solveOwn(double* x, std::optional<double> target, int maxIterations) = 0;

  /// Why rows() cannot hold the matrix; empty: they can. Local: ranks may differ.
  virtual std::string whyNoRows() const = 0;
  /// Entries on this rank, before those that fall on one place are added. Local.
  virtual std::int64_t entries() const = 0;
  /// Changes when the pattern on this rank does. Local.
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::shared_ptr<const HostRows> makeRows() const = 0;
  /// Coefficients times \p sign in the order of the pattern's columns. Local.
  virtual void values(const HostRows& rows, double sign, std::vector<double>& out) const = 0;
  /// b. Local.
  virtual const double* rightHandSide() const = 0;
  /// In place of one of the host's own preconditioners: the nearest in a deck. Local.
  virtual PreconditionerChoice nearestInDeck(const PreconditionerChoice& own) const = 0;

  /// Tells the user. Local; on all ranks alike. \{
  virtual void warn(const std::string& message) const = 0;
  virtual void note(const std::string& message) const = 0;
  /// \}
};

}  // namespace capstan::driver
