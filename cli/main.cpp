#include "cli/commands/commands.h"

int main(int argc, char** argv) { return palladion::cli::program(argc, argv); }
