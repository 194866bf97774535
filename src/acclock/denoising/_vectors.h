/* Four doubles side by side, in the language of GCC and Clang. */

#if !defined(__GNUC__)
#error "vectors are those of GCC and Clang; without them NumPy does this"
#endif

/* Built twice where the loader can choose: for processors that do four at once, and for all. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };

typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

/* The same, wherever it lies in memory. */
typedef double LooseLanes
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
