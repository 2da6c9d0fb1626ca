// A library of an application, itself linked with Capstan.
int between() { return 0; }
