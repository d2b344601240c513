// Class probabilities averaged over all partitions of a variable, or of a few together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "dyadic_average.h"
#include "interval_average.h"
#include "kernel.h"
#include "part_sums.h"
#include "subset_average.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Indices;
using bayesieve::PartLikelihood;
using bayesieve::PartSums;
using bayesieve::Table;
using bayesieve::TableArray;
using bayesieve::Vector;

// Evidence, means (cells, J), deviations (cells, J), left out (cells * J, J) or no rows.
using Answer = std::tuple<double, TableArray, TableArray, TableArray>;

struct Averaged {
    double evidence = 0.0;
    bayesieve::CellAverages cells{0, 0, false};
};

template <class Average>
Averaged averaged(const Average& average, bool leave_one_out) {
    return {average.evidence(), average.averages(leave_one_out)};
}

// The items of a Python list. nanobind's own conversion of lists may not fail for memory.
template <class T>
std::vector<T> items_of(const nb::handle& given) {
    const auto list = nb::cast<nb::list>(given);
    std::vector<T> items;
    items.reserve(list.size());
    for (const nb::handle item : list) items.push_back(nb::cast<T>(item));
    return items;
}

// Runs one job a table, in parallel, and hands the answers to Python in order.
nb::list run(const PartLikelihood& likelihood, std::size_t jobs,
                        const std::function<Averaged(std::size_t)>& job) {
    std::vector<Averaged> found(jobs);
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(jobs, 1, [&](std::size_t, std::size_t j, std::size_t) {
            found[j] = job(j);
        });
    }
    const std::size_t J = likelihood.classes();
    nb::list answers;
    for (Averaged& own : found)
        answers.append(Answer(own.evidence, bayesieve::to_table(std::move(own.cells.mean), J),
                              bayesieve::to_table(std::move(own.cells.deviation), J),
                              bayesieve::to_table(std::move(own.cells.left_out), J)));
    return answers;
}

PartLikelihood likelihood_of(const Vector& alpha, const std::vector<Table>& tables) {
    for (const Table& table : tables)
        if (table.shape(1) != alpha.shape(0))
            throw std::invalid_argument("tables must have a column for each class");
    for (std::size_t c = 0; c < alpha.shape(0); ++c)
        if (!(alpha.data()[c] > 0.0)) throw std::invalid_argument("alpha must be positive");
    double largest = 0.0;
    for (const Table& table : tables) {
        double sum = 0.0;
        for (std::size_t e = 0; e < table.size(); ++e) sum += table.data()[e];
        largest = std::max(largest, sum);
    }
    return PartLikelihood(alpha.data(), alpha.shape(0), largest);
}

std::vector<std::size_t> ends_of(const Indices& given, std::size_t bins) {
    std::vector<std::size_t> ends;
    std::size_t before = 0;
    for (std::size_t i = 0; i < given.shape(0); ++i) {
        const auto end = static_cast<std::size_t>(given.data()[i]);
        if (given.data()[i] < 0 || end <= before || end > bins)
            throw std::invalid_argument("ends of a grid must rise up to the number of bins");
        ends.push_back(before = end);
    }
    if (before != bins) throw std::invalid_argument("the last end must be the number of bins");
    return ends;
}

std::vector<double> copied(const Vector& values) {
    return std::vector<double>(values.data(), values.data() + values.shape(0));
}

struct Grid {
    std::vector<std::size_t> ends;
    std::vector<double> log_prior;
};

