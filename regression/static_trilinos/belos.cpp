// Stands for Belos, which is compiled with MPI's compiler: who is registered.
#include <string>
#include <vector>

int rank();

std::vector<std::string>& factories() {
  static std::vector<std::string> list;
  static std::vector<std::string> others;
  return rank() == 0 ? list : others;
}
