// Class counts of rows in order, and the cost of any run of neighbouring rows.
//
// Rows are kept sparse: a million distinct values of 26 classes hold a million cells, not 26
// million. Counts of a run are differences of prefix sums kept every `stride` rows, with the
// stride chosen so that the prefix takes O(cells) memory too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "code_lengths.h"
#include "runtime.h"

namespace bayesieve {

constexpr std::size_t kPaceCells = 1 << 17;  // cells looked at between two polls

struct IntervalCut {
    std::size_t row = 0;  // first row of the right side
    double cost = std::numeric_limits<double>::infinity();  // of both sides
};

// Count is std::int32_t for rows of weight one, double for other weights. Not safe to share
// among threads: costs use scratch space of the table.
template <class Count>
class OrderedTable {
  public:
    OrderedTable(std::size_t classes, const LogFactorials& logs)
        : classes_(classes),
          logs_(&logs),
          extra_(static_cast<Count>(classes - 1)),
          fixed_(logs(static_cast<Count>(classes - 1))),
          left_(classes),
          right_(classes),
          log_left_(classes),
          log_right_(classes) {
        clear();
    }

    std::size_t rows() const { return start_.size() - 1; }
    std::size_t classes() const { return classes_; }
    std::size_t cells() const { return label_.size(); }
    std::size_t cells_of(std::size_t begin, std::size_t end) const {
        return start_[end] - start_[begin];
    }
    const LogFactorials& logs() const { return *logs_; }
    Count total(std::size_t begin, std::size_t end) const { return below_[end] - below_[begin]; }
    Count below(std::size_t row) const { return below_[row]; }

