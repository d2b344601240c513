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
        fill_counts(counts);
        upward();
        downward();
    }

    double evidence() const { return log_z_[step_[0] + step_[1] + step_[2]]; }

    // Sums of the boxes around every cell.
    std::vector<double> sums(const PartSums& parts) const {
        const std::size_t J = likelihood_.classes(), width = parts.width();
        std::vector<double> own(counts_.size() / J * width, 0.0);
        for (std::size_t box = 0; box < whole_.size(); ++box)
            if (whole_[box] > 0.0) parts.add(&counts_[box * J], whole_[box], &own[box * width]);
        std::vector<double> out(size_[0] * size_[1] * size_[2] * width, 0.0);
        double* target = out.data();
        for (std::size_t x = 0; x < size_[0]; ++x)
            for (std::size_t y = 0; y < size_[1]; ++y)
                for (std::size_t z = 0; z < size_[2]; ++z, target += width)
                    for (std::size_t i = x + size_[0]; i > 0; i >>= 1)
                        for (std::size_t j = y + size_[1]; j > 0; j >>= 1)
                            for (std::size_t k = z + size_[2]; k > 0; k >>= 1) {
                                const std::size_t box = i * step_[0] + j * step_[1] + k;
                                if (!(whole_[box] > 0.0)) continue;
                                const double* from = &own[box * width];
                                for (std::size_t e = 0; e < width; ++e) target[e] += from[e];
                            }
        return out;
    }

private:
    void fill_counts(const double* counts) {
        const std::size_t J = likelihood_.classes();
        for (std::size_t x = 0; x < size_[0]; ++x)
            for (std::size_t y = 0; y < size_[1]; ++y)
                for (std::size_t z = 0; z < size_[2]; ++z, counts += J) {
                    const std::size_t box = (x + size_[0]) * step_[0] +
                                            (y + size_[1]) * step_[1] + z + size_[2];
                    std::copy(counts, counts + J, &counts_[box * J]);
                }
        // Halves add up along one axis after the other.
        for (std::size_t axis = kMostAxes; axis-- > 0;)
            for_each_box([&](const std::array<std::size_t, kMostAxes>& at, std::size_t box) {
                if (at[axis] >= size_[axis]) return;
                for (std::size_t d = 0; d < axis; ++d)
                    if (at[d] < size_[d]) return;
                const std::size_t low = box + at[axis] * step_[axis];
                const std::size_t high = low + step_[axis];
                for (std::size_t c = 0; c < J; ++c)
                    counts_[box * J + c] = counts_[low * J + c] + counts_[high * J + c];
            });
    }

    // Every box after its halves: heap numbers from the largest down.
    template <class Body>
    void for_each_box(Body body) const {
        std::array<std::size_t, kMostAxes> at;
        for (at[0] = 2 * size_[0]; at[0]-- > 1;)
            for (at[1] = 2 * size_[1]; at[1]-- > 1;)
                for (at[2] = 2 * size_[2]; at[2]-- > 1;)
                    body(at, at[0] * step_[0] + at[1] * step_[1] + at[2]);
    }

    template <class Body>
    std::size_t for_each_axis(const std::array<std::size_t, kMostAxes>& at, std::size_t box,
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
        for_each_box([&](const std::array<std::size_t, kMostAxes>& at, std::size_t box) {
            pace.spend(J + 8);
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
        std::array<std::size_t, kMostAxes> at;
        for (at[0] = 1; at[0] < 2 * size_[0]; ++at[0])
            for (at[1] = 1; at[1] < 2 * size_[1]; ++at[1])
                for (at[2] = 1; at[2] < 2 * size_[2]; ++at[2]) {
                    const std::size_t box = at[0] * step_[0] + at[1] * step_[1] + at[2];
                    const double own = reached[box];
                    whole_[box] *= own;
                    if (!(own > 0.0)) continue;
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
    std::array<std::size_t, kMostAxes> size_, step_;
    std::vector<double> counts_, log_z_, whole_;  // whole_: posterior of each box as a part
};

}  // namespace bayesieve
