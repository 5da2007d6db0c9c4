/* An instrument that is designed anew while it plays: what is wanted, by whatever thread; a second memory, in which a
   thread designs; and the audio thread, which goes over to it between two blocks, where the strings ring on. Of several
   wishes the newest counts. Needs jawari.h, opening.h, and shape.h, which says of how many parameters there are designs. */

#ifndef WORKBENCH_H
#define WORKBENCH_H

#include "opening.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { VACANT, AT_WORK, MADE, FADING }; /* the second memory: a design is made in it, waits, or fades where it was heard */

struct workbench {
    const struct opened *opened;
    void *memory;
    jawari *spare;
    _Atomic double wanted[DESIGNS + 1]; /* NAN: the preset's own */
    atomic_uint asked, granted; /* wishes */
    atomic_int stage;
    atomic_bool ended, patient; /* who plays waits for designs, as for a bounce, which is the same each time then */
    bool employed;
    void *worker;
};

static void sweep(struct workbench *w) /* nothing is wanted */
{
    for (int n = 0; n < DESIGNS; n++) atomic_store(&w->wanted[n], NAN);
    atomic_fetch_add(&w->asked, 1);
}

static void want(struct workbench *w, int n, double value)
{
    atomic_store(&w->wanted[n], value);
    atomic_fetch_add(&w->asked, 1);
}

static bool pending(const struct workbench *w) { return atomic_load(&w->asked) != atomic_load(&w->granted); }

static void design(struct workbench *w, jawari *into)
{
    double values[DESIGNS + 1];
    unsigned asked = atomic_load(&w->asked);
    for (int n = 0; n < DESIGNS; n++) values[n] = atomic_load(&w->wanted[n]);
    jawari_redesign(into, w->opened->image, w->opened->bytes, w->opened->rate, values);
    atomic_store(&w->granted, asked);
}

/* Whoever has time: design, unless what was heard before still fades there. What nobody has gone over to is made anew. */
static void serve(struct workbench *w)
{
    int stage = atomic_load(&w->stage);
    if (!w->memory || !pending(w) || (stage != VACANT && stage != MADE)) return;
    if (!atomic_compare_exchange_strong(&w->stage, &stage, AT_WORK)) return;
    design(w, w->spare);
    atomic_store(&w->stage, MADE);
}

static inline bool awaits(const struct workbench *w) /* whether that would do anything */
{
    int stage = atomic_load(&w->stage);
    return pending(w) && (stage == VACANT || stage == MADE);
}

/* While nobody plays: have the instrument as it is wanted, at once; a design that waits is forgotten. */
static inline void settle(struct workbench *w, jawari *playing)
{
    int stage = MADE;
    atomic_compare_exchange_strong(&w->stage, &stage, VACANT);
    if (pending(w)) design(w, playing);
}

static void nap(void);

static void wait_for(struct workbench *w)
{
    for (serve(w); pending(w) && atomic_load(&w->stage) == AT_WORK; serve(w)) nap();
}

/* The audio thread. */
static void go_over(struct workbench *w, jawari **playing)
{
    int stage = atomic_load(&w->stage);
    if (stage == FADING && jawari_alone(*playing)) atomic_store(&w->stage, VACANT);
    if (atomic_load(&w->patient)) wait_for(w);
    stage = atomic_load(&w->stage);
    if (stage != MADE || !atomic_compare_exchange_strong(&w->stage, &stage, AT_WORK)) return;
    if (!jawari_follow(w->spare, *playing)) {
        atomic_store(&w->stage, MADE);
        return;
    }
    jawari *before = *playing;
    *playing = w->spare, w->spare = before;
    atomic_store(&w->stage, FADING);
}

/* --- a thread of its own, for whom hosts have none; it looks every few milliseconds, since who plays may wake nobody --- */

#if defined(_WIN32)
__declspec(dllimport) void *CreateThread(void *, size_t, unsigned long (*)(void *), void *, unsigned long, unsigned long *);
__declspec(dllimport) unsigned long WaitForSingleObject(void *, unsigned long);
__declspec(dllimport) int CloseHandle(void *);
__declspec(dllimport) void Sleep(unsigned long); /* its own header has words that are in the way */

static void nap(void) { Sleep(3); }

static unsigned long labour(void *bench)
{
    struct workbench *w = bench;
    for (; !atomic_load(&w->ended); nap()) serve(w);
    return 0;
}

static bool hire(struct workbench *w) { return (w->worker = CreateThread(NULL, 0, labour, w, 0, NULL)) != NULL; }

static void dismiss(struct workbench *w) { WaitForSingleObject(w->worker, ~0ul), CloseHandle(w->worker); }
#else
#include <pthread.h>
#include <time.h>

static void nap(void) { nanosleep(&(struct timespec){0, 3000000}, NULL); }

static void *labour(void *bench)
{
    struct workbench *w = bench;
    for (; !atomic_load(&w->ended); nap()) serve(w);
    return NULL;
}

static bool hire(struct workbench *w)
{
    pthread_t *thread = w->worker = malloc(sizeof *thread);
    if (thread && !pthread_create(thread, NULL, labour, w)) return true;
    return free(thread), false;
}

static void dismiss(struct workbench *w) { pthread_join(*(pthread_t *)w->worker, NULL), free(w->worker); }
#endif

/* Behind open_beside: with what is wanted already, a second memory and, if so told, a thread. Without them, no more. */
static void furnish(struct workbench *w, struct opened *opened, bool alone)
{
    w->opened = opened;
    if (!DESIGNS) return;
    bool any = false;
    for (int n = 0; n < DESIGNS; n++) any |= !isnan(atomic_load(&w->wanted[n]));
    if (any) design(w, opened->instrument);
    else atomic_store(&w->granted, atomic_load(&w->asked));
    atomic_store(&w->stage, VACANT), atomic_store(&w->ended, false);
    w->memory = malloc((size_t)opened->size + 63);
    w->spare = w->memory ? (jawari *)(((uintptr_t)w->memory + 63) & ~(uintptr_t)63) : NULL;
    w->employed = alone && w->spare && hire(w);
}

static void clear_away(struct workbench *w) /* before shut */
{
    atomic_store(&w->ended, true);
    if (w->employed) dismiss(w);
    free(w->memory);
    w->memory = w->spare = NULL, w->employed = false;
}

#endif
