#include "tpetra_ext/topology/exchange/message_memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tpetra_ext/test/support/environment_variable.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"

namespace capstan::topology::test {
namespace {

/// CAPSTAN_DEVICE_AWARE_MPI while this lives; null: it is not set.
struct Variable : capstan::test::EnvironmentVariable {
  explicit Variable(const char* value) : EnvironmentVariable("CAPSTAN_DEVICE_AWARE_MPI", value) {}
};

constexpr DeviceKind allKinds[] = {DeviceKind::Cuda, DeviceKind::Hip, DeviceKind::Sycl, DeviceKind::Other};

TEST(MessageMemory, IsAsAskedForWhateverTheEnvironmentSays) {
  for (const char* value : {static_cast<const char*>(nullptr), "on", "off", "perhaps"}) {
    const Variable variable(value);
    for (const DeviceKind kind : allKinds) {
      EXPECT_TRUE(messageMemory(DeviceAwareMpi::On, kind).onDevice);
      EXPECT_FALSE(messageMemory(DeviceAwareMpi::Off, kind).onDevice);
      EXPECT_EQ(messageMemory(DeviceAwareMpi::Off, kind).reason, "\"Device Aware MPI\" = \"off\"");
    }
  }
}

TEST(MessageMemory, ElseAsTheEnvironmentSays) {
  for (const DeviceKind kind : allKinds) {
    {
      const Variable variable("on");
      EXPECT_TRUE(messageMemory(DeviceAwareMpi::Auto, kind).onDevice);
    }
    const Variable variable("off");
    EXPECT_FALSE(messageMemory(DeviceAwareMpi::Auto, kind).onDevice);
    EXPECT_EQ(messageMemory(DeviceAwareMpi::Auto, kind).reason, "CAPSTAN_DEVICE_AWARE_MPI is \"off\"");
  }
}

TEST(MessageMemory, ElseAsMpiSaysWhichMustBeAsked) {
  MessageMemory plain, automatic, wrong;
  for (const DeviceKind kind : allKinds) {
    {
      const Variable variable(nullptr);
      plain = messageMemory(DeviceAwareMpi::Auto, kind);
    }
    {
      const Variable variable("auto");
      automatic = messageMemory(DeviceAwareMpi::Auto, kind);
    }
    const Variable variable("yes");
    wrong = messageMemory(DeviceAwareMpi::Auto, kind);
    EXPECT_EQ(plain.onDevice, automatic.onDevice);
    EXPECT_EQ(plain.reason, automatic.reason);
    EXPECT_EQ(plain.onDevice, wrong.onDevice);
    EXPECT_EQ(wrong.reason, "CAPSTAN_DEVICE_AWARE_MPI is \"yes\", which is none of on, off and auto; " + plain.reason);
  }
  EXPECT_FALSE(plain.onDevice) << "nobody can be asked about another device";
  EXPECT_NE(plain.reason.find("does not say"), std::string::npos) << plain.reason;
}

TEST(MessageMemory, OfThisBackend) {
  EXPECT_EQ(deviceKindOf<Kokkos::DefaultHostExecutionSpace>(), DeviceKind::Other);
#ifdef KOKKOS_ENABLE_CUDA
  EXPECT_EQ(deviceKindOf<Kokkos::Cuda>(), DeviceKind::Cuda);
#endif
}

}  // namespace
}  // namespace capstan::topology::test
