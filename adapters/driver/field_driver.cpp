// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/field_driver.hpp"

#include <cfenv>
#include <map>
#include <utility>

#include "adapters/driver/driven_solve.hpp"
#include "adapters/driver/run_summary.hpp"
#include "adapters/driver/start_trilinos.hpp"

namespace capstan::driver {
namespace {

// Trilinos divides by zero where it knows what it does; NaN and Inf are looked for in reduced norms instead.
class QuietFloatingPoint {
 public:
  QuietFloatingPoint() { std::feholdexcept(&before_); }
  QuietFloatingPoint(const QuietFloatingPoint&) = delete;
  QuietFloatingPoint& operator=(const QuietFloatingPoint&) = delete;
  ~QuietFloatingPoint() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

class Driver final : public FieldDriver {
 public:
  Driver(std::shared_ptr<SharedRows> shared, WhyReserved why) : memory_(std::move(shared), std::move(why)) {}

  SolveCost solve(HostSystem& host, const Plan& plan, const DumpControls& dump, double* x, bool summary) override {
    const QuietFloatingPoint quiet;
    const SolveCost cost = DrivenSolve(memory_, host, plan, dump, x).run();
    recordSolve(cost, summary);
    return cost;
  }

 private:
  FieldMemory memory_;
};

// Those of a mesh live as long as one of its fields.
std::shared_ptr<SharedRows> sharedRows(const std::string& mesh) {
  static auto* const all = new std::map<std::string, std::weak_ptr<SharedRows>>;
  auto& known = (*all)[mesh];
  auto shared = known.lock();
  if (shared == nullptr) known = shared = std::make_shared<SharedRows>();
  return shared;
}

}  // namespace

std::unique_ptr<FieldDriver> makeFieldDriver(const std::string& mesh, WhyReserved why) {
  ensureTrilinos();
  return std::make_unique<Driver>(sharedRows(mesh), std::move(why));
}

}  // namespace capstan::driver