    // Filling: add the cells of a row, close it, ..., and index() at the end.
    void clear() {
        start_.assign(1, 0);
        label_.clear();
        count_.clear();
        below_.assign(1, Count(0));
    }
    void add(std::uint32_t label, Count count) {
        label_.push_back(label);
        count_.push_back(count);
    }
    void close_row() {
        Count sum = below_.back();
        for (std::size_t x = start_.back(); x < label_.size(); ++x) sum += count_[x];
        start_.push_back(static_cast<std::uint32_t>(label_.size()));
        below_.push_back(sum);
    }
    void index() {
        const std::size_t m = rows(), allowed = 4 * cells() + (std::size_t{1} << 14);
        stride_ = std::max<std::size_t>(1, ((m + 1) * classes_ + allowed - 1) / allowed);
        prefix_.resize((m / stride_ + 1) * classes_);
        std::fill(left_.begin(), left_.end(), Count(0));
        for_each_stretch(m + 1, [&](std::size_t first, std::size_t last) {
            for (std::size_t r = first; r < last; ++r) {
                if (r % stride_ == 0)
                    std::copy(
                        left_.begin(), left_.end(),
                        prefix_.begin() + static_cast<std::ptrdiff_t>(r / stride_ * classes_));
                if (r == m) break;
                for (std::size_t x = start_[r]; x < start_[r + 1]; ++x)
                    left_[label_[x]] += count_[x];
            }
        });
        dense_ = stride_ == 1 && (classes_ <= 3 || classes_ * m <= 2 * cells());
    }
    // Calls body(label, count) for the cells of a row.
    template <class Body>
    void for_each_cell(std::size_t row, Body body) const {
        for (std::size_t x = start_[row]; x < start_[row + 1]; ++x) body(label_[x], count_[x]);
    }
    // The only class of a row, or -1.
    std::int64_t pure_label(std::size_t row) const {
        return start_[row + 1] - start_[row] == 1 ? static_cast<std::int64_t>(label_[start_[row]])
                                                  : -1;
    }
    void counts(std::size_t begin, std::size_t end, Count* out) const {
        const Count* low = &prefix_[begin / stride_ * classes_];
        const Count* high = &prefix_[end / stride_ * classes_];
        for (std::size_t c = 0; c < classes_; ++c) out[c] = high[c] - low[c];
        for (std::size_t x = start_[end / stride_ * stride_]; x < start_[end]; ++x)
            out[label_[x]] += count_[x];
        for (std::size_t x = start_[begin / stride_ * stride_]; x < start_[begin]; ++x)
            out[label_[x]] -= count_[x];
    }
    // e(begin, end) = lf(n + J - 1) - lf(J - 1) - sum_j lf(n_j): the two row terms together.
    double cost(std::size_t begin, std::size_t end) const {
        const LogFactorials& lf = *logs_;
        double inside = 0.0;
        const std::size_t held_cells = cells_of(begin, end);
        if (stride_ == 1 && (classes_ <= 4 || held_cells > classes_)) {
            const Count* low = &prefix_[begin * classes_];
            const Count* high = &prefix_[end * classes_];
            for (std::size_t c = 0; c < classes_; ++c) inside += lf(Count(high[c] - low[c]));
        } else if (held_cells <= 2 * classes_ + stride_) {
            // Few cells: add them up without a look at the other classes.
            for (std::size_t x = start_[begin]; x < start_[end]; ++x)
                left_[label_[x]] = Count(0);
            for (std::size_t x = start_[begin]; x < start_[end]; ++x) {
                Count& held = left_[label_[x]];
                if (held > Count(0)) inside -= lf(held);
                held += count_[x];
                inside += lf(held);
            }
        } else {
            counts(begin, end, left_.data());
            for (std::size_t c = 0; c < classes_; ++c) inside += lf(left_[c]);
        }
        return lf(Count(total(begin, end) + extra_)) - fixed_ - inside;
    }
    // costs[i] = e(i, end) for every i < end.
    void costs_to(std::size_t end, double* costs) const {
        const LogFactorials& lf = *logs_;
        if (dense_) {
            const Count* high = &prefix_[end * classes_];
            for (std::size_t i = 0; i < end; ++i) {
                const Count* low = &prefix_[i * classes_];
                double inside = 0.0;
                for (std::size_t c = 0; c < classes_; ++c) inside += lf(Count(high[c] - low[c]));
                costs[i] = lf(Count(total(i, end) + extra_)) - fixed_ - inside;
            }
            return;
        }
        std::fill(left_.begin(), left_.end(), Count(0));
        std::fill(log_left_.begin(), log_left_.end(), 0.0);
        double inside = 0.0;
        for (std::size_t i = end; i-- > 0;) {
            for (std::size_t x = start_[i]; x < start_[i + 1]; ++x) {
                const std::uint32_t c = label_[x];
                left_[c] += count_[x];
                const double now = lf(left_[c]);
                inside += now - log_left_[c];
                log_left_[c] = now;
            }
            costs[i] = lf(Count(total(i, end) + extra_)) - fixed_ - inside;
        }
    }
    // The cheapest way to cut [begin, end) in two.
    IntervalCut best_cut(std::size_t begin, std::size_t end) const {
        IntervalCut best;
        if (end - begin < 2) return best;
        const LogFactorials& lf = *logs_;
        if (dense_) {
            // Independent look-ups are quicker than a running sum when classes are few.
            const Count* low = &prefix_[begin * classes_];
            const Count* high = &prefix_[end * classes_];
            const auto look = [&](std::size_t first, std::size_t last) {
                for (std::size_t r = begin + 1 + first; r < begin + 1 + last; ++r) {
                    const Count* here = &prefix_[r * classes_];
                    double inside = 0.0;
                    for (std::size_t c = 0; c < classes_; ++c)
                        inside += lf(Count(here[c] - low[c])) + lf(Count(high[c] - here[c]));
                    const double both = lf(Count(total(begin, r) + extra_)) +
                                        lf(Count(total(r, end) + extra_)) - inside;
                    if (both < best.cost) {
                        best.cost = both;
                        best.row = r;
                    }
                }
            };
            for_each_stretch(end - begin - 1, look,
                             std::max<std::size_t>(256, kPaceCells / classes_));
            best.cost -= 2.0 * fixed_;
            return best;
        }
        counts(begin, end, right_.data());
        double inside = 0.0;
        for (std::size_t c = 0; c < classes_; ++c) {
            left_[c] = Count(0);
            log_left_[c] = 0.0;
            log_right_[c] = lf(right_[c]);
            inside += log_right_[c];
        }
        const Count base = below_[begin], top = below_[end];
        Pace pace(kPaceCells);
        for (std::size_t r = begin; r + 1 < end; ++r) {
            pace.spend(1 + start_[r + 1] - start_[r]);
            for (std::size_t x = start_[r]; x < start_[r + 1]; ++x) {
                const std::uint32_t c = label_[x];
                left_[c] += count_[x];
                right_[c] = std::max(Count(right_[c] - count_[x]), Count(0));
                const double low = lf(left_[c]), high = lf(right_[c]);
                inside += (low - log_left_[c]) + (high - log_right_[c]);
                log_left_[c] = low;
                log_right_[c] = high;
            }
            const double cost = lf(Count(below_[r + 1] - base + extra_)) +
                                lf(Count(top - below_[r + 1] + extra_)) - inside;
            if (cost < best.cost) {
                best.cost = cost;
                best.row = r + 1;
            }
        }
        // The running sum drifts by rounding; what is reported must not.
        best.cost = cost(begin, best.row) + cost(best.row, end);
        return best;
    }

