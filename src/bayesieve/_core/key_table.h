// Sorted tables of (key, class): what rows of symbols come down to once they are counted.
//
// A key is a k-mer or some bytes packed into 64 bits. An entry has its count in one class and
// its print: the sum, modulo 2^64, of a random number for each row that was counted. Two keys
// with equal prints occur in the same rows. Counts and prints add up, so tables merge.
//
// A row may go on when a table is closed, and be counted for the same key again in the next
// one. Entries know whether they counted the row that was open before the table or the one open
// at its end, so that merging two tables takes the second count back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "growing_block.h"
#include "runtime.h"

namespace bayesieve::keys {

using Key = std::uint64_t;

struct Entry {
    Key key;
    std::uint64_t print;
    std::uint64_t what;  // class, two flags and the count

    std::uint32_t code() const { return static_cast<std::uint32_t>(what >> 50); }
    bool counts_first() const { return (what >> 49 & 1) != 0; }
    bool counts_last() const { return (what >> 48 & 1) != 0; }
    std::uint64_t count() const { return what & kMost; }

    static constexpr std::uint64_t kMost = (std::uint64_t{1} << 48) - 1;
    static constexpr std::uint32_t kCodes = 1u << 14;
    static Entry of(Key key, std::uint64_t print, std::uint32_t code, std::uint64_t count,
                    bool first, bool last) {
        if (count > kMost) throw std::overflow_error("a feature occurs too often to be counted");
        return {key, print,
                static_cast<std::uint64_t>(code) << 50 | static_cast<std::uint64_t>(first) << 49 |
                    static_cast<std::uint64_t>(last) << 48 | count};
    }
    bool same_place(const Entry& other) const {
        return key == other.key && code() == other.code();
    }
    bool before(const Entry& other) const {
        return key != other.key ? key < other.key : code() < other.code();
    }
};

constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

// The rows that were open when a table was begun and when it was closed.
struct Stretch {
    std::uint64_t first_row = kNoRow, last_row = kNoRow;
    std::uint64_t last_print = 0;

    bool is_one_row() const { return first_row == last_row && first_row != kNoRow; }
    static Stretch joined(const Stretch& a, const Stretch& b) {
        return {a.first_row, b.last_row, b.last_print};
    }
};

// A table, in memory or a part of one on disk.
struct Table {
    const Entry* entries;
    std::size_t size;
    Stretch stretch;
};

// The sum of two tables, `b` right after `a` in the order of rows.
inline void merge(const Table& a, const Table& b, Block<Entry>& out) {
    const bool goes_on = a.stretch.last_row != kNoRow && a.stretch.last_row == b.stretch.first_row;
    const bool a_to_end = a.stretch.last_row == b.stretch.last_row;
    const bool b_from_start = goes_on && a.stretch.is_one_row();
    out.clear();
    out.reserve(a.size + b.size);
    Entry* to = out.data();
    std::size_t i = 0, j = 0;
    const auto alone_a = [&](const Entry& entry) {
        *to = entry;
        if (!a_to_end) to->what &= ~(std::uint64_t{1} << 48);
        ++to;
    };
    const auto alone_b = [&](const Entry& entry) {
        *to = entry;
        if (!b_from_start) to->what &= ~(std::uint64_t{1} << 49);
        ++to;
    };
    Pace pace(std::size_t{1} << 18);
    while (i < a.size && j < b.size) {
        pace.spend(1);
        const Entry &x = a.entries[i], &y = b.entries[j];
        if (x.same_place(y)) {
            const bool twice = goes_on && x.counts_last() && y.counts_first();
            *to++ = Entry::of(x.key, x.print + y.print - (twice ? a.stretch.last_print : 0),
                              x.code(), x.count() + y.count() - (twice ? 1 : 0),
                              x.counts_first() || (y.counts_first() && b_from_start),
                              y.counts_last() || (x.counts_last() && a_to_end));
            ++i, ++j;
        } else if (x.before(y)) {
            alone_a(x), ++i;
        } else {
            alone_b(y), ++j;
        }
    }
    for (; i < a.size; ++i) alone_a(a.entries[i]);
    for (; j < b.size; ++j) alone_b(b.entries[j]);
    out.resize(static_cast<std::size_t>(to - out.data()));
}

// Number of different keys, and calls work(first, last) for the entries of each.
template <class Work>
std::size_t for_each_key(const Entry* entries, std::size_t size, Work work) {
    std::size_t keys = 0;
    for (std::size_t i = 0; i < size; ++keys) {
        std::size_t j = i + 1;
        while (j < size && entries[j].key == entries[i].key) ++j;
        work(i, j);
        i = j;
    }
    return keys;
}

// Sorts items by key and row. The first bits in which keys differ, so many that few others agree
// in them, are sorted by radix; what is left are short stretches.
template <class Item>
void sort_items(Block<Item>& items, Block<Item>& other) {
    constexpr unsigned kBits = 11;
    const auto before = [](const Item& a, const Item& b) {
        return a.key != b.key ? a.key < b.key : a.row < b.row;
    };
    const std::size_t n = items.size();
    if (n < 2) return;
    Key spread = 0;
    for (const Item& item : items) spread |= item.key ^ items[0].key;
    unsigned top = 0;  // bits below which all differences are
    while (top < 64 && spread >> top != 0) ++top;
    unsigned passes = 1;
    while (passes * kBits < 64 && (std::size_t{1} << std::min(passes * kBits, 60u)) < 8 * n)
        ++passes;
    const unsigned from = top > passes * kBits ? top - passes * kBits : 0;
    other.resize(n);
    for (unsigned shift = from; shift < top; shift += kBits) {
        const Key mask = (Key{1} << kBits) - 1;
        std::uint32_t place[(1u << kBits) + 1] = {};
        for (std::size_t i = 0; i < n; ++i) ++place[(items[i].key >> shift & mask) + 1];
        for (unsigned d = 0; d < 1u << kBits; ++d) place[d + 1] += place[d];
        for (std::size_t i = 0; i < n; ++i)
            other[place[items[i].key >> shift & mask]++] = items[i];
        items.swap(other);
        poll();
    }
    Item* const data = items.data();
    for (std::size_t i = 0; i < n;) {
        std::size_t j = i + 1;
        while (j < n && data[j].key >> from == data[i].key >> from) ++j;
        if (j - i > 24) {
            std::sort(data + i, data + j, before);
        } else {
            for (std::size_t k = i + 1; k < j; ++k) {
                const Item item = data[k];
                std::size_t at = k;
                for (; at > i && before(item, data[at - 1]); --at) data[at] = data[at - 1];
                data[at] = item;
            }
        }
        i = j;
    }
}

}  // namespace bayesieve::keys
