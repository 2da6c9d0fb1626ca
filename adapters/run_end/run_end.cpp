#include "adapters/run_end/run_end.hpp"

#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace capstan {
namespace {

// Never destroyed: static destructors run after MPI_Finalize.
std::vector<std::function<void()>>& actions() {
  static auto* list = new std::vector<std::function<void()>>;
  return *list;
}

void runActions() {
  while (!actions().empty()) {
    auto action = std::move(actions().back());
    actions().pop_back();
    try {
      action();
    } catch (const std::exception& error) {
      std::cerr << "Capstan: at the end of the run: " << error.what() << std::endl;
    }
  }
}

int onDelete(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  runActions();
  return MPI_SUCCESS;
}

void attachToMpi() {
  static bool attached = false;
  if (attached) {
    return;
  }
  int key = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, onDelete, &key, nullptr) != MPI_SUCCESS ||
      MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) != MPI_SUCCESS) {
    throw std::runtime_error("MPI refused an attribute on MPI_COMM_SELF; capstan cannot tell when MPI ends");
  }
  MPI_Comm_free_keyval(&key);
  attached = true;
}

}  // namespace

bool mpiRuns() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

void atMpiFinalize(std::function<void()> action) {
  attachToMpi();
  actions().push_back(std::move(action));
}

void atRunEnd(std::function<void()> action) {
  if (mpiRuns()) {
    atMpiFinalize(std::move(action));
    return;
  }
  static bool registered = false;
  if (!std::exchange(registered, true)) std::atexit(runActions);
  actions().push_back(std::move(action));
}

}  // namespace capstan
