/* The rules of real time, enforced: LD_PRELOAD this, and a program aborts when the sound card's thread, between entering
   PortAudio's callback and leaving it, asks for memory, takes a lock, or calls the system; its page faults are counted.

   Whoever looks up Pa_OpenStream gets ours, which puts a guard around the callback. System calls are caught by the kernel
   (Linux 5.11 and later, x86-64: Documentation/admin-guide/syscall-user-dispatch.rst); elsewhere only by the list. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#ifdef __x86_64__
#define OLD "GLIBC_2.2.5" /* versions of the C library that still have what is looked up by name */
#define CONDITIONS "GLIBC_2.3.2"
#else
#define OLD "GLIBC_2.17"
#define CONDITIONS OLD
#endif

typedef int Callback(const void *, void *, unsigned long, const void *, unsigned long, void *);
typedef int Open(void *, const void *, const void *, double, unsigned long, unsigned long, Callback *, void *);

long guard_blocks, guard_faults, guard_exact, guard_first; /* faults: after the first block, which has its own count */
static Callback *real_callback;
static Open *real_open;
static __thread volatile char inside __attribute__((tls_model("initial-exec"))); /* 1: no system call on this thread */

static void caught(const char *what, long number)
{
    char text[100];
    inside = 0;
    int size = snprintf(text, sizeof text, "guard: %s %ld in the sound card's thread\n", what, number);
    if (write(2, text, size) == size) {}
    abort();
}

static void on_system_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    inside = 0;
    if (info->si_syscall != SYS_clock_gettime) caught("system call", info->si_syscall);
#ifdef __x86_64__
    /* A machine whose clock the kernel alone can read: it is read, and the rest of this block goes unguarded. */
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    guard_exact = 0;
    registers[REG_RAX] = syscall(SYS_clock_gettime, registers[REG_RDI], registers[REG_RSI]);
#endif
}

static long faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt + used.ru_majflt;
}

static int guarded(const void *in, void *out, unsigned long frames, const void *times, unsigned long flags, void *user)
{
    static __thread int known;
    if (!known) {
        struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigaction(SIGSYS, &action, NULL);
        guard_exact = prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &inside) == 0;
        known = 1;
    }
    long before = faults();
    inside = 1;
    int result = real_callback(in, out, frames, times, flags, user);
    inside = 0;
    *(guard_blocks++ ? &guard_faults : &guard_first) += faults() - before;
    return result;
}

/* The guarded form of a callback, for whoever has no PortAudio. */
Callback *guard_wrap(Callback *callback)
{
    real_callback = callback;
    return guarded;
}

static int open_guarded(void *stream, const void *in, const void *out, double rate, unsigned long frames,
                        unsigned long flags, Callback *callback, void *user)
{
    return real_open(stream, in, out, rate, frames, flags, guard_wrap(callback), user);
}

static void *(*look_up)(void *, const char *);

void *dlsym(void *handle, const char *name)
{
    if (!look_up) look_up = dlvsym(RTLD_NEXT, "dlsym", OLD);
    if (strcmp(name, "Pa_OpenStream")) return look_up(handle, name); /* a jump: RTLD_NEXT asks who called */
    real_open = (Open *)look_up(handle, name);
    return (void *)open_guarded;
}

/* Of the C library's own, which dlsym would ask for memory to find. */
#define MEMORY(result, name, declared, given)           \
    extern result __libc_##name declared;               \
    result name declared                                \
    {                                                   \
        if (inside) caught(#name, 0);                   \
        return __libc_##name given;                     \
    }
MEMORY(void *, malloc, (size_t size), (size))
MEMORY(void *, calloc, (size_t count, size_t size), (count, size))
MEMORY(void *, realloc, (void *old, size_t size), (old, size))
MEMORY(void *, memalign, (size_t align, size_t size), (align, size))
extern void __libc_free(void *);
void free(void *old)
{
    if (inside) caught("free", 0);
    __libc_free(old);
}
int posix_memalign(void **made, size_t align, size_t size)
{
    if (inside) caught("posix_memalign", 0);
    return (*made = __libc_memalign(align, size)) ? 0 : 12;
}
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }

#define REFUSED(name, declared, given, version)                                             \
    int name declared                                                                       \
    {                                                                                       \
        static int (*real) declared;                                                        \
        if (inside) caught(#name, 0);                                                       \
        if (!real) real = (int (*) declared)dlvsym(RTLD_NEXT, #name, version);              \
        return real given;                                                                  \
    }
REFUSED(pthread_mutex_lock, (pthread_mutex_t *it), (it), OLD)
REFUSED(pthread_mutex_trylock, (pthread_mutex_t *it), (it), OLD)
REFUSED(pthread_cond_wait, (pthread_cond_t *it, pthread_mutex_t *lock), (it, lock), CONDITIONS)
REFUSED(pthread_cond_timedwait, (pthread_cond_t *it, pthread_mutex_t *lock, const struct timespec *end), (it, lock, end), CONDITIONS)
REFUSED(pthread_cond_signal, (pthread_cond_t *it), (it), CONDITIONS)
REFUSED(pthread_cond_broadcast, (pthread_cond_t *it), (it), CONDITIONS)
REFUSED(sem_wait, (sem_t *it), (it), OLD)
REFUSED(sem_timedwait, (sem_t *it, const struct timespec *end), (it, end), OLD)
REFUSED(sem_post, (sem_t *it), (it), OLD)