  private:
    std::size_t classes_, stride_ = 1;
    const LogFactorials* logs_;
    Count extra_;  // J - 1
    double fixed_;  // lf(J - 1)
    bool dense_ = false;
    std::vector<std::uint32_t> start_, label_;
    std::vector<Count> count_, below_, prefix_;
    mutable std::vector<Count> left_, right_;
    mutable std::vector<double> log_left_, log_right_;
};

// Rows of `table` gathered into the runs that end at `ends`. With `join_pure` neighbouring
// runs of one and the same single class become one row: moving a cut inside them changes the
// cost as a concave function, so some best partition has no cut there. `ends` is rewritten to
// the ends of the rows made. `table` must be indexed.
template <class Count>
void gather_rows(const OrderedTable<Count>& table, std::vector<std::uint32_t>& ends,
                 bool join_pure, OrderedTable<Count>& out) {
    out.clear();
    const std::size_t classes = table.classes();
    std::vector<Count> held(classes, Count(0)), whole(classes);
    std::vector<std::uint32_t> touched;
    auto flush = [&] {
        for (const std::uint32_t c : touched) {
            out.add(c, held[c]);
            held[c] = Count(0);
        }
        touched.clear();
        out.close_row();
    };
    auto hold = [&](std::uint32_t c, Count k) {
        if (held[c] == Count(0)) touched.push_back(c);
        held[c] += k;
    };
    std::size_t begin = 0, made = 0;
    Pace pace(kPaceCells);
    for (const std::uint32_t end : ends) {
        pace.spend(1 + table.cells_of(begin, end));
        // Long runs from the prefix sums, short ones cell by cell.
        const bool long_run = table.cells_of(begin, end) > 2 * classes + 8;
        std::int64_t pure = -1;
        if (long_run) {
            table.counts(begin, end, whole.data());
            std::size_t present = 0;
            for (std::size_t c = 0; c < classes; ++c)
                if (whole[c] > Count(0)) {
                    ++present;
                    pure = static_cast<std::int64_t>(c);
                }
            if (present > 1) pure = -1;
        } else {
            pure = table.pure_label(begin);
            for (std::size_t r = begin + 1; pure >= 0 && r < end; ++r)
                if (table.pure_label(r) != pure) pure = -1;
        }
        const bool joined = join_pure && pure >= 0 && touched.size() == 1 &&
                            static_cast<std::int64_t>(touched[0]) == pure;
        if (begin > 0 && !joined) {
            flush();
            ++made;
        }
        if (long_run) {
            for (std::size_t c = 0; c < classes; ++c)
                if (whole[c] > Count(0)) hold(static_cast<std::uint32_t>(c), whole[c]);
        } else {
            for (std::size_t r = begin; r < end; ++r) table.for_each_cell(r, hold);
        }
        ends[made] = end;
        begin = end;
    }
    flush();
    ends.resize(made + 1);
    out.index();
}

}  // namespace bayesieve
