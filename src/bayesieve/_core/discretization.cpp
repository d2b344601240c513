#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_discretization(nb::module_&) {}
