/* An exported instrument as an LV2 plugin. Everything is allocated when it is made; run calls nothing but the renderer,
   and has designs made by the host's worker, or a thread of its own.

   shape.h, written with it, says its URI, its dials and their scales, how many of them designs are made for, and how many
   parts a program may choose. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for a nap */
#endif

#include "interface.h"
#include "jawari.h"
#include "shape.h"
#include "workbench.h"

#include <stddef.h>
#include <string.h>

enum { EVENTS, LEFT, RIGHT, LATENCY, FIRST_DIAL, PROGRAM = FIRST_DIAL + DIALS + DESIGNS, PORTS = PROGRAM + (PARTS > 1) };

static const struct { double scale; float first; } dials[DIALS + DESIGNS + 1] = SCALES;

enum { LONGEST = 1024 }; /* bytes of a message: what tunes all keys has about half as many */

struct plugin {
    struct opened opened;
    struct workbench bench;
    const struct schedule *schedule; /* NULL: the host has no worker */
    atomic_bool called; /* it has not come yet */
    uint32_t midi;
    void *port[PORTS];
    float seen[DIALS + DESIGNS + 1]; /* what each dial was last heard to say */
    int32_t program;
};

static void cleanup(void *instance)
{
    struct plugin *p = instance;
    clear_away(&p->bench);
    shut(&p->opened);
    free(p);
}

static void forget(struct plugin *p) /* what moves is where it was at first */
{
    for (int n = 0; n < DIALS; n++) p->seen[n] = dials[n].first;
    p->program = FIRST_PROGRAM;
}

static void *instantiate(const struct descriptor *own, double rate, const char *bundle, const struct feature *const *features)
{
    const struct map *map = NULL;
    const struct schedule *schedule = NULL;
    (void)own;
    for (; features && *features; features++) {
        if (!strcmp((*features)->uri, MAP_URI)) map = (*features)->data;
        if (!strcmp((*features)->uri, SCHEDULE_URI)) schedule = (*features)->data;
    }
    struct plugin *p = map ? calloc(1, sizeof *p) : NULL;
    if (!p) return NULL;
    char folder[4096];
    size_t length = strlen(bundle); /* hosts end it with a slash, or not */
    int size = snprintf(folder, sizeof folder, "%s%s", bundle, length && bundle[length - 1] == '/' ? "" : "/");
    if (size < 0 || size >= (int)sizeof folder || !open_beside(&p->opened, folder, rate, URI, RATES)) {
        cleanup(p);
        return NULL;
    }
    p->midi = map->number(map->handle, MIDI_URI);
    p->schedule = schedule;
    for (int n = 0; n < DIALS + DESIGNS; n++) p->seen[n] = dials[n].first;
    forget(p);
    sweep(&p->bench);
    furnish(&p->bench, &p->opened, !schedule);
    return p;
}

static void connect(void *instance, uint32_t port, void *data)
{
    if (port < PORTS) ((struct plugin *)instance)->port[port] = data;
}

static void hear_designs(struct plugin *p) /* one at its first place is the preset's own, to the last bit */
{
    for (int n = DIALS; n < DIALS + DESIGNS; n++) {
        const float *dial = p->port[FIRST_DIAL + n];
        if (!dial || *dial == p->seen[n] || *dial != *dial) continue;
        p->seen[n] = *dial;
        want(&p->bench, n - DIALS, *dial == dials[n].first ? NAN : dials[n].scale * (double)*dial);
    }
}

static void activate(void *instance) /* with the design that its ports ask for already */
{
    struct plugin *p = instance;
    jawari_reset(p->opened.instrument);
    forget(p);
    hear_designs(p);
    if (DESIGNS) settle(&p->bench, p->opened.instrument);
}

static int work(void *instance, int (*answer)(void *, uint32_t, const void *), void *handle, uint32_t size, const void *data)
{
    struct plugin *p = instance;
    (void)answer, (void)handle, (void)size, (void)data;
    atomic_store(&p->called, false);
    serve(&p->bench);
    return 0;
}

static int answered(void *instance, uint32_t size, const void *data) { return (void)instance, (void)size, (void)data, 0; }

static void have_designed(struct plugin *p)
{
    hear_designs(p);
    go_over(&p->bench, &p->opened.instrument);
    if (!p->schedule || !awaits(&p->bench) || atomic_exchange(&p->called, true)) return;
    if (p->schedule->work(p->schedule->handle, 0, NULL)) atomic_store(&p->called, false); /* the next block asks again */
}

static void hear_ports(struct plugin *p) /* a dial that nobody has moved moves nothing */
{
    if (DESIGNS) have_designed(p);
    for (int n = 0; n < DIALS; n++) {
        const float *dial = p->port[FIRST_DIAL + n];
        if (!dial || *dial == p->seen[n] || *dial != *dial) continue;
        p->seen[n] = *dial;
        jawari_turn(p->opened.instrument, n, dials[n].scale * (double)*dial);
    }
#if PARTS > 1
    const float *wanted = p->port[PROGRAM];
    if (!wanted || !(*wanted > -1.5f && *wanted < PARTS - 0.5f)) return;
    int32_t program = (int32_t)(*wanted + (*wanted < 0 ? -0.5f : 0.5f));
    if (program != p->program && program >= 0) jawari_take(p->opened.instrument, program);
    p->program = program;
#endif
}

static void render(struct plugin *p, uint32_t from, uint32_t to)
{
    if (to > from) jawari_run(p->opened.instrument, (int32_t)(to - from), (float *)p->port[LEFT] + from, (float *)p->port[RIGHT] + from);
}

static void run(void *instance, uint32_t frames)
{
    struct plugin *p = instance;
    const struct sequence *told = p->port[EVENTS];
    uint32_t done = 0;
    hear_ports(p);
    if (p->port[LATENCY]) *(float *)p->port[LATENCY] = (float)jawari_latency(p->opened.instrument);
    if (!p->port[LEFT] || !p->port[RIGHT]) return;
    const uint8_t *at = (const uint8_t *)(told + 1), *end = told && told->size >= 8 ? at + told->size - 8 : at;
    while (told && end - at >= (ptrdiff_t)sizeof(struct event)) {
        struct event event;
        memcpy(&event, at, sizeof event);
        const uint8_t *data = at + sizeof event;
        if (event.size > (size_t)(end - data)) break;
        if (event.type == p->midi && event.size <= LONGEST) {
            uint32_t frame = event.frame <= done ? done : event.frame < frames ? (uint32_t)event.frame : frames;
            while (!jawari_send(p->opened.instrument, (int32_t)(frame - done), data, (int32_t)event.size) && done < frames) {
                uint32_t to = frame > done ? frame : done + 1; /* more messages than can wait: play what is before them */
                render(p, done, to);
                done = to;
                frame = frame > done ? frame : done;
            }
        }
        size_t step = sizeof event + (((size_t)event.size + 7) & ~(size_t)7);
        if (step > (size_t)(end - at)) break;
        at += step;
    }
    render(p, done, frames);
}

static const void *extension(const char *uri)
{
    static const struct worker worker = {work, answered, NULL};
    return DESIGNS && !strcmp(uri, WORKER_URI) ? &worker : NULL;
}

static const struct descriptor plugin = {URI, instantiate, connect, activate, run, NULL, cleanup, extension};

OUTSIDE const struct descriptor *lv2_descriptor(uint32_t index) { return index ? NULL : &plugin; }
