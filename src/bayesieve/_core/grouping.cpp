// Supervised MODL grouping of the values of a categorical column: granularities, the search on
// each (group_search.h), and the costs of the result.
//
// At granularity g a value of at least ceil(N / 2^g) rows is a partile of its own and all rarer
// values form one more, the catch-all. Values are handled in the order of decreasing frequency,
// ties by row, so partiles are the first values in that order.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "code_lengths.h"
#include "group_search.h"
#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::GroupPrior;
using bayesieve::Items;
using bayesieve::kLn2;
using bayesieve::Made;
using bayesieve::RowCost;
using bayesieve::Table;
using bayesieve::to_numpy;
using Answer = std::tuple<Made<std::int64_t>, int, int, int, int, bool, Made<double>>;

struct Options {
    double attribute_cost;
    bool classical;
    double budget;
};

struct Result {
    std::vector<std::int64_t> group;  // of each row of the table
    int groups = 1, default_group = 0, garbage_group = -1, granularity = 0;
    bool exact = true;
    // construction, preparation, data: of the result, then of the null model
    std::vector<double> costs;
};

// Sums of row weights are rounded; a whole number of rows must be seen as one.
double settled(double x) {
    const double whole = std::round(x);
    return std::abs(x - whole) <= 1e-9 * std::max(x, 1.0) ? whole : x;
}

class Column {
  public:
    Column(const double* table, std::size_t values, std::size_t classes, const Options& options)
        : table_(table), rows_(values), J_(classes), options_(options), row_cost_(classes) {
        std::vector<double> total(values, 0.0);
        class_total_.assign(classes, 0.0);
        for (std::size_t v = 0; v < values; ++v) {
            for (std::size_t j = 0; j < classes; ++j) {
                total[v] += table[v * classes + j];
                class_total_[j] += table[v * classes + j];
            }
            if (total[v] > 0.0) order_.push_back(v);
        }
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return total[a] > total[b]; });
        for (std::size_t v : order_) frequency_.push_back(total[v]);
        N_ = settled(std::accumulate(frequency_.begin(), frequency_.end(), 0.0));
    }

    Result solve() {
        Result result;
        result.group.assign(rows_, 0);
        const std::size_t V = order_.size();
        const double null_head =
            options_.classical ? (V > 0 ? std::log(static_cast<double>(V)) : 0.0) : kLn2;
        const double null_rows = row_cost_(class_total_.data(), N_);
        const double null_total = null_head + null_rows;
        result.costs = {0.0, 0.0, 0.0, options_.classical ? 0.0 : kLn2,
                        row_cost_.parameters(N_) + (options_.classical ? null_head : 0.0),
                        null_rows - row_cost_.parameters(N_)};
        std::copy_n(result.costs.begin() + 3, 3, result.costs.begin());
        if (J_ < 2 || V < 2 || N_ < 2.0) return result;
        if (options_.classical) {
            try_partiles(V, 0, 0.0, null_head, result.exact);
        } else {
            explore(null_head, result.exact);
        }
        if (!(best_.cost < null_total - 1e-6)) return result;
        if (!options_.classical) lower();
        report(result, null_total);
        return result;
    }

  private:
    std::size_t frequent(int g) const {
        // Frequencies fall: count those that reach the threshold.
        const double least = std::ceil(N_ / std::exp2(g) - 1e-9) - 1e-9;
        return static_cast<std::size_t>(
            std::partition_point(frequency_.begin(), frequency_.end(),
                                 [&](double f) { return f >= least; }) -
            frequency_.begin());
    }
    std::size_t partiles(int g) const {
        const std::size_t own = frequent(g);
        return own + (own < order_.size() ? 1 : 0);
    }

    void explore(double null_head, bool& exact) {
        highest_ = static_cast<int>(std::ceil(std::log2(N_)));
        int last = static_cast<int>(std::floor(std::log2(N_)));
        if (std::exp2(last) >= N_) --last;
        if (last < 1) return;
        const double most = static_cast<double>(partiles(last));
        double previous = 0.0;
        for (int g = 1; g <= last; ++g) {
            const double here = static_cast<double>(partiles(g));
            const bool end = here == most || g == last;
            if (!end && !(here >= 1.5 * previous && 1.5 * here <= most)) continue;
            previous = here;
            explored_.push_back(g);
            if (here > 1.0) {
                const double code = bayesieve::integer_code(g, std::max(highest_, 1));
                try_partiles(frequent(g), g, kLn2 + options_.attribute_cost + code, null_head,
                             exact);
            }
            if (end) break;
        }
    }

    void try_partiles(std::size_t own, int g, double head, double null_head, bool& exact) {
        const std::size_t V = own + (own < order_.size() ? 1 : 0);
        Items partiles(V, J_);
        for (std::size_t r = 0; r < order_.size(); ++r) {
            const std::size_t p = std::min(r, V - 1);
            const double* counts = table_ + order_[r] * J_;
            for (std::size_t j = 0; j < J_; ++j) partiles.row(p)[j] += counts[j];
            partiles.total[p] += frequency_[r];
            partiles.size[p] = 1;
        }
        const GroupPrior prior = options_.classical ? GroupPrior::classical(V)
                                                    : GroupPrior::khiops(V, head, null_head);
        auto found = bayesieve::GroupSearch(partiles, prior, N_, options_.budget).best();
        exact = exact && found.exact;
        if (found.cost < best_.cost - 1e-6) {
            best_ = std::move(found);
            granularity_ = g;
        }
    }

    // A coarser granularity that can express the same groups has a shorter code.
    void lower() {
        const int floor = explored_.size() > 1 ? explored_[explored_.size() - 2] : 0;
        std::size_t groups = 0;
        for (auto l : best_.label) groups = std::max(groups, static_cast<std::size_t>(l) + 1);
        const std::size_t V = best_.label.size();
        while (granularity_ - 1 > floor) {
            const int g = granularity_ - 1;
            if (std::exp2(g) < static_cast<double>(groups) || partiles(g) < groups) break;
            bool together = true;
            for (std::size_t r = frequent(g); r < order_.size(); ++r)
                together = together && best_.label[std::min(r, V - 1)] == best_.label[V - 1];
            if (!together) break;
            granularity_ = g;
        }
    }

    void report(Result& result, double null_total) const {
        bayesieve::Labels label = best_.label;
        const std::size_t groups = bayesieve::renumber(label);
        const std::size_t V = label.size();
        Items held(groups, J_);
        std::vector<std::size_t> partiles_in(groups, 0);
        for (std::size_t p = 0; p < V; ++p) ++partiles_in[static_cast<std::size_t>(label[p])];
        for (std::size_t r = 0; r < order_.size(); ++r) {
            const auto g = static_cast<std::size_t>(label[std::min(r, V - 1)]);
            for (std::size_t j = 0; j < J_; ++j) held.row(g)[j] += table_[order_[r] * J_ + j];
            held.total[g] += frequency_[r];
        }
        const std::size_t most = static_cast<std::size_t>(
            std::max_element(partiles_in.begin(), partiles_in.end()) - partiles_in.begin());
        double parameters = 0.0, data = 0.0;
        for (std::size_t g = 0; g < groups; ++g) {
            const double own = row_cost_.parameters(held.total[g]);
            parameters += own;
            data += row_cost_(held.row(g), held.total[g]) - own;
        }
        double construction = 0.0, partition;
        if (options_.classical) {
            partition = GroupPrior::classical(V).plain(groups);
        } else {
            construction = kLn2 + options_.attribute_cost;
            const double code = bayesieve::integer_code(granularity_, highest_);
            const GroupPrior prior = GroupPrior::khiops(V, code, 0.0);
            partition = best_.garbage ? prior.garbage(groups, partiles_in[most])
                                      : prior.plain(groups);
        }
        const double total = construction + partition + parameters + data;
        if (groups < 2 || !(1.0 - total / null_total >= 1e-10)) return;  // level 0
        result.groups = static_cast<int>(groups);
        result.granularity = granularity_;
        result.costs[0] = construction;
        result.costs[1] = partition + parameters;
        result.costs[2] = data;
        // The last partile is the catch-all, or else the least frequent value.
        const bool catch_all = order_.size() > V;
        if (best_.garbage) result.garbage_group = static_cast<int>(most);
        result.default_group = best_.garbage && !catch_all ? static_cast<int>(most)
                                                           : static_cast<int>(label[V - 1]);
        result.group.assign(rows_, result.default_group);
        for (std::size_t r = 0; r < order_.size(); ++r)
            result.group[order_[r]] = label[std::min(r, V - 1)];
    }

    const double* table_;
    std::size_t rows_, J_;
    Options options_;
    RowCost row_cost_;
    std::vector<double> class_total_, frequency_;
    std::vector<std::size_t> order_;  // rows that occur, by decreasing frequency
    double N_ = 0.0;
    int highest_ = 1, granularity_ = 0;
    std::vector<int> explored_;
    bayesieve::Grouped best_;
};

