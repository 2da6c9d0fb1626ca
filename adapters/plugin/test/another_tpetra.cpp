// Stands for the Tpetra of another Trilinos: a library of that name, of another version.
extern "C" int anotherTpetra() { return 0; }
