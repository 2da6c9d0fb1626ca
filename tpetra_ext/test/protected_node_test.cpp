// The node whose memory the host may not touch: what it has to find out is found out, and nothing else is.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Kokkos_DualView.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/kernels/base/launch.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/test/protected/faults_fail.hpp"
#include "tpetra_ext/test/protected/memory.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {
namespace {

using Types = DefaultTypes;
using Device = Types::DeviceType;
using Execution = Types::ExecutionSpace;
using Numbers = Kokkos::View<double*, Device>;

static_assert(std::is_same<Device::memory_space, test::ProtectedSpace>::value,
              "Tpetra's default node is the protected one");
static_assert(!kernels::runsOnHost<Execution>, "the kernels take the node for a device");
static_assert(std::is_same<kernels::HostMirror<Numbers>::memory_space, Kokkos::HostSpace>::value,
              "mirrors are of the host");

/// Faults while this lives are what a test is about.
class Faults {
 public:
  Faults() { test::protected_memory::setSilent(true); }
  ~Faults() {
    test::protected_memory::setSilent(false);
    test::forgetFaults();
  }
  long count() const { return test::protected_memory::faults() - before_; }

 private:
  long before_ = test::protected_memory::faults();
};

struct Sum {
  Numbers view;
  KOKKOS_FUNCTION void operator()(const std::size_t i, double& partial) const { partial += view(i); }
};

struct Count {
  Numbers view;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const { view(i) = static_cast<double>(i); }
};

double sumOf(const Numbers& view) {
  double sum = 0;
  kernels::reduceAndWait("capstan test sum", nodeQueue<Types>(), view.extent(0), Sum{view}, sum);
  return sum;
}

TEST(ProtectedNode, AHostLoopOverADeviceViewIsAFault) {
  const Numbers view("the culprit", 10);
  const Faults faults;
  volatile double sum = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) sum = sum + view(i);
  EXPECT_EQ(faults.count(), 1) << "one for each place and opening";
  EXPECT_NE(test::protected_memory::latestFault().find("'the culprit'"), std::string::npos)
      << test::protected_memory::latestFault();
  EXPECT_EQ(sumOf(view), 0);  // ends by closing the memory
  sum = view(3);
  EXPECT_EQ(faults.count(), 2);
}

TEST(ProtectedNode, SoIsAWriteThroughAPointer) {
  const Numbers view("the culprit", 10);
  const Faults faults;
  static_cast<volatile double*>(view.data())[9] = 1;
  EXPECT_EQ(faults.count(), 1);
  EXPECT_EQ(sumOf(view), 1);
}

TEST(ProtectedNode, KernelsAndCopiesAreNone) {
  const Faults faults;
  const Numbers view("numbers", 10);
  kernels::launch("capstan test count", nodeQueue<Types>(), 10, Count{view});
  EXPECT_EQ(sumOf(view), 45);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  EXPECT_EQ(host(9), 9);
  Kokkos::deep_copy(view, 2.0);
  const Kokkos::View<double, Device> last("last");
  Kokkos::deep_copy(last, Kokkos::subview(view, 9));
  double copied = 0;
  Kokkos::deep_copy(copied, last);
  EXPECT_EQ(copied, 2);
  EXPECT_EQ(view.label(), "numbers");
  EXPECT_EQ(faults.count(), 0);
}

TEST(ProtectedNode, ACopyWithGapsBetweenMemoriesIsAFault) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Device> block("block", 4, 3);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> host("host", 2, 3);
  const Faults faults;
  Kokkos::deep_copy(host, Kokkos::subview(block, std::make_pair(0, 2), Kokkos::ALL()));
  EXPECT_EQ(faults.count(), 1);
}

TEST(ProtectedNode, WhatNobodyHasWrittenIsNaN) {
  const Numbers view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "numbers"), 3);
  EXPECT_TRUE(std::isnan(sumOf(view)));
}

