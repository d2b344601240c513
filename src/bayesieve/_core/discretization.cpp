// Supervised discretization of numerical columns, and of tables of class counts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "code_lengths.h"
#include "fine_bins.h"
#include "interval_granularity.h"
#include "interval_sort.h"
#include "interval_table.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::CostParts;
using bayesieve::Discretization;
using bayesieve::IntervalCriterion;
using bayesieve::KeyedRow;
using bayesieve::LogFactorials;
using bayesieve::Made;
using bayesieve::MadeTable;
using bayesieve::OrderedTable;
using bayesieve::to_numpy;
using bayesieve::to_table;

using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// One interval holding everything. Counts come from the class totals, once for all columns.
CostParts null_cost_of(const IntervalCriterion& shared, const std::vector<double>& class_total) {
    OrderedTable<double> whole(shared.classes, *shared.logs);
    for (std::size_t c = 0; c < class_total.size(); ++c)
        whole.add(static_cast<std::uint32_t>(c), class_total[c]);
    whole.close_row();
    return bayesieve::cost_parts(shared, whole, {1}, 1);
}

template <class Count>
void class_counts(const OrderedTable<Count>& raw, const std::vector<std::uint32_t>& ends,
                  std::vector<double>& out) {
    std::size_t begin = 0;
    out.assign(ends.size() * raw.classes(), 0.0);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        double* row = &out[i * raw.classes()];
        for (std::size_t r = begin; r < ends[i]; ++r)
            raw.for_each_cell(r, [&](std::uint32_t c, Count k) { row[c] += k; });
        begin = ends[i];
    }
}

struct ColumnResult {
    std::vector<double> bounds, counts;
    int granularity = 0;
    CostParts cost;
    bool exact = true;
    // Fine bins: bounds and their levels, counts of missing values and then of each bin.
    std::vector<double> fine_bounds, fine_counts;
    std::vector<std::int64_t> fine_levels;
};

// The rows that count, the same for every column.
struct Rows {
    const std::int32_t* codes;
    const double* weights;               // null: all one
    std::vector<std::uint32_t> kept;     // rows of positive weight, when weights are given
    std::size_t size = 0;
};

template <class Count>
struct Worker {
    std::vector<KeyedRow> keys, spare;
    std::vector<std::uint64_t> distinct;
    OrderedTable<Count> raw;
    std::vector<Count> held;
    std::vector<std::uint32_t> touched;

    Worker(std::size_t classes, const LogFactorials& logs) : raw(classes, logs), held(classes) {}

    // Sorted distinct values of a column, and their class counts.
    void fill(const double* column, std::int64_t stride, const Rows& rows) {
        keys.resize(rows.size);
        bayesieve::for_each_stretch(rows.size, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t row = rows.weights == nullptr ? i : rows.kept[i];
                const double value = column[static_cast<std::int64_t>(row) * stride];
                // Without weights the class is all that is needed of a row.
                keys[i] = {bayesieve::key_of(value),
                           rows.weights == nullptr ? static_cast<std::uint32_t>(rows.codes[row])
                                                   : static_cast<std::uint32_t>(row)};
            }
        });
        bayesieve::sort_by_key(keys, spare);
        raw.clear();
        distinct.clear();
        bayesieve::Pace pace(bayesieve::kPaceCells);
        for (std::size_t i = 0; i < keys.size();) {
            const std::uint64_t key = keys[i].key;
            pace.spend(1);
            for (; i < keys.size() && keys[i].key == key; ++i) {
                const std::uint32_t row = keys[i].row;
                const std::uint32_t c =
                    rows.weights == nullptr ? row : static_cast<std::uint32_t>(rows.codes[row]);
                if (held[c] == Count(0)) touched.push_back(c);
                held[c] += rows.weights == nullptr ? Count(1)
                                                   : static_cast<Count>(rows.weights[row]);
            }
            for (const std::uint32_t c : touched) {
                raw.add(c, held[c]);
                held[c] = Count(0);
            }
            touched.clear();
            raw.close_row();
            distinct.push_back(key);
        }
        raw.index();
    }
};

template <class Count>
void fill_fine(const Worker<Count>& own, const std::vector<std::uint32_t>& best, int levels,
               ColumnResult& result) {
    const std::size_t rows = own.distinct.size();
    const std::size_t first = rows > 0 && own.distinct[0] == bayesieve::kMissingKey ? 1 : 0;
    bayesieve::FineBins bins = bayesieve::fine_bins(own.raw, first, best, levels);
    for (const std::uint32_t end : bins.ends)
        result.fine_bounds.push_back(
            bayesieve::bound_between(own.distinct[end - 1], own.distinct[end]));
    std::vector<std::uint32_t> ends = bins.ends;
    ends.insert(ends.begin(), static_cast<std::uint32_t>(first));
    ends.push_back(static_cast<std::uint32_t>(rows));
    class_counts(own.raw, ends, result.fine_counts);
    result.fine_levels = std::move(bins.level);
}

