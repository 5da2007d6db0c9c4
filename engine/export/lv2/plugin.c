/* An exported instrument as an LV2 plugin. Everything is allocated when it is made; run calls nothing but the renderer.

   shape.h, written with it, says its URI, its dials and their scales, and how many parts a program may choose. */

#include "interface.h"
#include "jawari.h"
#include "shape.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS, LEFT, RIGHT, LATENCY, FIRST_DIAL, PROGRAM = FIRST_DIAL + DIALS, PORTS = PROGRAM + (PARTS > 1) };

static const struct { double scale; float first; } dials[DIALS + 1] = SCALES;

struct plugin {
    jawari *instrument;
    void *memory, *image;
    uint32_t midi;
    void *port[PORTS];
    float seen[DIALS + 1]; /* what each dial was last heard to say */
    int32_t program;
};

static void *content(const char *folder, int32_t *bytes)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/jawari.image", folder);
    FILE *file = length > 0 && length < (int)sizeof path ? fopen(path, "rb") : NULL;
    void *read = NULL;
    long size;
    if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0 && size < INT32_MAX) {
        rewind(file);
        read = malloc((size_t)size);
        if (read && fread(read, 1, (size_t)size, file) != (size_t)size) {
            free(read);
            read = NULL;
        }
        *bytes = (int32_t)size;
    }
    if (file) fclose(file);
    return read;
}

static void cleanup(void *instance)
{
    struct plugin *p = instance;
    free(p->memory);
    free(p->image);
    free(p);
}

static void *refused(struct plugin *p, int32_t why, double rate)
{
    if (why == JAWARI_OTHER_RATE) fprintf(stderr, "%s: is not made for %g Hz, but for %s\n", URI, rate, RATES);
    else fprintf(stderr, "%s: cannot be opened (%d); export it again\n", URI, (int)why);
    cleanup(p);
    return NULL;
}

static void *instantiate(const struct descriptor *own, double rate, const char *bundle, const struct feature *const *features)
{
    const struct map *map = NULL;
    (void)own;
    for (; features && *features; features++)
        if (!strcmp((*features)->uri, MAP_URI)) map = (*features)->data;
    struct plugin *p = map ? calloc(1, sizeof *p) : NULL;
    if (!p) return NULL;
    int32_t bytes = 0;
    p->image = content(bundle, &bytes);
    int32_t size = p->image ? jawari_size(p->image, bytes, rate) : JAWARI_DAMAGED;
    if (size < 0) return refused(p, size, rate);
    p->memory = malloc((size_t)size + 63);
    if (!p->memory) return refused(p, 0, rate);
    p->instrument = (jawari *)(((uintptr_t)p->memory + 63) & ~(uintptr_t)63);
    int32_t result = jawari_open(p->instrument, p->image, bytes, rate);
    if (result) return refused(p, result, rate);
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
    jawari_reset(p->instrument);
    for (int n = 0; n < DIALS; n++) p->seen[n] = dials[n].first;
    p->program = FIRST_PROGRAM;
}

static void hear_ports(struct plugin *p) /* a dial that nobody has moved moves nothing */
{
    for (int n = 0; n < DIALS; n++) {
        const float *dial = p->port[FIRST_DIAL + n];
        if (!dial || *dial == p->seen[n] || *dial != *dial) continue;
        p->seen[n] = *dial;
        jawari_turn(p->instrument, n, dials[n].scale * (double)*dial);
    }
#if PARTS > 1
    const float *wanted = p->port[PROGRAM];
    if (!wanted || !(*wanted > -1.5f && *wanted < PARTS - 0.5f)) return;
    int32_t program = (int32_t)(*wanted + (*wanted < 0 ? -0.5f : 0.5f));
    if (program != p->program && program >= 0) jawari_take(p->instrument, program);
    p->program = program;
#endif
}

static void render(struct plugin *p, uint32_t from, uint32_t to)
{
    if (to > from) jawari_run(p->instrument, (int32_t)(to - from), (float *)p->port[LEFT] + from, (float *)p->port[RIGHT] + from);
}

static void run(void *instance, uint32_t frames)
{
    struct plugin *p = instance;
    const struct sequence *told = p->port[EVENTS];
    uint32_t done = 0;
    hear_ports(p);
    if (p->port[LATENCY]) *(float *)p->port[LATENCY] = (float)jawari_latency(p->instrument);
    if (!p->port[LEFT] || !p->port[RIGHT]) return;
    const uint8_t *at = (const uint8_t *)(told + 1), *end = told && told->size >= 8 ? at + told->size - 8 : at;
    while (told && end - at >= (ptrdiff_t)sizeof(struct event)) {
        struct event event;
        memcpy(&event, at, sizeof event);
        const uint8_t *data = at + sizeof event;
        if (event.size > (size_t)(end - data)) break;
        if (event.type == p->midi && event.size <= 3) {
            uint32_t frame = event.frame <= done ? done : event.frame < frames ? (uint32_t)event.frame : frames;
            while (!jawari_send(p->instrument, (int32_t)(frame - done), data, (int32_t)event.size) && done < frames) {
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
