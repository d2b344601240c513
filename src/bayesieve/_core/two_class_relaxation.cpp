// The relaxation for two classes as Python calls it; the plain twin is in tests/core.
#include "two_class_relaxation.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <stdexcept>
#include <tuple>

#include "arrays.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Vector;
using bayesieve::DoubleArray;
using bayesieve::IndexArray;
using bayesieve::to_numpy;
using bayesieve::two_classes::Relaxation;

using Result = std::tuple<double, double, double, double, DoubleArray, double, double, double,
                          double, IndexArray, std::int64_t>;

Result relax_two_classes(const Vector& value, const Vector& doubt, const Vector& f0,
                         const Vector& f1, std::size_t k, double chosen_value,
                         double chosen_doubt, double chosen0, double chosen1, double share0,
                         double share1, double weight, double step, double good_enough,
                         double tolerance, double branch_tolerance, std::int64_t most,
                         double seconds) {
    const std::size_t n = value.shape(0);
    if (doubt.shape(0) != n || f0.shape(0) != n || f1.shape(0) != n || k < 1 || k >= n ||
        !(share0 > 0.0 && share1 > 0.0 && step > -share0 && step < share1))
        throw std::invalid_argument(
            "1 <= k < n columns, positive shares and a step between them are needed");
    Relaxation r{};
    r.value = value.data();
    r.doubt = doubt.data();
    r.f0 = f0.data();
    r.f1 = f1.data();
    r.n = n;
    r.k = k;
    r.chosen_value = chosen_value;
    r.chosen_doubt = chosen_doubt;
    r.chosen0 = chosen0;
    r.chosen1 = chosen1;
    r.anchor = {share0, share1};
    r.weight = weight;
    {
        const bayesieve::Kernel kernel;
        r.restart();
        minimise(r, step, good_enough, tolerance, branch_tolerance, most, seconds);
    }
    const auto [best_gain, best_doubt] = r.gain_with_doubt(r.best);
    return {r.upper,
            r.margin_at_upper,
            r.lower,
            r.step_at_upper,
            to_numpy(std::move(r.gains_at_upper)),
            r.floor,
            r.following,
            best_gain,
            best_doubt,
            to_numpy(std::move(r.best)),
            r.evaluations};
}

}  // namespace

void register_two_class_relaxation(nb::module_& m) {
    m.def("relax_two_classes", &relax_two_classes, "value"_a, "doubt"_a, "f0"_a, "f1"_a, "k"_a,
          "chosen_value"_a, "chosen_doubt"_a, "chosen0"_a, "chosen1"_a, "share0"_a, "share1"_a, "weight"_a,
          "step"_a, "good_enough"_a, "tolerance"_a, "branch_tolerance"_a, "most"_a, "seconds"_a,
          "Upper bound, the part of it that is rounding away from the anchor, lower bound, step\n"
          "from the anchor at the upper bound, gains there, k-th and (k+1)-th largest of them,\n"
          "gain of the best set met, its doubt and its positions, evaluations. Values are gains\n"
          "at the anchor raised by their doubt.");
}
