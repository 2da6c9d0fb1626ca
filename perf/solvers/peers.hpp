#pragma once
/// \file
/// Other libraries in a contest: which of their methods join a system's, and what they are given.

#include <mpi.h>

#include <Teuchos_ParameterList.hpp>
#include <memory>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "perf/solvers/belos_contestants.hpp"

namespace capstan::perf {

/// What the peers of one group are given.
struct PeerOptions {
  std::string preconditioner = "none";
  Teuchos::ParameterList preconditionerParameters;
  double tolerance = 1e-8;
  int maxIterations = 1000;
  int restart = 30;
};

/// A library's side of a benchmark run. Where the program was built without it, the functions below return null.
class PeerLibrary {
 public:
  /// A method that can join: what --<name> calls it, as Description::group, and whether it joins unasked.
  struct Method {
    std::string word, group;
    bool unasked = true;
  };

  virtual ~PeerLibrary() = default;
  virtual std::string name() const = 0;  ///< of the library: "PETSc"
  virtual std::string version() const = 0;
  virtual std::vector<Method> methods() const = 0;
  /// Those of a deck that the library has, too.
  virtual std::vector<std::string> preconditioners() const = 0;
  /// Adds method `index` of methods() to the contest, unless it cannot compete with these options. Collective.
  virtual void join(std::size_t index, const PeerOptions& options, Field& field) = 0;
};

std::unique_ptr<PeerLibrary> petscLibrary();  ///< Collective, as PETSc's start is
std::unique_ptr<PeerLibrary> hypreLibrary();

/// The methods of a library that take part.
class Peers {
 public:
  /// \param wanted words of methods; "off" alone: none; empty: all that join unasked. \throws deck::InputError with
  /// what is allowed. \param make called only where the library takes part
  Peers(const std::string& option, const std::vector<std::string>& wanted, std::unique_ptr<PeerLibrary> (*make)());

  bool any() const { return !chosen_.empty(); }
  std::string version() const { return any() ? library_->version() : ""; }  ///< empty: none takes part

  /// Adds the methods whose group the deck's solvers for this system contain, with restart length, tolerance and limit
  /// of iterations of the group's first solver with a preconditioner that the library has, and that preconditioner.
  /// Collective. `field`, whose `local` must be filled, must outlive the contestants. Returns one sentence for each
  /// group left out.
  std::vector<std::string> join(const deck::Deck& deck, const deck::SystemOptions& system, Field& field) const;

 private:
  std::unique_ptr<PeerLibrary> library_;
  std::vector<std::size_t> chosen_;
};

}  // namespace capstan::perf
