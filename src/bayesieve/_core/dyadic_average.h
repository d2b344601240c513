// All recursive halvings of a grid of two or three variables, summed exactly.
//
// Each axis has 2^L cells. A box is left whole with probability 1/2 or halved along one of the
// axes that can be halved, each as likely as the other:
//   Z(R) = S(R) / 2 + 1 / (2 d) sum over d axes of Z(low half) Z(high half)
// and Z = S for a single cell. There are (2^(L+1) - 1) boxes an axis, numbered as a heap: 1 is
// the whole axis, 2 i and 2 i + 1 the halves of i. From the top down every box is reached with a
// probability, keeps the share of S and hands on the rest: that is the posterior probability
// that it is a part.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "part_sums.h"
#include "runtime.h"

namespace bayesieve {

class DyadicAverage {
public:
    static constexpr std::size_t kMostAxes = 3;

    // counts of the cells, the last axis running fastest, then J classes; levels of each axis.
    DyadicAverage(const PartLikelihood& likelihood, const double* counts,
                  const std::vector<std::size_t>& levels)
        : likelihood_(likelihood), axes_(levels.size()) {
        const std::size_t J = likelihood.classes();
        for (std::size_t d = 0; d < kMostAxes; ++d)
            size_[d] = d < axes_ ? std::size_t{1} << levels[d] : 1;
        step_[kMostAxes - 1] = 1;
        for (std::size_t d = kMostAxes - 1; d-- > 0;) step_[d] = step_[d + 1] * 2 * size_[d + 1];
        const std::size_t boxes = step_[0] * 2 * size_[0];
        counts_.assign(boxes * J, 0.0);
        log_z_.assign(boxes, 0.0);
        whole_.assign(boxes, 0.0);
        rows_.assign(boxes, 0.0);
        fill_counts(counts);
        upward();
        downward();
    }

    double evidence() const { return log_z_[step_[0] + step_[1] + step_[2]]; }

    // Averages over the boxes around every cell.
    CellAverages averages(bool leave_one_out) const {
        const PartSums parts(likelihood_);
        const std::size_t J = likelihood_.classes(), width = parts.width();
        std::vector<double> of_box(whole_.size() * width, 0.0);
        for (std::size_t box = 0; box < whole_.size(); ++box)
            if (whole_[box] > 0.0) parts.add(&counts_[box * J], whole_[box], &of_box[box * width]);
        CellAverages found(size_[0] * size_[1] * size_[2], J, leave_one_out);
        std::vector<double> sums(width);
        for_each_cell([&](std::size_t cell, const auto& at) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for_each_around(at, [&](std::size_t box) {
                const double* from = &of_box[box * width];
                for (std::size_t e = 0; e < width; ++e) sums[e] += from[e];
            });
            parts.finish(sums.data(), &found.mean[cell * J], &found.deviation[cell * J]);
            for (std::size_t c = 0; leave_one_out && c < J; ++c) found.copy_mean(cell, c, J);
        });
        if (leave_one_out) leave_out(0.0, found.left_out.data());
        return found;
    }

    // Leave-one-out probabilities, line cell * J + c, of the classes c that a cell has: lines of
    // others are left alone, so that a sparse grid costs little more than its rows. Boxes less
    // likely than `least` count for nothing: with 0 tables are exact.
    void leave_out(double least, double* out) const {
        const PartSums parts(likelihood_);
        const std::size_t J = likelihood_.classes();
        std::vector<double> sums(parts.left_out_width());
        std::vector<std::size_t> around;
        Pace pace;
        for_each_cell([&](std::size_t cell, const auto& at) {
            const double* own = &counts_[box_of(at) * J];
            around.clear();
            for (std::size_t c = 0; c < J; ++c) {
                if (!(own[c] > 0.0)) continue;
                if (around.empty())
                    for_each_around(at, [&](std::size_t box) {
                        if (whole_[box] > least) around.push_back(box);
                    });
                std::fill(sums.begin(), sums.end(), 0.0);
                for (const std::size_t box : around)
                    parts.add_left_out(&counts_[box * J], rows_[box], whole_[box], c,
                                       sums.data());
                parts.finish_left_out(sums.data(), out + (cell * J + c) * J);
                pace.spend(around.size() * J);
            }
        });
    }

private:
    using Place = std::array<std::size_t, kMostAxes>;

    std::size_t box_of(const Place& cell) const {
        std::size_t box = 0;
        for (std::size_t d = 0; d < kMostAxes; ++d) box += (cell[d] + size_[d]) * step_[d];
        return box;
    }

    // Every cell with its number, the last axis running fastest.
    template <class Body>
    void for_each_cell(Body body) const {
        Place at;
        std::size_t cell = 0;
        for (at[0] = 0; at[0] < size_[0]; ++at[0])
            for (at[1] = 0; at[1] < size_[1]; ++at[1])
                for (at[2] = 0; at[2] < size_[2]; ++at[2]) body(cell++, at);
    }

