// A keyed hash of strings and of n-grams.
//
// Texts come from strangers, who must not be able to write words that all fall on one place of
// a table: the key is drawn from the system once for each process, and every input is multiplied
// with it, 64 by 64 bits to 128, so that which inputs collide depends on the key. Hashes say
// where things are kept, never what comes out or in which order: results do not depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "text_unicode.h"

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#endif

namespace bayesieve::text {

// Both halves of the product, folded.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
    return (a * b) ^ __umulh(a, b);
#else
    const std::uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const std::uint64_t other = a0 * b1 + (middle & 0xFFFFFFFFu);
    return (a * b) ^ (a1 * b1 + (middle >> 32) + (other >> 32));
#endif
}

struct HashKey {
    std::uint64_t start, left, last, size;

    static HashKey drawn() {
        std::random_device device;
        const auto number = [&] {
            const auto high = static_cast<std::uint64_t>(device()) << 32;
            return high | static_cast<std::uint32_t>(device());
        };
        return {number(), number(), number(), number()};
    }
};

inline const HashKey kHashKey = HashKey::drawn();

inline std::uint64_t eight_bytes(const Byte* p) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
}

inline std::uint64_t hash_bytes(const Byte* p, std::size_t size) {
    const HashKey key = kHashKey;
    std::uint64_t h = key.start;
    std::size_t left = size;
    for (; left > 16; left -= 16, p += 16)
        h = folded_product(eight_bytes(p) ^ key.left, eight_bytes(p + 8) ^ h);
    // The rest in loads that may overlap: most words end here, and a loop would be guessed wrong.
    std::uint64_t a = 0, b = 0;
    if (left >= 8) {
        a = eight_bytes(p);
        b = eight_bytes(p + left - 8);
    } else if (left >= 4) {
        std::uint32_t low, high;
        std::memcpy(&low, p, 4);
        std::memcpy(&high, p + left - 4, 4);
        a = low | static_cast<std::uint64_t>(high) << 32;
    } else if (left > 0) {
        a = p[0] | static_cast<std::uint64_t>(p[left / 2]) << 8 |
            static_cast<std::uint64_t>(p[left - 1]) << 16;
    }
    h = folded_product(a ^ key.left, b ^ h);
    return folded_product(h ^ key.last, size ^ key.size);
}

// Of `count` numbers of 32 bits.
template <std::size_t count>
inline std::uint64_t hash_numbers(const std::uint32_t* numbers) {
    const HashKey key = kHashKey;
    const auto pair = [&](std::size_t i) {
        std::uint64_t both = i < count ? numbers[i] : 0;
        if (i + 1 < count) both |= static_cast<std::uint64_t>(numbers[i + 1]) << 32;
        return both;
    };
    std::uint64_t h = key.start;
    for (std::size_t i = 0; i < count; i += 4)
        h = folded_product(pair(i) ^ key.left, pair(i + 2) ^ h);
    return h;
}

}  // namespace bayesieve::text
