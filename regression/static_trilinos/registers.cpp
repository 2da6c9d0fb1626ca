// Stands for Capstan's objects: registers itself when the program starts.
#include <string>
#include <vector>

std::vector<std::string>& factories();

namespace {
struct Registration {
  Registration() { factories().push_back("capstan"); }
};
[[maybe_unused]] const Registration registration;
}  // namespace
