/* An exported instrument as an LV2 plugin. Everything is allocated when it is made; run calls nothing but the renderer.

   shape.h, written with it, says its URI, its dials and their scales, and how many parts a program may choose. */

#include "interface.h"
#include "jawari.h"
#include "opening.h"
#include "shape.h"

#include <stddef.h>
#include <string.h>

enum { EVENTS, LEFT, RIGHT, LATENCY, FIRST_DIAL, PROGRAM = FIRST_DIAL + DIALS, PORTS = PROGRAM + (PARTS > 1) };

static const struct { double scale; float first; } dials[DIALS + 1] = SCALES;

enum { LONGEST = 1024 }; /* bytes of a message: what tunes all keys has about half as many */

struct plugin {
    struct opened opened;
    uint32_t midi;
    void *port[PORTS];
    float seen[DIALS + 1]; /* what each dial was last heard to say */
    int32_t program;
};

static void cleanup(void *instance)
{
    struct plugin *p = instance;
    shut(&p->opened);
    free(p);
}

static void *instantiate(const struct descriptor *own, double rate, const char *bundle, const struct feature *const *features)
{
    const struct map *map = NULL;
    (void)own;
    for (; features && *features; features++)
        if (!strcmp((*features)->uri, MAP_URI)) map = (*features)->data;
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
    for (int n = 0; n < DIALS; n++) p->seen[n] = dials[n].first;
    p->program = FIRST_PROGRAM;
    return p;
}

static void connect(void *instance, uint32_t port, void *data)
{
    if (port < PORTS) ((struct plugin *)instance)->port[port] = data;
}

static void activate(void *instance)
{
    struct plugin *p = instance;
    jawari_reset(p->opened.instrument);
    for (int n = 0; n < DIALS; n++) p->seen[n] = dials[n].first;
    p->program = FIRST_PROGRAM;
}

static void hear_ports(struct plugin *p) /* a dial that nobody has moved moves nothing */
{
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

static const struct descriptor plugin = {URI, instantiate, connect, activate, run, NULL, cleanup, NULL};

OUTSIDE const struct descriptor *lv2_descriptor(uint32_t index) { return index ? NULL : &plugin; }
