#pragma once
/// \file
/// The application's word on each iteration, as a status test of Belos.

#include <BelosIteration.hpp>
#include <BelosStatusTest.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "adapters/c/callback_operator.hpp"
#include "adapters/c/capstan.h"
#include "adapters/driver/belos_method.hpp"

namespace capstan::c {

/// Passes where the application wants the solve to end.
class HostTest final
    : public Belos::StatusTest<double, driver::BelosMethod::MultiVector, driver::BelosMethod::Operator> {
 public:
  using Iteration = Belos::Iteration<double, driver::BelosMethod::MultiVector, driver::BelosMethod::Operator>;

  HostTest(capstan_test test, void* context) : test_(test), context_(context) {}

  Belos::StatusType checkStatus(Iteration* iteration) override {
    norms_.assign(static_cast<std::size_t>(iteration->getProblem().getRHS()->getNumVectors()), 0.0);
    iteration->getNativeResiduals(&norms_);
    const int number = iteration->getNumIters();
    const bool ends =
        called([&] { return test_(context_, number, norms_.data(), static_cast<int>(norms_.size())); }) != 0;
    return status_ = ends ? Belos::Passed : Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return status_; }
  void reset() override { status_ = Belos::Undefined; }
  void print(std::ostream& out, int indent) const override {
    out << std::string(static_cast<std::size_t>(indent), ' ') << "the application's test\n";
  }

 private:
  capstan_test test_;
  void* context_;
  std::vector<double> norms_;
  Belos::StatusType status_ = Belos::Undefined;
};

}  // namespace capstan::c
