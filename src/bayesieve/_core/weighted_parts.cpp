#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_weighted_parts(nb::module_&) {}