template <class Count>
void run_columns(const Columns& X, const Rows& rows, const IntervalCriterion& shared,
                 const CostParts& null_cost, double budget, int fine_levels,
                 std::vector<ColumnResult>& results) {
    const std::size_t p = X.shape(1);
    std::vector<Worker<Count>> workers;
    const std::size_t how_many = bayesieve::worker_count(p, 1);
    for (std::size_t w = 0; w < how_many; ++w) workers.emplace_back(shared.classes, *shared.logs);
    bayesieve::for_each_block_by_worker(
        p, 1, [&](std::size_t w, std::size_t column, std::size_t, std::size_t) {
            Worker<Count>& own = workers[w];
            own.fill(X.data() + static_cast<std::int64_t>(column) * X.stride(1), X.stride(0),
                     rows);
            const Discretization found =
                bayesieve::discretize_rows(shared, own.raw, null_cost, budget);
            ColumnResult& result = results[column];
            result.granularity = found.granularity;
            result.cost = found.cost;
            result.exact = found.exact;
            class_counts(own.raw, found.ends, result.counts);
            for (std::size_t i = 0; i + 1 < found.ends.size(); ++i)
                result.bounds.push_back(bayesieve::bound_between(
                    own.distinct[found.ends[i] - 1], own.distinct[found.ends[i]]));
            if (fine_levels > 0) fill_fine(own, found.ends, fine_levels, result);
        });
}

bool whole_numbers(const double* values, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        if (values[i] != std::floor(values[i])) return false;
    return true;
}

constexpr double kLargestWhole = 2.0e9;

using ColumnsAnswer =
    std::tuple<Made<std::int64_t>, Made<double>, MadeTable<double>, Made<std::int64_t>,
               MadeTable<double>, Made<double>, Made<std::int64_t>, Made<std::int64_t>,
               Made<double>, Made<std::int64_t>, MadeTable<double>>;

ColumnsAnswer discretize_columns(const Columns& X, const Codes& codes, std::size_t classes,
                                 const std::optional<Weights>& weights, double attribute_cost,
                                 bool classical, double budget, int fine_levels) {
    const std::size_t n = X.shape(0), p = X.shape(1);
    if (codes.shape(0) != n) throw std::invalid_argument("codes must have one value for each row");
    if (weights && weights->shape(0) != n)
        throw std::invalid_argument("weights must have one value for each row");
    if (classes == 0) throw std::invalid_argument("there must be at least one class");
    std::vector<ColumnResult> results(p);
    CostParts null_cost;
    {
        const bayesieve::Kernel kernel;
        // A copy: weights are the caller's own, and what is looked up by them was checked.
        std::vector<double> held;
        if (weights) held.assign(weights->data(), weights->data() + n);
        Rows rows{codes.data(), weights ? held.data() : nullptr, {}, n};
        std::vector<double> class_total(classes, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t c = rows.codes[i];
            if (c < 0 || static_cast<std::size_t>(c) >= classes)
                throw std::invalid_argument("codes must lie in 0..n_classes-1");
            const double w = rows.weights == nullptr ? 1.0 : rows.weights[i];
            if (!(w >= 0.0)) throw std::invalid_argument("weights must not be negative");
            class_total[static_cast<std::size_t>(c)] += w;
            if (rows.weights != nullptr && w > 0.0)
                rows.kept.push_back(static_cast<std::uint32_t>(i));
        }
        if (rows.weights != nullptr) rows.size = rows.kept.size();
        double total = 0.0;
        for (const double t : class_total) total += t;
        const LogFactorials& logs = LogFactorials::shared();
        const IntervalCriterion shared(total, classes, attribute_cost, classical, logs);
        null_cost = null_cost_of(shared, class_total);
        const bool whole = rows.weights == nullptr || whole_numbers(rows.weights, n);
        if (whole && total + static_cast<double>(classes) < kLargestWhole)
            run_columns<std::int32_t>(X, rows, shared, null_cost, budget, fine_levels, results);
        else
            run_columns<double>(X, rows, shared, null_cost, budget, fine_levels, results);
    }
    std::vector<std::int64_t> offsets(1, 0), granularity, exact, fine_offsets(1, 0), levels;
    std::vector<double> bounds, counts, costs, fine_bounds, fine_counts;
    for (const ColumnResult& result : results) {
        fine_offsets.push_back(fine_offsets.back() +
                               static_cast<std::int64_t>(result.fine_bounds.size()));
        fine_bounds.insert(fine_bounds.end(), result.fine_bounds.begin(),
                           result.fine_bounds.end());
        levels.insert(levels.end(), result.fine_levels.begin(), result.fine_levels.end());
        fine_counts.insert(fine_counts.end(), result.fine_counts.begin(),
                           result.fine_counts.end());
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(result.bounds.size()) + 1);
        bounds.insert(bounds.end(), result.bounds.begin(), result.bounds.end());
        counts.insert(counts.end(), result.counts.begin(), result.counts.end());
        granularity.push_back(result.granularity);
        exact.push_back(result.exact ? 1 : 0);
        for (const double part :
             {result.cost.construction, result.cost.preparation, result.cost.data})
            costs.push_back(part);
    }
    return {to_numpy(std::move(offsets)),
            to_numpy(std::move(bounds)),
            to_table(std::move(counts), classes),
            to_numpy(std::move(granularity)),
            to_table(std::move(costs), 3),
            to_numpy(std::vector<double>{null_cost.construction, null_cost.preparation,
                                             null_cost.data}),
            to_numpy(std::move(exact)),
            to_numpy(std::move(fine_offsets)),
            to_numpy(std::move(fine_bounds)),
            to_numpy(std::move(levels)),
            to_table(std::move(fine_counts), classes)};
}

