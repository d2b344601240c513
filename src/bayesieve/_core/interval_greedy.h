// Bottom-up merging of neighbouring rows, down to one interval.
//
// The prior depends on the number of intervals alone, so the best merge is always the one of
// smallest gain e(a u b) - e(a) - e(b), whatever the prior.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "interval_table.h"
#include "runtime.h"

namespace bayesieve {

// A binary heap of the items 0..n-1 by key, smaller index first among equals; keys may change.
class KeyedHeap {
  public:
    explicit KeyedHeap(const std::vector<double>& keys)
        : key_(keys), heap_(keys.size()), place_(keys.size()) {
        for (std::size_t i = 0; i < heap_.size(); ++i) {
            heap_[i] = static_cast<std::uint32_t>(i);
            place_[i] = static_cast<std::uint32_t>(i);
        }
        for (std::size_t i = heap_.size() / kWays + 1; i-- > 0;) sink(i);
    }
    bool empty() const { return heap_.empty(); }
    std::uint32_t top() const { return heap_[0]; }
    double key(std::uint32_t item) const { return key_[item]; }
    void change(std::uint32_t item, double key) {
        const bool up = key < key_[item];
        key_[item] = key;
        if (up) rise(place_[item]);
        else sink(place_[item]);
    }
    void remove(std::uint32_t item) {
        const std::size_t at = place_[item];
        const std::uint32_t last = heap_.back();
        heap_.pop_back();
        if (last == item) return;
        heap_[at] = last;
        place_[last] = static_cast<std::uint32_t>(at);
        rise(at);
        sink(place_[last]);
    }

  private:
    static constexpr std::size_t kWays = 4;
    bool before(std::uint32_t a, std::uint32_t b) const {
        return key_[a] < key_[b] || (key_[a] == key_[b] && a < b);
    }
    void rise(std::size_t at) {
        if (at >= heap_.size()) return;
        const std::uint32_t item = heap_[at];
        while (at > 0) {
            const std::size_t up = (at - 1) / kWays;
            if (!before(item, heap_[up])) break;
            heap_[at] = heap_[up];
            place_[heap_[at]] = static_cast<std::uint32_t>(at);
            at = up;
        }
        heap_[at] = item;
        place_[item] = static_cast<std::uint32_t>(at);
    }
    void sink(std::size_t at) {
        const std::size_t n = heap_.size();
        if (at >= n) return;
        const std::uint32_t item = heap_[at];
        for (;;) {
            const std::size_t first = at * kWays + 1;
            if (first >= n) break;
            std::size_t least = first;
            for (std::size_t c = first + 1; c < std::min(first + kWays, n); ++c)
                if (before(heap_[c], heap_[least])) least = c;
            if (!before(heap_[least], item)) break;
            heap_[at] = heap_[least];
            place_[heap_[at]] = static_cast<std::uint32_t>(at);
            at = least;
        }
        heap_[at] = item;
        place_[item] = static_cast<std::uint32_t>(at);
    }
    std::vector<double> key_;
    std::vector<std::uint32_t> heap_, place_;
};

// The whole path of merges. A cut is named by the first row of its right side.
struct MergePath {
    std::vector<std::uint32_t> cuts;   // in increasing order
    std::vector<std::uint32_t> level;  // the cut is there in partitions of >= level intervals
    std::vector<double> rows_cost;     // rows_cost[I]: sum of e at I intervals (I >= 1)

