/* Plays three notes on an exported instrument into a WAV file of floats: example IMAGE RATE OUT.wav */

#include "jawari.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, SECONDS = 4 };

static void *content(const char *path, int32_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return NULL;
    long size = ftell(file);
    rewind(file);
    void *read = size > 0 && size < INT32_MAX ? malloc((size_t)size) : NULL;
    if (read && fread(read, 1, (size_t)size, file) != (size_t)size) return NULL;
    *bytes = (int32_t)size;
    fclose(file);
    return read;
}

static const char *reason(int32_t size)
{
    switch (size) {
    case JAWARI_OTHER_VERSION: return "was made by another version than this code";
    case JAWARI_OTHER_RATE: return "has no instrument for this sample rate; README.md says for which";
    default: return "is no image, or damaged";
    }
}

static void head(FILE *out, uint32_t rate, uint32_t frames) /* two channels of 32-bit floats */
{
    uint32_t data = frames * 8, words[] = {36 + data, 16, 3 | 2u << 16, rate, rate * 8, 8 | 32u << 16, data};
    fwrite("RIFF", 4, 1, out);
    fwrite(words, 4, 1, out);
    fwrite("WAVEfmt ", 8, 1, out);
    fwrite(words + 1, 4, 5, out);
    fwrite("data", 4, 1, out);
    fwrite(words + 6, 4, 1, out);
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "example IMAGE RATE OUT.wav\n"), 2;
    int32_t bytes = 0;
    double rate = atof(argv[2]);
    void *image = content(argv[1], &bytes), *raw = NULL;
    if (!image) return fprintf(stderr, "%s: cannot be read\n", argv[1]), 1;
    int32_t size = jawari_size(image, bytes, rate);
    if (size < 0) return free(image), fprintf(stderr, "%s: %s\n", argv[1], reason(size)), 1;
    raw = malloc((size_t)size + 63);
    if (!raw) return free(image), fprintf(stderr, "there is no memory for it\n"), 1;
    jawari *instrument = (jawari *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
    if (jawari_open(instrument, image, bytes, rate)) return 1;

    int32_t frames = (int32_t)rate * SECONDS;
    FILE *out = fopen(argv[3], "wb");
    if (!out) return perror(argv[3]), 1;
    head(out, (uint32_t)rate, (uint32_t)frames);
    static const uint8_t keys[] = {50, 57, 62};
    for (int n = 0; n < 3; n++) {
        uint8_t on[] = {0x90, keys[n], 100};
        jawari_send(instrument, n * frames / 8, on, 3);
    }
    for (int32_t at = 0; at < frames; at += BLOCK) {
        float left[BLOCK], right[BLOCK];
        int32_t span = frames - at < BLOCK ? frames - at : BLOCK;
        jawari_run(instrument, span, left, right);
        for (int n = 0; n < span; n++) fwrite(&left[n], 4, 1, out), fwrite(&right[n], 4, 1, out);
    }
    free(raw);
    free(image);
    return fclose(out) != 0;
}