// Rows without any count are left out; `row_of` says where the others were.
template <class Count>
Discretization run_table(const Table& cells, const IntervalCriterion& shared,
                         const CostParts& null_cost, double budget,
                         std::vector<std::int64_t>& ends, std::vector<double>& counts) {
    OrderedTable<Count> raw(shared.classes, *shared.logs);
    std::vector<std::int64_t> row_of;
    const double* cell = cells.data();
    for (std::size_t r = 0; r < cells.shape(0); ++r, cell += shared.classes) {
        bool any = false;
        for (std::size_t c = 0; c < shared.classes; ++c)
            if (cell[c] > 0.0) {
                raw.add(static_cast<std::uint32_t>(c), static_cast<Count>(cell[c]));
                any = true;
            }
        if (!any) continue;
        raw.close_row();
        row_of.push_back(static_cast<std::int64_t>(r));
    }
    raw.index();
    Discretization found = bayesieve::discretize_rows(shared, raw, null_cost, budget);
    class_counts(raw, found.ends, counts);
    for (const std::uint32_t end : found.ends) ends.push_back(end > 0 ? row_of[end - 1] + 1 : 0);
    ends.back() = static_cast<std::int64_t>(cells.shape(0));
    return found;
}

using TableAnswer = std::tuple<Made<std::int64_t>, MadeTable<double>, int, Made<double>,
                               Made<double>, bool>;

TableAnswer discretize_table(const Table& table, double attribute_cost, bool classical,
                             double budget) {
    const std::size_t classes = table.shape(1);
    if (classes == 0) throw std::invalid_argument("there must be at least one class");
    std::vector<std::int64_t> ends;
    std::vector<double> counts;
    CostParts null_cost;
    Discretization found;
    {
        const bayesieve::Kernel kernel;
        const std::size_t cells = table.shape(0) * classes;
        std::vector<double> class_total(classes, 0.0);
        for (std::size_t x = 0; x < cells; ++x) {
            if (!(table.data()[x] >= 0.0))
                throw std::invalid_argument("class counts must not be negative");
            class_total[x % classes] += table.data()[x];
        }
        double total = 0.0;
        for (const double t : class_total) total += t;
        const LogFactorials& logs = LogFactorials::shared();
        const IntervalCriterion shared(total, classes, attribute_cost, classical, logs);
        null_cost = null_cost_of(shared, class_total);
        const bool whole = whole_numbers(table.data(), cells) &&
                           total + static_cast<double>(classes) < kLargestWhole;
        found = whole ? run_table<std::int32_t>(table, shared, null_cost, budget, ends, counts)
                      : run_table<double>(table, shared, null_cost, budget, ends, counts);
    }
    auto parts = [](const CostParts& cost) {
        return to_numpy(std::vector<double>{cost.construction, cost.preparation, cost.data});
    };
    return {to_numpy(std::move(ends)), to_table(std::move(counts), classes),
            found.granularity,             parts(found.cost),
            parts(null_cost),              found.exact};
}

}  // namespace

void register_discretization(nb::module_& m) {
    m.def("discretize_columns", &discretize_columns, "X"_a, "codes"_a, "n_classes"_a,
          "weights"_a.none(), "attribute_cost"_a, "classical"_a, "budget"_a, "fine_levels"_a,
          "Best intervals of every column. Gives, with I_k intervals in column k: offsets\n"
          "(sums of I_k), bounds (sum of I_k - 1), counts (sum of I_k, J), granularity, costs\n"
          "(p, 3: construction, preparation, data), the costs of one interval, and whether\n"
          "the optimum was proven. With fine_levels > 0 also bins of up to 2 ** fine_levels\n"
          "equal shares and the bounds found: sums of their numbers of bounds, the bounds, the\n"
          "level of each, and the counts of missing values and of each bin, column by column.");
    m.def("discretize_table", &discretize_table, "table"_a, "attribute_cost"_a, "classical"_a,
          "budget"_a,
          "Best intervals of the rows of a (D, J) table: ends, counts, granularity, costs,\n"
          "costs of one interval, whether the optimum was proven.");
}