nb::list average_intervals(const nb::list& given, const Vector& alpha, const nb::list& ends,
                           const nb::list& log_priors, bool leave_one_out) {
    const std::vector<Table> tables = items_of<Table>(given);
    const PartLikelihood likelihood = likelihood_of(alpha, tables);
    if (ends.size() != tables.size() || log_priors.size() != tables.size())
        throw std::invalid_argument("every table needs its grids and priors");
    std::vector<std::vector<Grid>> grids(tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const auto own_ends = items_of<Indices>(ends[t]);
        const auto own_priors = items_of<Vector>(log_priors[t]);
        if (own_ends.empty() || own_ends.size() != own_priors.size())
            throw std::invalid_argument("every grid needs a prior");
        for (std::size_t g = 0; g < own_ends.size(); ++g) {
            grids[t].push_back({ends_of(own_ends[g], tables[t].shape(0)),
                                copied(own_priors[g])});
            if (grids[t].back().log_prior.empty())
                throw std::invalid_argument("a prior must have an entry");
        }
    }
    return run(likelihood, tables.size(), [&](std::size_t t) {
        const std::size_t bins = tables[t].shape(0);
        bayesieve::IntervalAverage average(likelihood, tables[t].data(), bins);
        for (const Grid& grid : grids[t]) average.add_grid(grid.ends, grid.log_prior);
        return averaged(average, leave_one_out);
    });
}

nb::list average_groups(const nb::list& given, const Vector& alpha, const nb::list& priors,
                        bool leave_one_out) {
    constexpr std::size_t kMostValues = 16;
    const std::vector<Table> tables = items_of<Table>(given);
    const std::vector<Vector> log_priors = items_of<Vector>(priors);
    const PartLikelihood likelihood = likelihood_of(alpha, tables);
    for (std::size_t t = 0; t < tables.size(); ++t)
        if (tables[t].shape(0) == 0 || tables[t].shape(0) > kMostValues ||
            log_priors.size() != tables.size() ||
            log_priors[t].shape(0) != tables[t].shape(0))
            throw std::invalid_argument("tables must have 1 to 16 values, priors as many");
    return run(likelihood, tables.size(), [&](std::size_t t) {
        const std::size_t values = tables[t].shape(0);
        const bayesieve::SubsetAverage average(likelihood, tables[t].data(), values,
                                               copied(log_priors[t]));
        return averaged(average, leave_one_out);
    });
}

nb::list average_boxes(const nb::list& given, const Vector& alpha, const nb::list& levels,
                       bool leave_one_out) {
    const std::vector<Table> tables = items_of<Table>(given);
    const PartLikelihood likelihood = likelihood_of(alpha, tables);
    if (levels.size() != tables.size())
        throw std::invalid_argument("every table needs the levels of its axes");
    std::vector<std::vector<std::size_t>> axes(tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
        std::size_t cells = 1;
        for (const std::int64_t level : items_of<std::int64_t>(levels[t])) {
            if (level < 0 || level > 10) throw std::invalid_argument("levels must be 0 to 10");
            axes[t].push_back(static_cast<std::size_t>(level));
            cells <<= level;
        }
        if (axes[t].empty() || axes[t].size() > bayesieve::DyadicAverage::kMostAxes ||
            cells != tables[t].shape(0))
            throw std::invalid_argument("a table must have a row for each cell of 1 to 3 axes");
    }
    return run(likelihood, tables.size(), [&](std::size_t t) {
        const bayesieve::DyadicAverage average(likelihood, tables[t].data(), axes[t]);
        return averaged(average, leave_one_out);
    });
}

}  // namespace

void register_averaging(nb::module_& m) {
    m.def("average_intervals", &average_intervals, "tables"_a, "alpha"_a, "ends"_a,
          "log_priors"_a, "leave_one_out"_a,
          "Evidence, means, deviations and leave-one-out means of the class probabilities of\n"
          "each bin, over all partitions of the bins of each table. Each table has grids: the\n"
          "ends of their bins, and ln of the prior of a partition into 1, 2, ... parts.");
    m.def("average_groups", &average_groups, "tables"_a, "alpha"_a, "log_priors"_a,
          "leave_one_out"_a, "The same over all groupings of up to 16 values.");
    m.def("average_boxes", &average_boxes, "tables"_a, "alpha"_a, "levels"_a, "leave_one_out"_a,
          "The same over all recursive halvings of a grid with 2 ** level cells an axis.");
}
