// An application over Thyra that uses an installed Capstan: the linear solver type is there, and takes a list.

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_ParameterList.hpp>
#include <iostream>

#include "adapters/stratimikos/enable.hpp"

int main() {
  Stratimikos::DefaultLinearSolverBuilder builder;
  capstan::enableStratimikos(builder);
  const auto list = Teuchos::parameterList();
  list->set("Linear Solver Type", "Capstan");
  list->set("Preconditioner Type", "None");
  list->sublist("Linear Solver Types").sublist("Capstan").set("Solver Type", "capstan_sstep_gmres");
  builder.setParameterList(list);
  const std::string text = builder.createLinearSolveStrategy("")->description();
  std::cout << text << std::endl;
  return text.find("capstan_sstep_gmres") == std::string::npos ? 1 : 0;
}
