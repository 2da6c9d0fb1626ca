// A program with another Trilinos than Capstan's.
extern "C" int anotherTpetra();

int main() { return anotherTpetra(); }
