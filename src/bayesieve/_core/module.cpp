// The compiled core: kernels only, no policy. Every function here has a plain NumPy twin in
// tests/core that states what it computes.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void register_runtime(nb::module_& m);
void register_class_sums(nb::module_& m);
void register_replicate_sums(nb::module_& m);
void register_divergence(nb::module_& m);
void register_totals(nb::module_& m);
void register_bernoulli(nb::module_& m);
void register_two_class_relaxation(nb::module_& m);
void register_two_class_search(nb::module_& m);
void register_class_envelope(nb::module_& m);
void register_discretization(nb::module_& m);
void register_grouping(nb::module_& m);
void register_weighted_parts(nb::module_& m);
void register_linear_weights(nb::module_& m);
void register_binning(nb::module_& m);
void register_averaging(nb::module_& m);
void register_pair_scores(nb::module_& m);
void register_key_counting(nb::module_& m);
void register_text_counting(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of bayesieve.";
    register_runtime(m);
    register_class_sums(m);
    register_replicate_sums(m);
    register_divergence(m);
    register_totals(m);
    register_bernoulli(m);
    register_two_class_relaxation(m);
    register_two_class_search(m);
    register_class_envelope(m);
    register_discretization(m);
    register_grouping(m);
    register_weighted_parts(m);
    register_linear_weights(m);
    register_binning(m);
    register_averaging(m);
    register_pair_scores(m);
    register_key_counting(m);
    register_text_counting(m);
}
