/* A host of LV2 that has nothing but the interface's own declarations: no library, no card, blocks as ragged as wanted.

   lv2host LIBRARY BUNDLE RATE EVENTS FRAMES TIMES PORTS PORT=VALUE[@FRAME]... > SOUND: events are rows of (frame, bytes);
   ports are set before the first activation, or the first block at that frame or after. What the plugin wants to be worked
   is worked after the block. The
   plugin is activated so many times, each time from the start, and must sound the same. Built with -DINSIDE the plugin is
   part of the program, and LIBRARY is ignored: so the sanitizers see all of it. */

#include "interface.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Callback(const void *, void *, unsigned long, const void *, unsigned long, void *);
extern Callback *guard_wrap(Callback *callback) __attribute__((weak));

static const struct descriptor *plugin;
static void *instance;

static uint32_t number(void *handle, const char *uri)
{
    (void)handle;
    return strcmp(uri, MIDI_URI) ? 2 : 7;
}

static void *content(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(3);
    *size = (size_t)ftell(file);
    rewind(file);
    void *read = malloc(*size + 1);
    if (!read || fread(read, 1, *size, file) != *size) exit(4);
    fclose(file);
    return read;
}

/* A message of a row; one that tunes a key is a SysEx of MIDI's tuning standard. */
static uint32_t spelled(int64_t word, uint8_t *data)
{
    uint8_t first = (uint8_t)word, second = (uint8_t)(word >> 8), third = (uint8_t)(word >> 16);
    int code = (int)(word >> 16 & 0x1fffff);
    uint8_t tuning[] = {0xf0, 0x7f, 0x7f, 8, 2, 0, 1, second, (uint8_t)(code >> 14), code >> 7 & 127, code & 127, 0xf7};
    if (first == 0xf0) return memcpy(data, tuning, sizeof tuning), (uint32_t)sizeof tuning;
    data[0] = first, data[1] = second, data[2] = third;
    return 3 - ((first & 0xe0) == 0xc0);
}

static int wanted;

static int schedule(void *handle, uint32_t size, const void *data) { return (void)handle, (void)size, (void)data, wanted++, 0; }

static void serve(void)
{
    const struct worker *worker = plugin->extension ? plugin->extension(WORKER_URI) : NULL;
    if (wanted && !worker) exit(9);
    for (; wanted; wanted--) worker->work(instance, NULL, NULL, 0, NULL);
}

static int block(const void *in, void *out, unsigned long span, const void *clock, unsigned long flags, void *user)
{
    (void)in, (void)out, (void)clock, (void)flags, (void)user;
    plugin->run(instance, (uint32_t)span);
    return 0;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1, 64, 333, 0, 128, 1024, 5, 8192};
    if (argc < 8) return 2;
#ifdef INSIDE
    plugin = lv2_descriptor(0);
#else
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    const struct descriptor *(*find)(uint32_t) = (const struct descriptor *(*)(uint32_t))dlsym(library, "lv2_descriptor");
    if (!find || find(1) || dlsym(library, "jawari_run")) return 5;
    plugin = find(0);
#endif
    struct map map = {NULL, number};
    struct feature mapping = {MAP_URI, &map}, other = {"urn:of-no-use", NULL};
    struct schedule scheduling = {NULL, schedule};
    struct feature working = {SCHEDULE_URI, &scheduling};
    const struct feature *some[] = {&other, &mapping, &working, NULL}, *none[] = {&other, NULL};
    if (plugin->instantiate(plugin, atof(argv[3]), argv[2], none)) return 6;
    instance = plugin->instantiate(plugin, atof(argv[3]), argv[2], some);
    if (!instance) return 7;
    size_t length;
    int64_t *events = content(argv[4], &length), *end = events + length / 8;
    uint32_t frames = (uint32_t)atoi(argv[5]), ports = (uint32_t)atoi(argv[7]);
    float *values = calloc(ports, sizeof *values), *left = calloc(frames, 8), *right = left + frames, *first = NULL;
    struct sequence *told = malloc(1 << 20);
    for (uint32_t n = 3; n < ports; n++) plugin->connect(instance, n, &values[n]);
    for (int n = 8; n < argc; n++)
        if (!strchr(argv[n], '@')) values[atoi(argv[n])] = (float)atof(strchr(argv[n], '=') + 1);
    plugin->connect(instance, ports + 1000, values);
    plugin->connect(instance, 0, told);
    for (int n = 0; n < atoi(argv[6]); n++) {
        const int64_t *next = events;
        uint32_t now = 0;
        memset(left, 0, (size_t)frames * 8);
        plugin->activate(instance);
        for (int turn = 0; now < frames; turn = (turn + 1) % 8) {
            uint32_t span = sizes[turn] < frames - now ? sizes[turn] : frames - now;
            uint8_t *at = (uint8_t *)(told + 1);
            for (int k = 8; k < argc; k++)
                if (strchr(argv[k], '@') && (uint32_t)atoi(strchr(argv[k], '@') + 1) <= now)
                    values[atoi(argv[k])] = (float)atof(strchr(argv[k], '=') + 1);
            for (; next < end && next[0] < now + span; next += 2) {
                uint8_t data[16] = {0};
                struct event event = {next[0] - now, spelled(next[1], data), 7};
                uint32_t room = (event.size + 7) / 8 * 8;
                struct event unknown = {event.frame, 5, 2}; /* something else among them */
                memcpy(at, &unknown, 16), memset(at + 16, 0x90, 8), at += 24;
                memcpy(at, &event, 16), memcpy(at + 16, data, room), at += 16 + room;
            }
            told->type = 2, told->unit = told->nothing = 0, told->size = 8 + (uint32_t)(at - (uint8_t *)(told + 1));
            plugin->connect(instance, 1, left + now), plugin->connect(instance, 2, right + now);
            (guard_wrap ? guard_wrap(block) : block)(NULL, NULL, span, NULL, 0, NULL);
            now += span;
            serve();
        }
        if (plugin->deactivate) plugin->deactivate(instance);
        if (!first) memcpy(first = malloc((size_t)frames * 8), left, (size_t)frames * 8);
        else if (memcmp(first, left, (size_t)frames * 8)) return 8;
    }
    fprintf(stderr, "latency %g\n", (double)values[3]);
    plugin->cleanup(instance);
    int whole = fwrite(left, 8, frames, stdout) == frames;
    free(first), free(left), free(values), free(told), free(events);
    return !whole;
}
