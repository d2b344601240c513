// The search for two classes as Python calls it. The plain twin is the search of
// solvers/_branch.py.
#include "two_class_search.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Indices;
using bayesieve::Vector;
using bayesieve::two_classes::Position;
using bayesieve::two_classes::Search;

using Result = std::tuple<bayesieve::IndexArray, double, double, double, std::int64_t, bool>;

std::vector<std::int64_t> copied(const Indices& given) {
    return {given.data(), given.data() + given.shape(0)};
}

Result search_two_classes(const Vector& value, const Vector& doubt, const Vector& f0,
                          const Vector& f1, const Indices& columns, const Indices& groups,
                          double largest, double together, bool positive, const Indices& chosen,
                          double chosen_value, double chosen_doubt, double chosen0,
                          double chosen1, double anchor0, double anchor1, std::int64_t k,
                          double upper, double share0, double share1, const Vector& gains,
                          double floor, double following, const Indices& best_columns,
                          double best_gain, double best_doubt, bool best_is_leaf,
                          double dual_tolerance, double branch_tolerance,
                          double anchor_tolerance, double prune_tolerance,
                          std::int64_t evaluations, std::int64_t anchors,
                          std::int64_t rounding_nodes, double node_limit) {
    const std::size_t n = value.shape(0);
    for (const std::size_t length : {doubt.shape(0), f0.shape(0), f1.shape(0), columns.shape(0),
                                     groups.shape(0), gains.shape(0)})
        if (length != n) throw std::invalid_argument("one value for each column is needed");
    if (!(anchor0 > 0.0 && anchor1 > 0.0) || n > std::numeric_limits<Position>::max() ||
        anchors < 1)
        throw std::invalid_argument(
            "positive shares of the anchor and less than 2^32 columns are needed");
    Search search({value.data(), doubt.data(), f0.data(), f1.data(), columns.data(),
                   groups.data(), n, copied(chosen), largest, together, positive},
                  {dual_tolerance, branch_tolerance, anchor_tolerance, prune_tolerance,
                   evaluations, anchors, rounding_nodes, node_limit},
                  {copied(best_columns), best_gain, best_doubt,
                   -std::numeric_limits<double>::infinity(), best_is_leaf});
    {
        const bayesieve::Kernel kernel;
        bayesieve::poll();  // a limit that is reached before the first node is told
        std::vector<Position> free(n);
        std::iota(free.begin(), free.end(), Position{0});
        search.run({std::move(free),
                    {},
                    k,
                    {{anchor0, anchor1}, true, chosen_value, chosen_doubt},
                    chosen0,
                    chosen1,
                    {share0, share1}},
                   upper, {gains.data(), gains.data() + n}, floor, following);
    }
    return {bayesieve::to_numpy(std::move(search.best.columns)),
            search.best.gain,
            search.best.doubt,
            search.best.others,
            search.nodes,
            search.stopped};
}

}  // namespace

void register_two_class_search(nb::module_& m) {
    m.def("search_two_classes", &search_two_classes, "value"_a, "doubt"_a, "f0"_a, "f1"_a,
          "columns"_a, "groups"_a, "largest"_a, "together"_a, "positive"_a, "chosen"_a,
          "chosen_value"_a, "chosen_doubt"_a, "chosen0"_a, "chosen1"_a, "anchor0"_a, "anchor1"_a,
          "k"_a, "upper"_a, "share0"_a, "share1"_a, "gains"_a, "floor"_a, "following"_a,
          "best_columns"_a, "best_gain"_a, "best_doubt"_a, "best_is_leaf"_a, "dual_tolerance"_a,
          "branch_tolerance"_a, "anchor_tolerance"_a, "prune_tolerance"_a, "evaluations"_a,
          "anchors"_a, "rounding_nodes"_a, "node_limit"_a,
          "Branch and bound from a root whose relaxation and best support are known: columns of\n"
          "the best support, its gain and doubt, a bound on all others (minus infinity if they\n"
          "are proven no better), relaxations solved, whether a limit ended it. Values are gains\n"
          "at the anchor raised by their doubt.");
}