    std::size_t largest() const { return rows_cost.size() - 1; }
    std::vector<std::uint32_t> ends(std::size_t intervals, std::size_t rows) const {
        std::vector<std::uint32_t> out;
        out.reserve(intervals);
        for (std::size_t i = 0; i < cuts.size(); ++i)
            if (level[i] <= intervals) out.push_back(cuts[i]);
        out.push_back(static_cast<std::uint32_t>(rows));
        return out;
    }
};

// Above this many rows neighbours are first merged in sweeps: a heap of a million keys spends
// its time waiting for memory.
constexpr std::size_t kSweepRows = 2048;
constexpr std::size_t kPaceMerges = 1 << 12;  // costs computed between two polls

// Merges pairs that are best among their neighbours, cheapest quarter first, as long as each
// lowers the cost by itself; every sweep is one walk through memory.
template <class Count, class Prior>
void sweep_merges(const OrderedTable<Count>& table, const Prior& prior,
                  std::vector<std::uint32_t>& begin, std::vector<double>& cost) {
    const std::size_t rows = table.rows();
    std::size_t n = begin.size();
    std::vector<double> gain(n);
    auto end_of = [&](std::size_t i) {
        return i + 1 < n ? static_cast<std::size_t>(begin[i + 1]) : rows;
    };
    Pace pace(kPaceMerges);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        pace.spend(1);
        gain[i] = table.cost(begin[i], end_of(i + 1)) - cost[i] - cost[i + 1];
    }
    constexpr double kStale = std::numeric_limits<double>::infinity();
    std::vector<double> sample;
    while (n > kSweepRows) {
        // The change of the prior by one merge, on average down to the size aimed at.
        const std::size_t aim = std::max<std::size_t>(kSweepRows, n / 2);
        double relief = (prior(n) - prior(aim)) / static_cast<double>(n - aim);
        if (!(relief < kStale)) relief = kStale;
        sample.clear();
        const std::size_t step = std::max<std::size_t>(1, n / 2048);
        for (std::size_t i = 0; i + 1 < n; i += step) sample.push_back(gain[i]);
        const std::size_t at = sample.size() * 3 / 8;
        std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(at),
                         sample.end());
        const double limit = std::min(sample[at], relief);
        std::size_t made = 0;
        double before = kStale;  // gain of the pair to the left, as it was
        for (std::size_t i = 0; i < n; ++i, ++made) {
            begin[made] = begin[i];
            const bool pair = i + 1 < n;
            const double here = pair ? gain[i] : kStale;
            const double after = i + 2 < n ? gain[i + 1] : kStale;
            if (pair && here <= limit && here <= before && here <= after) {
                cost[made] = here + cost[i] + cost[i + 1];
                gain[made] = kStale;
                if (made > 0) gain[made - 1] = kStale;
                before = after;
                ++i;
            } else {
                cost[made] = cost[i];
                gain[made] = here;
                before = here;
            }
        }
        const std::size_t gone = n - made;
        n = made;
        begin.resize(n);
        cost.resize(n);
        gain.resize(n);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            if (gain[i] != kStale) continue;
            pace.spend(1);
            gain[i] = table.cost(begin[i], end_of(i + 1)) - cost[i] - cost[i + 1];
        }
        if (gone < n / 256) break;
    }
}

template <class Count, class Prior>
MergePath merge_path(const OrderedTable<Count>& table, const Prior& prior) {
    const std::size_t m = table.rows();
    std::vector<std::uint32_t> begin(m);
    std::vector<double> cost(m);
    Pace pace(kPaceMerges);
    for (std::size_t r = 0; r < m; ++r) {
        pace.spend(1);
        begin[r] = static_cast<std::uint32_t>(r);
        cost[r] = table.cost(r, r + 1);
    }
    if (m > kSweepRows) sweep_merges(table, prior, begin, cost);
    const std::size_t n = begin.size();
    MergePath path;
    path.cuts.assign(begin.begin() + 1, begin.end());
    path.level.assign(n - 1, 0);
    path.rows_cost.assign(n + 1, 0.0);
    double sum = 0.0;
    for (const double e : cost) sum += e;
    path.rows_cost[n] = sum;
    if (n == 1) return path;
    // Pair i joins interval i and the one after it; begin[n] closes the last.
    begin.push_back(static_cast<std::uint32_t>(m));
    std::vector<std::uint32_t> previous(n), next(n);
    std::vector<double> joined(n - 1), gains(n - 1);
    for (std::size_t i = 0; i < n; ++i) {
        previous[i] = static_cast<std::uint32_t>(i - 1);
        next[i] = static_cast<std::uint32_t>(i + 1);
        if (i + 1 < n) {
            joined[i] = table.cost(begin[i], begin[i + 2]);
            gains[i] = joined[i] - cost[i] - cost[i + 1];
        }
    }
    KeyedHeap heap(gains);
    for (std::size_t left = n; left > 1; --left) {
        pace.spend(1);
        const std::uint32_t a = heap.top();
        const std::uint32_t b = next[a];
        sum += heap.key(a);
        path.level[b - 1] = static_cast<std::uint32_t>(left);
        path.rows_cost[left - 1] = sum;
        cost[a] = joined[a];
        const std::uint32_t c = next[b];
        next[a] = c;
        if (c < n) {
            // Pair a is now (a, c): it takes the place of pair b.
            previous[c] = a;
            heap.remove(b);
            joined[a] = table.cost(begin[a], begin[next[c]]);
            heap.change(a, joined[a] - cost[a] - cost[c]);
        } else {
            heap.remove(a);
        }
        if (a > 0) {
            const std::uint32_t p = previous[a];
            joined[p] = table.cost(begin[p], begin[next[a]]);
            heap.change(p, joined[p] - cost[p] - cost[a]);
        }
    }
    return path;
}

}  // namespace bayesieve
