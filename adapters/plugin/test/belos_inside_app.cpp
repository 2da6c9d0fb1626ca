// Stands for a program into which Belos is linked statically: it has a class of Belos and no library of it.
#include <cstdio>

namespace Belos {

class SolverManager {
 public:
  virtual ~SolverManager() = default;
  virtual int solve() { return 0; }
};

}  // namespace Belos

int main(int argc, char**) {
  const Belos::SolverManager manager;
  const auto* const copy = argc > 0 ? new Belos::SolverManager(manager) : nullptr;
  std::puts("solved");
  delete copy;
  return 0;
}
