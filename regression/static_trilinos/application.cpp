// Looks who is registered: exit status 0 when Capstan is, once.
#include <string>
#include <vector>

std::vector<std::string>& factories();

int main() { return factories() == std::vector<std::string>{"capstan"} ? 0 : 1; }
