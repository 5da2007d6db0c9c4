/* Plays a machine's memory with the engine's module and nothing else: no Python, whatever the processor.

   player MEMORY EVENTS FRAMES OUTPUTS > SOUND: events are pairs of (sample, message), 64 bits each. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void play(int64_t machine, int64_t frames, int64_t out) __asm__("engine.synth.renderer.play");
extern int64_t push(int64_t machine, int64_t sample, int64_t message) __asm__("engine.synth.ring.push");

static void *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(3);
    *size = (size_t)ftell(file);
    rewind(file);
    void *read = aligned_alloc(64, (*size + 63) / 64 * 64);
    if (!read || fread(read, 1, *size, file) != *size) exit(4);
    fclose(file);
    return read;
}

static uint64_t control_word(void) {
#if defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
#else
    return __builtin_ia32_stmxcsr() & ~0x3fu; /* without what has happened so far */
#endif
}

int main(int argc, char **argv) {
    size_t size, count;
    if (argc != 5) return 2;
    int64_t machine = (int64_t)content(argv[1], &size);
    int64_t *event = content(argv[2], &count);
    int64_t frames = atoll(argv[3]), outputs = atoll(argv[4]);
    for (; count; count -= 16, event += 2)
        if (!push(machine, event[0], event[1])) return 5;
    float *out = calloc((size_t)(frames * outputs), sizeof(float));
    uint64_t before = control_word();
    for (int64_t at = 0; at < frames; at += 128)
        play(machine, frames - at < 128 ? frames - at : 128, (int64_t)(out + at * outputs));
    if (control_word() != before) return 6; /* the thread was borrowed */
    return fwrite(out, sizeof(float), (size_t)(frames * outputs), stdout) != (size_t)(frames * outputs);
}