TEST(ProtectedNode, BothSidesOfAVectorAreTwo) {
  const auto map = Teuchos::rcp(new Types::Map(12, 0, Tpetra::getDefaultComm()));
  Types::Vector x(map);
  x.putScalar(1);
  {
    const auto host = x.getLocalViewHost(Tpetra::Access::ReadOnly);
    EXPECT_FALSE(test::protected_memory::holds(host.data()));
    for (std::size_t i = 0; i < host.extent(0); ++i) EXPECT_EQ(host(i, 0), 1);
  }
  {
    const auto host = x.getLocalViewHost(Tpetra::Access::ReadWrite);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i, 0) = 2;
  }
  EXPECT_EQ(x.norm1(), 24);
  EXPECT_TRUE(compat::localNumElements(*map) == 0 ||
              test::protected_memory::holds(x.getLocalViewDevice(Tpetra::Access::ReadOnly).data()));
}

TEST(ProtectedNode, AViewOfOneSideKeepsTheOtherAway) {
  const auto map = Teuchos::rcp(
      new Types::Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(), 3, 0, Tpetra::getDefaultComm()));
  Types::Vector x(map);
  {
    const auto device = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
    EXPECT_THROW(x.getLocalViewHost(Tpetra::Access::ReadOnly), std::runtime_error);
  }
  const auto host = x.getLocalViewHost(Tpetra::Access::ReadOnly);
  EXPECT_THROW(x.getLocalViewDevice(Tpetra::Access::ReadOnly), std::runtime_error);
}

/// Row sums of 1 1 1.
Teuchos::RCP<Types::CrsMatrix> tridiagonal() {
  const auto comm = Tpetra::getDefaultComm();
  const auto map = Teuchos::rcp(new Types::Map(8 * comm->getSize(), 0, comm));
  const auto a = Teuchos::rcp(new Types::CrsMatrix(map, 3));
  const auto rows = static_cast<Types::GlobalOrdinal>(map->getGlobalNumElements());
  for (const auto row : compat::localElementList(*map)) {
    std::vector<Types::GlobalOrdinal> columns;
    for (const auto column : {row - 1, row, row + 1}) {
      if (column >= 0 && column < rows) columns.push_back(column);
    }
    const std::vector<double> values(columns.size(), 1.0);
    a->insertGlobalValues(row, static_cast<int>(columns.size()), values.data(), columns.data());
  }
  a->fillComplete();
  return a;
}

TEST(ProtectedNode, MatricesAndTheirMessagesAreOnIt) {
  const auto a = tridiagonal();
  Types::Vector x(a->getDomainMap()), y(a->getRangeMap());
  x.putScalar(1);
  const Faults faults;
  a->apply(x, y);
  EXPECT_EQ(y.norm1(), 3.0 * static_cast<double>(a->getGlobalNumRows()) - 2);
  EXPECT_EQ(faults.count(), 0);
}

/// A product with our own messages; faults are counted.
void multiply(topology::DeviceAwareMpi deviceAware, const std::string& where, bool touches) {
  const auto a = tridiagonal();
  topology::PlanOptions plan;
  plan.deviceAware = deviceAware;
  const NodeAwareOperator<Types> product(a, MatrixPattern<Types>(*a).exchange(plan));
  Types::Vector x(a->getDomainMap()), y(a->getRangeMap());
  x.putScalar(1);
  const Faults faults;
  product.apply(x, y);
  EXPECT_EQ(faults.count() > 0, touches);
  EXPECT_EQ(product.messageMemory().rfind(where, 0), 0U) << product.messageMemory();
  EXPECT_EQ(y.norm1(), 3.0 * static_cast<double>(a->getGlobalNumRows()) - 2);
}

// This MPI is not for this device, as the faults show: it has been given its addresses.
TEST(ProtectedNode, MpiIsGivenItsMemoryWhereItIsSaidToTakeIt) {
  multiply(topology::DeviceAwareMpi::On, "device: ", Tpetra::getDefaultComm()->getSize() > 1);
}

TEST(ProtectedNode, ElseMpiIsGivenCopies) {
  multiply(topology::DeviceAwareMpi::Off, "page-locked on the host: ", false);
  multiply(topology::DeviceAwareMpi::Auto, "page-locked on the host: MPI does not say", false);
}

}  // namespace
}  // namespace capstan
