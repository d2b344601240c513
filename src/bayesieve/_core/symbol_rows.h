// Rows of symbols, DNA or bytes, and the keys of their windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "key_table.h"

namespace bayesieve::keys {

enum class Alphabet { kDna, kBytes };

constexpr std::uint8_t kBreak = 4;  // no base: windows do not go across it

// How windows become keys. The order of keys is that of the strings they stand for.
struct Spelling {
    Alphabet alphabet = Alphabet::kDna;
    unsigned length = 31;
    bool canonical = true;  // a k-mer and its reverse complement are one, the smaller

    void check() const {
        const unsigned most = alphabet == Alphabet::kDna ? 31 : 8;
        if (length < 1 || length > most)
            throw std::invalid_argument("the length of windows is out of range");
    }
    unsigned bits() const { return alphabet == Alphabet::kDna ? 2 * length : 8 * length; }
    Key mask() const { return bits() == 64 ? ~Key{0} : (Key{1} << bits()) - 1; }

    Key reverse_complement(Key key) const {
        Key reversed = 0;
        for (unsigned i = 0; i < length; ++i, key >>= 2) reversed = reversed << 2 | (3 - (key & 3));
        return reversed;
    }
    void write(Key key, char* to) const {
        for (unsigned i = length; i-- > 0;)
            if (alphabet == Alphabet::kDna) {
                to[i] = "ACGT"[key & 3];
                key >>= 2;
            } else {
                to[i] = static_cast<char>(key & 0xFF);
                key >>= 8;
            }
    }
};

// Row i is symbols[starts[i] : starts[i + 1]], the last one to the end.
struct Rows {
    const std::uint8_t* symbols;
    std::size_t size;
    const std::int64_t* starts;
    std::size_t rows;

    std::size_t end_of(std::size_t row) const {
        return row + 1 < rows ? static_cast<std::size_t>(starts[row + 1]) : size;
    }
    std::size_t row_of(std::size_t position) const {
        const std::int64_t* after =
            std::upper_bound(starts, starts + rows, static_cast<std::int64_t>(position));
        return static_cast<std::size_t>(after - starts) - 1;
    }
};

// Calls emit(key, row) for every window that begins in [first, last), in order.
template <class Emit>
void for_each_window(const Spelling& how, const Rows& data, std::size_t first, std::size_t last,
                     Emit emit) {
    if (data.rows == 0) return;
    const Key mask = how.mask();
    const unsigned length = how.length, top = how.bits() - 2;
    if (first < static_cast<std::size_t>(data.starts[0])) first = data.starts[0];
    std::size_t row = data.row_of(first), at = first;
    while (at < last) {
        while (row + 1 < data.rows && data.end_of(row) <= at) ++row;
        const std::size_t end_of_row = data.end_of(row);
        // The last window that begins before `last` ends after it.
        std::size_t end = last - 1 + length;
        if (end > end_of_row) end = end_of_row;
        Key forward = 0, backward = 0;
        unsigned seen = 0;
        if (how.alphabet == Alphabet::kBytes) {
            for (; at < end; ++at) {
                forward = (forward << 8 | data.symbols[at]) & mask;
                if (++seen >= length) emit(forward, row);
            }
        } else {
            for (; at < end; ++at) {
                const std::uint8_t base = data.symbols[at];
                if (base >= kBreak) {
                    seen = 0;
                    continue;
                }
                forward = (forward << 2 | base) & mask;
                backward = backward >> 2 | static_cast<Key>(3 - base) << top;
                if (++seen < length) continue;
                emit(how.canonical && backward < forward ? backward : forward, row);
            }
        }
        if (end < end_of_row) return;  // `last` is within this row
        at = end_of_row;
    }
}

}  // namespace bayesieve::keys