// Lists are taken apart here: nanobind's conversions end the process where memory does.
nb::list group_tables(const nb::list& given, double attribute_cost, bool classical,
                      double budget) {
    const Options options{attribute_cost, classical, budget};
    std::vector<Table> tables;
    for (nb::handle table : given) tables.push_back(nb::cast<Table>(table));
    std::vector<Result> results(tables.size());
    {
        const bayesieve::Kernel kernel;
        bayesieve::for_each_block(tables.size(), 1, [&](std::size_t c, std::size_t, std::size_t) {
            const Table& table = tables[c];
            results[c] =
                Column(table.data(), table.shape(0), table.shape(1), options).solve();
        });
    }
    nb::list answers;
    for (auto& r : results)
        answers.append(Answer(to_numpy(std::move(r.group)), r.groups,
                             r.default_group, r.garbage_group, r.granularity, r.exact,
                             to_numpy(std::move(r.costs))));
    return answers;
}

}  // namespace

void register_grouping(nb::module_& m) {
    m.def("group_tables", &group_tables, "tables"_a, "attribute_cost"_a, "classical"_a,
          "budget"_a,
          "MODL groups of the values of each (V, J) table of counts: (group of each row, number\n"
          "of groups, default group, garbage group or -1, granularity, proven optimal, costs),\n"
          "costs being construction, preparation, data of the groups, then of one group.");
}
