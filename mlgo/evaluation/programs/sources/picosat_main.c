// PicoSAT's program. It exits with 10 for satisfiable and 20 for unsatisfiable; here both are success.

int picosat_main(int argc, char **argv);

int main(int argc, char **argv) {
  const int code = picosat_main(argc, argv);
  return code == 10 || code == 20 ? 0 : code;
}
