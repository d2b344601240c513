// Words of ASCII text, sixty-four characters at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef _MSC_VER
#include <intrin.h>

#include "runtime.h"
#endif

namespace bayesieve::text {

// The ASCII part of \w.
inline bool is_ascii_word(std::uint8_t c) {
    const auto letter = static_cast<std::uint8_t>((c | 32) - 'a');
    const auto digit = static_cast<std::uint8_t>(c - '0');
    return (letter < 26) | (digit < 10) | (c == '_');
}

// Number of zero bits below the lowest one; the value is not 0.
inline unsigned lowest_bit(std::uint64_t value) {
#ifdef _MSC_VER
    unsigned long at;
    _BitScanForward64(&at, value);
    return static_cast<unsigned>(at);
#else
    return static_cast<unsigned>(__builtin_ctzll(value));
#endif
}

// Bit i tells whether character i of sixty-four belongs to a word.
inline std::uint64_t word_bits(const std::uint8_t* p) {
    std::uint8_t flag[64];
    for (std::size_t i = 0; i < 64; ++i) flag[i] = is_ascii_word(p[i]);  // vectorised
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) {
        std::uint64_t eight = 0;
        for (unsigned j = 0; j < 8; ++j)  // one load where bytes come lowest first
            eight |= static_cast<std::uint64_t>(flag[8 * i + j]) << (8 * j);
        // Byte j, 0 or 1, is moved to bit 56 + j; nothing else gets there.
        bits |= (eight * 0x0102040810204080ull >> 56) << (8 * i);
    }
    return bits;
}

constexpr std::size_t kPollBytes = 1 << 18;  // of a text between two polls

// Calls found(data, size) for every run of word characters of at least `shortest`; the text is
// ASCII.
template <class Found>
void ascii_runs(const std::uint8_t* text, std::size_t size, std::size_t shortest, Found found) {
    constexpr std::size_t kNone = ~std::size_t{0};
    std::size_t open = kNone;  // where a run began that reached the end of its block
    const auto close = [&](std::size_t first, std::size_t last) {
        if (last - first >= shortest) found(text + first, last - first);
    };
    for (std::size_t base = 0; base < size; base += 64) {
        if (base % kPollBytes == kPollBytes - 64) poll();
        std::uint64_t bits;
        if (size - base >= 64) {
            bits = word_bits(text + base);
        } else {
            std::uint8_t rest[64] = {};  // no word character
            std::memcpy(rest, text + base, size - base);
            bits = word_bits(rest);
        }
        if (open != kNone) {
            if (~bits == 0) continue;
            const unsigned last = lowest_bit(~bits);
            close(open, base + last);
            open = kNone;
            bits &= ~std::uint64_t{0} << last;
        }
        while (bits != 0) {
            const unsigned first = lowest_bit(bits);
            const std::uint64_t after = ~bits & (~std::uint64_t{0} << first);
            if (after == 0) {
                open = base + first;
                break;
            }
            const unsigned last = lowest_bit(after);
            close(base + first, base + last);
            bits &= ~std::uint64_t{0} << last;
        }
    }
    if (open != kNone) close(open, size);
}

}  // namespace bayesieve::text
