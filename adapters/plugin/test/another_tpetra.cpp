// Stands for the Tpetra of another Trilinos, or for another MPI: a library of that name, of another version.
extern "C" int anotherVersion() { return 0; }
