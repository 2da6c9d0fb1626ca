// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/finalize_hook.hpp"

#include <mpi.h>

#include <Tpetra_Core.hpp>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace capstan::foam {
namespace {

// Never destroyed: static destructors run after MPI_Finalize.
std::vector<std::function<void()>>& actions() {
  static auto* list = new std::vector<std::function<void()>>;
  return *list;
}

int runActions(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  while (!actions().empty()) {
    auto action = std::move(actions().back());
    actions().pop_back();
    try {
      action();
    } catch (const std::exception& error) {
      std::cerr << "capstan: while MPI ends: " << error.what() << std::endl;
    }
  }
  return MPI_SUCCESS;
}

void attachToMpi() {
  static bool attached = false;
  if (attached) {
    return;
  }
  int key = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, runActions, &key, nullptr) != MPI_SUCCESS ||
      MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) != MPI_SUCCESS) {
    throw std::runtime_error("MPI refused an attribute on MPI_COMM_SELF; capstan cannot tell when MPI ends");
  }
  MPI_Comm_free_keyval(&key);
  attached = true;
}

}  // namespace

void atMpiFinalize(std::function<void()> action) {
  attachToMpi();
  actions().push_back(std::move(action));
}

void ensureTrilinos() {
  if (Tpetra::isInitialized()) {
    return;
  }
  int argc = 0;
  char** argv = nullptr;
  Tpetra::initialize(&argc, &argv);
  atMpiFinalize([] { Tpetra::finalize(); });
}

}  // namespace capstan::foam