    // Boxes that hold a cell.
    template <class Body>
    void for_each_around(const Place& cell, Body body) const {
        for (std::size_t i = cell[0] + size_[0]; i > 0; i >>= 1)
            for (std::size_t j = cell[1] + size_[1]; j > 0; j >>= 1)
                for (std::size_t k = cell[2] + size_[2]; k > 0; k >>= 1)
                    body(i * step_[0] + j * step_[1] + k);
    }

    void fill_counts(const double* counts) {
        const std::size_t J = likelihood_.classes();
        for_each_cell([&](std::size_t cell, const Place& at) {
            std::copy_n(counts + cell * J, J, &counts_[box_of(at) * J]);
        });
        // Halves add up along one axis after the other.
        for (std::size_t axis = kMostAxes; axis-- > 0;)
            for_each_box([&](const Place& at, std::size_t box) {
                if (at[axis] >= size_[axis]) return;
                for (std::size_t d = 0; d < axis; ++d)
                    if (at[d] < size_[d]) return;
                const std::size_t low = box + at[axis] * step_[axis];
                const std::size_t high = low + step_[axis];
                for (std::size_t c = 0; c < J; ++c)
                    counts_[box * J + c] = counts_[low * J + c] + counts_[high * J + c];
            });
        for (std::size_t box = 0; box < rows_.size(); ++box)
            for (std::size_t c = 0; c < J; ++c) rows_[box] += counts_[box * J + c];
    }

    // Every box after its halves: heap numbers from the largest down.
    template <class Body>
    void for_each_box(Body body) const {
        Place at;
        for (at[0] = 2 * size_[0]; at[0]-- > 1;)
            for (at[1] = 2 * size_[1]; at[1]-- > 1;)
                for (at[2] = 2 * size_[2]; at[2]-- > 1;)
                    body(at, at[0] * step_[0] + at[1] * step_[1] + at[2]);
    }

    template <class Body>
    std::size_t for_each_axis(const Place& at, std::size_t box,
                              Body body) const {
        std::size_t possible = 0;
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            if (at[axis] >= size_[axis]) continue;
            ++possible;
            const std::size_t low = box + at[axis] * step_[axis];
            body(low, low + step_[axis]);
        }
        return possible;
    }

    void upward() {
        const std::size_t J = likelihood_.classes();
        Pace pace;
        for_each_box([&](const Place& at, std::size_t box) {
            pace.spend(J + 8);
            if (!(rows_[box] > 0.0)) {  // nothing to tell: as good whole as halved
                whole_[box] = 1.0;
                return;
            }
            const double s = likelihood_(&counts_[box * J]);
            double halved[kMostAxes];
            std::size_t n = 0;
            for_each_axis(at, box, [&](std::size_t low, std::size_t high) {
                halved[n++] = log_z_[low] + log_z_[high];
            });
            if (n == 0) {
                log_z_[box] = s;
                whole_[box] = 1.0;
                return;
            }
            double top = s;
            for (std::size_t a = 0; a < n; ++a) top = std::max(top, halved[a]);
            const double kept = 0.5 * std::exp(s - top);
            double sum = kept;
            for (std::size_t a = 0; a < n; ++a) sum += 0.5 / n * std::exp(halved[a] - top);
            log_z_[box] = top + std::log(sum);
            whole_[box] = kept / sum;
        });
    }

    void downward() {
        std::vector<double> reached(log_z_.size(), 0.0);
        reached[step_[0] + step_[1] + step_[2]] = 1.0;
        Place at;
        for (at[0] = 1; at[0] < 2 * size_[0]; ++at[0])
            for (at[1] = 1; at[1] < 2 * size_[1]; ++at[1])
                for (at[2] = 1; at[2] < 2 * size_[2]; ++at[2]) {
                    const std::size_t box = at[0] * step_[0] + at[1] * step_[1] + at[2];
                    const double own = reached[box];
                    whole_[box] *= own;
                    if (!(own > 0.0) || !(rows_[box] > 0.0)) continue;
                    std::size_t halves[kMostAxes], n = 0;
                    for_each_axis(at, box,
                                  [&](std::size_t low, std::size_t) { halves[n++] = low; });
                    std::size_t axis = 0;
                    for (std::size_t a = 0; a < n; ++a, ++axis) {
                        while (at[axis] >= size_[axis]) ++axis;
                        const std::size_t low = halves[a], high = low + step_[axis];
                        const double share =
                            own * 0.5 / n * std::exp(log_z_[low] + log_z_[high] - log_z_[box]);
                        reached[low] += share;
                        reached[high] += share;
                    }
                }
    }

    const PartLikelihood& likelihood_;
    std::size_t axes_;
    Place size_, step_;
    std::vector<double> counts_, rows_, log_z_;
    std::vector<double> whole_;  // posterior probability of each box as a part
};

}  // namespace bayesieve
