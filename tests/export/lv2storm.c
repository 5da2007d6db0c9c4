/* Many instances of an LV2 plugin on many threads, made at changing rates, activated and deactivated again and again.

   lv2storm BUNDLE PORTS TIMES THREADS SEED RATE...: each thread makes an instance at one of the rates, or at one that the
   plugin must refuse, lets it play random events, ports and blocks of up to 8192 frames, activates it anew every few
   blocks, throws it away and makes the next, until it has activated so many. Whatever was left over from before, a note
   after an activation must be that of the first instance of its rate. The plugin is part of the program. */

#include "interface.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 8192, NOTE = 1500, MOST_PORTS = 64, MOST_RATES = 8, EVENTS = 400 };

static const struct descriptor *plugin;
static const char *bundle;
static uint32_t ports;
static long times;
static int rates;
static double rate[MOST_RATES];
static float *pure[MOST_RATES]; /* what the note is at each rate */
static atomic_long heard;

static uint32_t number(void *handle, const char *uri) { return (void)handle, strcmp(uri, MIDI_URI) ? 2 : 7; }
static struct map map = {NULL, number};
static const struct feature mapping = {MAP_URI, &map};
static const struct feature *const some[] = {&mapping, NULL};

struct player {
    uint64_t chance;
    float values[MOST_PORTS], left[LONGEST], right[LONGEST];
    struct { struct sequence head; uint8_t room[EVENTS * 32]; } told;
    void *instance;
};

static uint32_t chance(struct player *p, uint32_t below) /* xorshift64 */
{
    p->chance ^= p->chance << 13, p->chance ^= p->chance >> 7, p->chance ^= p->chance << 17;
    return (uint32_t)(p->chance >> 32) % below;
}

static void tell(struct player *p, int64_t frame, const uint8_t *data, uint32_t size, uint32_t type)
{
    struct event event = {frame, size, type};
    uint8_t *at = p->told.room + p->told.head.size - 8;
    if (size > 8) exit(20);
    memcpy(at, &event, sizeof event);
    memcpy(at + sizeof event, data, size);
    p->told.head.size += 24;
}

static void play(struct player *p, uint32_t frames)
{
    plugin->run(p->instance, frames);
    for (uint32_t n = 0; n < frames; n++) {
        if (!isfinite(p->left[n]) || !isfinite(p->right[n])) exit(21);
        if (p->left[n] != 0.0f) atomic_fetch_add_explicit(&heard, 1, memory_order_relaxed);
    }
}

static void storm(struct player *p)
{
    uint32_t frames = 1 + (chance(p, LONGEST) >> chance(p, 13));
    p->told.head.size = 8;
    for (uint32_t n = chance(p, 40); n > 0; n--) {
        uint8_t data[8];
        for (int k = 0; k < 8; k++) data[k] = (uint8_t)chance(p, 256);
        uint32_t size = chance(p, 9);
        if (chance(p, 10)) data[0] = (uint8_t)(0x80 | chance(p, 112)), data[1] &= 127, data[2] &= 127, size = 3;
        tell(p, (int64_t)chance(p, frames), data, size, chance(p, 20) ? 7 : 2);
    }
    for (uint32_t n = 4; n < ports; n++) if (!chance(p, 3)) p->values[n] = (float)chance(p, 2000) / 100.0f - 10.0f;
    if (!chance(p, 30)) p->values[4 + chance(p, ports - 4)] = NAN;
    play(p, frames);
}

static void note(struct player *p, int which) /* with all ports at zero, from an activation on */
{
    static const uint8_t on[8] = {0x90, 60, 100};
    memset(p->values, 0, sizeof p->values);
    plugin->activate(p->instance);
    p->told.head.size = 8;
    tell(p, 0, on, 3, 7);
    play(p, NOTE);
    if (!pure[which]) memcpy(pure[which] = malloc(sizeof p->left), p->left, NOTE * sizeof *p->left);
    else if (memcmp(pure[which], p->left, NOTE * sizeof *p->left)) exit(22);
    if (plugin->deactivate) plugin->deactivate(p->instance);
}

static void make(struct player *p, int which)
{
    p->instance = plugin->instantiate(plugin, rate[which], bundle, some);
    if (!p->instance) exit(23);
    for (uint32_t n = 3; n < ports; n++) plugin->connect(p->instance, n, &p->values[n]);
    plugin->connect(p->instance, 0, &p->told);
    plugin->connect(p->instance, 1, p->left), plugin->connect(p->instance, 2, p->right);
    note(p, which);
}

static void *thread(void *given)
{
    struct player *p = given;
    for (long done = 0; done < times;) {
        int which = (int)chance(p, (uint32_t)rates);
        if (plugin->instantiate(plugin, 12345.0, bundle, some)) exit(24);
        make(p, which);
        for (uint32_t turns = 1 + chance(p, 40); turns > 0 && done < times; turns--, done++) {
            plugin->activate(p->instance);
            for (uint32_t n = chance(p, 4); n > 0; n--) storm(p);
            if (plugin->deactivate) plugin->deactivate(p->instance);
        }
        note(p, which);
        plugin->cleanup(p->instance);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc - 6 > MOST_RATES) return 2;
    int threads = atoi(argv[4]);
    pthread_t ids[64];
    plugin = lv2_descriptor(0), bundle = argv[1], ports = (uint32_t)atoi(argv[2]), times = atol(argv[3]);
    if (ports > MOST_PORTS || threads > 64) return 3;
    for (rates = 0; rates < argc - 6; rates++) rate[rates] = atof(argv[6 + rates]);
    struct player *all = calloc((size_t)threads, sizeof *all);
    for (int n = 0; n < threads; n++) all[n].chance = 0x9E3779B97F4A7C15u ^ (uint64_t)(atol(argv[5]) + 977 * n);
    for (int which = 0; which < rates; which++) make(all, which), plugin->cleanup(all->instance);
    for (int n = 0; n < threads; n++) if (pthread_create(&ids[n], NULL, thread, &all[n])) return 4;
    for (int n = 0; n < threads; n++) pthread_join(ids[n], NULL);
    for (int which = 0; which < rates; which++) free(pure[which]);
    free(all);
    return atomic_load(&heard) < 1000; /* a storm that nobody hears proves nothing */
}
