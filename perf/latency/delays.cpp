#include "perf/latency/delays.hpp"

#include <algorithm>
#include <cmath>

#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {
namespace {

using Shared = std::shared_ptr<CommunicatorDelays>;

const Settings* asked = nullptr;
int key = MPI_KEYVAL_INVALID;
std::mutex making;

int forget(MPI_Comm, int, void* value, void*) {
  delete static_cast<Shared*>(value);
  return MPI_SUCCESS;
}

int sizeOf(MPI_Comm comm) {
  int size = 0;
  int between = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &between);
  if (between != 0) {
    int remote = 0;
    PMPI_Comm_remote_size(comm, &remote);
    size += remote;
  }
  return size;
}

/// Virtual processes of a communicator: as large a part of P as the communicator is of MPI_COMM_WORLD.
double latencyOf(const CollectiveSettings& model, int size, int worldSize) {
  if (model.fixed) return model.alpha;
  const double processes = model.processes > 0 ? double(model.processes) * size / worldSize : size;
  return model.alpha * std::log2(std::max(processes, 1.0));
}

Duration toDuration(double seconds) {
  // Rounded up: an operation must never be early.
  return Duration(
      static_cast<Duration::rep>(std::ceil(seconds * double(Duration::period::den) / Duration::period::num)));
}

}  // namespace

double NoiseSource::draw() {
  switch (noise_.kind) {
    case Noise::Kind::Exponential:
      return noise_.scale > 0 ? std::exponential_distribution<double>(1 / noise_.scale)(generator_) : 0;
    case Noise::Kind::Uniform:
      return std::uniform_real_distribution<double>(0, 1)(generator_) * noise_.scale;
    case Noise::Kind::None:
      break;
  }
  return 0;
}

CommunicatorDelays::CommunicatorDelays(const Settings& settings, MPI_Comm comm)
    : settings_(settings), noise_(settings.collectives.noise, settings.collectives.seed) {
  int worldSize = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &worldSize);
  const int size = sizeOf(comm);
  collectives_ = settings.collectives.on && (size > 1 || worldSize == 1);
  latency_ = latencyOf(settings.collectives, size, worldSize);
}

Duration CommunicatorDelays::collective(double bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return toDuration(latency_ + bytes * settings_.collectives.secondsPerByte + noise_.draw());
}

Shared delaysOf(MPI_Comm comm) {
  const std::lock_guard<std::mutex> lock(making);
  Shared* found = nullptr;
  int flag = 0;
  PMPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &flag);
  if (flag != 0) return *found;
  auto made = std::make_unique<Shared>(std::make_shared<CommunicatorDelays>(*asked, comm));
  PMPI_Comm_set_attr(comm, key, made.get());
  return *made.release();
}

double bytesOf(MPI_Count count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return double(count) * size;
}

void startDelays(const Settings& settings) {
  asked = &settings;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr);
}

void stopDelays() { PMPI_Comm_free_keyval(&key); }

}  // namespace capstan::latency
