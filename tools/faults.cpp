// A library to be preloaded that makes the n-th allocation or the n-th thread of one part of the
// process fail; see tests/core/test_faults.py. Linux with glibc.
//
//   faults_within(low, high)   addresses of the code whose calls are counted
//   faults_arm(kind, n)        the n-th call from now on fails; 0: none does, calls are counted
//   faults_seen()              calls since then
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
}

namespace {

enum Kind : int { kNone = 0, kMemory = 1, kThread = 2 };

std::atomic<int> armed{kNone};
std::atomic<long> left{0}, seen{0};
std::atomic<std::uintptr_t> low{0}, high{0};

bool fails(int kind, const void* caller) {
    if (armed.load(std::memory_order_relaxed) != kind) return false;
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    if (at < low.load() || at >= high.load()) return false;
    ++seen;
    return left.load() > 0 && --left == 0;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void faults_within(std::uintptr_t from, std::uintptr_t to) {
    low = from;
    high = to;
}
void faults_arm(int kind, long n) {
    seen = 0;
    left = n;
    armed = kind;
}
long faults_seen() { return seen; }

void* malloc(std::size_t size) {
    if (fails(kMemory, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    if (fails(kMemory, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
    if (fails(kMemory, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_realloc(block, size);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
    using Real = void* (*)(void*, std::size_t, int, int, int, off_t);
    static const Real real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "mmap"));
    if (fails(kMemory, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(at, size, protection, flags, file, offset);
}
void* mremap(void* block, std::size_t old_size, std::size_t new_size, int flags, ...) noexcept {
    using Real = void* (*)(void*, std::size_t, std::size_t, int, ...);
    static const Real real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "mremap"));
    if (fails(kMemory, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(block, old_size, new_size, flags);  // nobody here fixes the new address
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
    using Real = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const Real real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "pthread_create"));
    // Called by libstdc++ for std::thread: any caller counts, nobody else makes threads meanwhile.
    if (fails(kThread, reinterpret_cast<const void*>(low.load()))) return EAGAIN;
    return real(thread, attributes, run, argument);
}

}  // extern "C"

void* operator new(std::size_t size) {
    void* block = fails(kMemory, CALLER) ? nullptr : __libc_malloc(size > 0 ? size : 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new[](std::size_t size) {
    void* block = fails(kMemory, CALLER) ? nullptr : __libc_malloc(size > 0 ? size : 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void operator delete(void* block) noexcept { __libc_free(block); }
void operator delete[](void* block) noexcept { __libc_free(block); }
void operator delete(void* block, std::size_t) noexcept { __libc_free(block); }
void operator delete[](void* block, std::size_t) noexcept { __libc_free(block); }
