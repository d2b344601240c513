// All groupings of the values of a categorical variable, summed exactly: for few values.
//
// Z_i(M), the sum over all partitions of the set M of values into i groups, is the sum over the
// group G that holds the first value of M of S(G) Z_(i-1)(M without G): 3^V steps. A group's
// posterior probability is S(G) sum_i prior(i) Z_(i-1)(rest) / Z. As for intervals everything is
// kept relative to the sum over all partitions of the same set.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "part_sums.h"
#include "runtime.h"

namespace bayesieve {

class SubsetAverage {
public:
    // log_prior[I - 1] is that of one partition of all values into I groups.
    SubsetAverage(const PartLikelihood& likelihood, const double* counts, std::size_t values,
                  const std::vector<double>& log_prior)
        : likelihood_(likelihood), values_(values) {
        const std::size_t J = likelihood.classes(), sets = std::size_t{1} << values;
        counts_.assign(sets * J, 0.0);
        std::vector<double> own(sets, 0.0), phi(sets, -INFINITY);
        for (std::size_t set = 1; set < sets; ++set) {
            std::size_t first = 0;
            while (!(set >> first & 1)) ++first;
            const std::size_t rest = set & (set - 1);
            for (std::size_t c = 0; c < J; ++c)
                counts_[set * J + c] = counts_[rest * J + c] + counts[first * J + c];
            own[set] = likelihood(&counts_[set * J]);
        }
        phi[0] = 0.0;
        // z[i * sets + M]: Z_i(M) relative to exp(phi(M)).
        std::vector<double> z((values + 1) * sets, 0.0);
        z[0] = 1.0;
        std::vector<std::size_t> groups;
        std::vector<double> logs;
        Pace pace;
        for (std::size_t set = 1; set < sets; ++set) {
            const std::size_t lowest = set & (~set + 1), others = set ^ lowest;
            groups.clear();
            logs.clear();
            double top = -INFINITY;
            for (std::size_t sub = others;; sub = (sub - 1) & others) {
                const std::size_t group = sub | lowest;
                groups.push_back(group);
                logs.push_back(own[group] + phi[set ^ group]);
                top = std::max(top, logs.back());
                if (sub == 0) break;
            }
            double sum = 0.0;
            for (double& x : logs) sum += x = std::exp(x - top);
            phi[set] = top + std::log(sum);
            for (std::size_t g = 0; g < groups.size(); ++g) {
                const double share = logs[g] / sum;
                const std::size_t rest = set ^ groups[g];
                for (std::size_t i = 1; i <= values; ++i)
                    z[i * sets + set] += share * z[(i - 1) * sets + rest];
            }
            pace.spend(groups.size() * values);
        }
        const std::size_t all = sets - 1;
        double top = -INFINITY;
        for (const double p : log_prior) top = std::max(top, p);
        double total = 0.0;
        for (std::size_t i = 1; i <= values; ++i)
            total += std::exp(log_prior[i - 1] - top) * z[i * sets + all];
        evidence_ = std::log(total) + top + phi[all];
        posterior_.assign(sets, 0.0);
        for (std::size_t set = 1; set < sets; ++set) {
            const std::size_t rest = all ^ set;
            double sum = 0.0;
            for (std::size_t i = 1; i <= values; ++i)
                sum += std::exp(log_prior[i - 1] - top) * z[(i - 1) * sets + rest];
            posterior_[set] = std::exp(own[set] + phi[rest] - phi[all]) * sum / total;
        }
    }

    double evidence() const { return evidence_; }

    CellAverages averages(bool leave_one_out) const {
        const PartSums parts(likelihood_);
        const std::size_t J = likelihood_.classes(), wide = parts.left_out_width();
        const std::size_t width = parts.width() + (leave_one_out ? J * wide : 0);
        std::vector<double> sums(values_ * width, 0.0), own(width);
        for (std::size_t set = 1; set < posterior_.size(); ++set) {
            const double p = posterior_[set];
            if (!(p > 0.0)) continue;
            const double* counts = &counts_[set * J];
            std::fill(own.begin(), own.end(), 0.0);
            parts.add(counts, p, own.data());
            const double n = parts.total(counts);
            for (std::size_t c = 0; leave_one_out && c < J; ++c)
                if (counts[c] > 0.0)
                    parts.add_left_out(counts, n, p, c, &own[parts.width() + c * wide]);
            for (std::size_t v = 0; v < values_; ++v)
                if (set >> v & 1)
                    for (std::size_t e = 0; e < width; ++e) sums[v * width + e] += own[e];
        }
        CellAverages found(values_, J, leave_one_out);
        for (std::size_t v = 0; v < values_; ++v) {
            const double* of_value = &sums[v * width];
            const double* counts = &counts_[(std::size_t{1} << v) * J];
            parts.finish(of_value, &found.mean[v * J], &found.deviation[v * J]);
            for (std::size_t c = 0; leave_one_out && c < J; ++c)
                if (counts[c] > 0.0)
                    parts.finish_left_out(of_value + parts.width() + c * wide,
                                          &found.left_out[(v * J + c) * J]);
                else
                    found.copy_mean(v, c, J);
        }
        return found;
    }

private:
    const PartLikelihood& likelihood_;
    std::size_t values_;
    std::vector<double> counts_, posterior_;
    double evidence_ = 0.0;
};

}  // namespace bayesieve
