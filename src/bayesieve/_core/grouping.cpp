#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_grouping(nb::module_&) {}
