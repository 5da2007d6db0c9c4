/* Plays an exported instrument and nothing else: no Python, whatever the processor.

   player IMAGE RATE EVENTS FRAMES LEVEL TIMES THREADS BLOCK... > SOUND: events are rows of (frame, bytes of a message),
   64 bits each; blocks are of the sizes given, in turn. It is played so many times over, by so many threads at once, and
   must be the same each time. With guard.c before it, a block that asks for memory or calls the system is the end. */

#include "jawari.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Callback(const void *, void *, unsigned long, const void *, unsigned long, void *);
extern Callback *guard_wrap(Callback *callback) __attribute__((weak));

static const void *image;
static int64_t *events, *end;
static int32_t bytes, frames, times, *blocks, count;
static double rate;
static Callback *play;

struct player { jawari *instrument; const int64_t *next; int32_t now; float *left, *right; };

static void *content(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(3);
    *size = (size_t)ftell(file);
    rewind(file);
    void *read = aligned_alloc(64, (*size + 63) / 64 * 64);
    if (!read || fread(read, 1, *size, file) != *size) exit(4);
    fclose(file);
    return read;
}

static int block(const void *in, void *out, unsigned long span, const void *clock, unsigned long flags, void *user)
{
    (void)in, (void)out, (void)clock, (void)flags;
    struct player *p = user;
    for (; p->next < end && p->next[0] < p->now + (int32_t)span; p->next += 2) {
        uint8_t data[3] = {(uint8_t)p->next[1], (uint8_t)(p->next[1] >> 8), (uint8_t)(p->next[1] >> 16)};
        int two = (data[0] & 0xe0) == 0xc0;
        if (!jawari_send(p->instrument, (int32_t)(p->next[0] - p->now), data, 3 - two)) exit(5);
    }
    jawari_run(p->instrument, (int32_t)span, p->left + p->now, p->right + p->now);
    p->now += (int32_t)span;
    return 0;
}

static void *perform(void *unused)
{
    (void)unused;
    int32_t size = jawari_size(image, bytes, rate);
    if (size < 0) exit(10 - size);
    struct player p = {aligned_alloc(64, (size_t)size), events, 0, NULL, NULL};
    if (jawari_open(p.instrument, image, bytes, rate)) exit(6);
    float *first = NULL;
    for (int32_t n = 0; n < times; n++) {
        p.left = calloc((size_t)frames, 2 * sizeof(float)), p.right = p.left + frames;
        p.now = 0, p.next = events;
        if (n) jawari_reset(p.instrument);
        for (int32_t turn = 0; p.now < frames; turn = (turn + 1) % count) {
            int32_t span = blocks[turn] < frames - p.now ? blocks[turn] : frames - p.now;
            play(NULL, NULL, (unsigned long)span, NULL, 0, &p);
        }
        if (!first) first = p.left;
        else if (memcmp(first, p.left, (size_t)frames * 8)) exit(7);
        else free(p.left);
    }
    free(p.instrument);
    return first;
}

int main(int argc, char **argv)
{
    size_t size, length;
    if (argc < 9) return 2;
    image = content(argv[1], &size), bytes = (int32_t)size, rate = atof(argv[2]);
    events = content(argv[3], &length), end = events + length / 8;
    frames = atoi(argv[4]), times = atoi(argv[6]);
    fprintf(stderr, "level %d\n", (int)jawari_level(atoi(argv[5])));
    count = argc - 8, blocks = calloc((size_t)count, sizeof *blocks);
    for (int n = 0; n < count; n++) blocks[n] = atoi(argv[8 + n]);
    play = guard_wrap ? guard_wrap(block) : block;
    int threads = atoi(argv[7]);
    pthread_t thread[64];
    float *sound = NULL;
    for (int n = 0; n < threads; n++) if (pthread_create(&thread[n], NULL, perform, NULL)) return 8;
    for (int n = 0; n < threads; n++) {
        void *made;
        pthread_join(thread[n], &made);
        if (n && memcmp(sound, made, (size_t)frames * 8)) return 9;
        if (!n) sound = made;
        else free(made);
    }
    int whole = fwrite(sound, 8, (size_t)frames, stdout) == (size_t)frames;
    free(sound), free(blocks), free(events), free((void *)image);
    return !whole;
}
