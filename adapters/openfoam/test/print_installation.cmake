# cmake -DCAPSTAN_OPENFOAM=<value> [-DCAPSTAN_OPENFOAM_OPTIONS=..] [-DCAPSTAN_OPENFOAM_MPI=..] -P print_installation.cmake
#
# Prints what foam_installation.cmake finds, for test_installation.py.
cmake_minimum_required(VERSION 3.20)
foreach(name IN ITEMS CAPSTAN_OPENFOAM CAPSTAN_OPENFOAM_OPTIONS CAPSTAN_OPENFOAM_MPI)
  set(${name} "${${name}}" CACHE STRING "")
endforeach()
include("${CMAKE_CURRENT_LIST_DIR}/../foam_installation.cmake")
capstan_foam_find("/nonexistent")
message("api=${foam_api} labels=${foam_label_size} includes=${foam_include_dirs} libraries=${foam_libraries}")
