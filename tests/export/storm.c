/* Sends an exported instrument whatever comes, and looks whether it minds.

   storm IMAGE RATE MESSAGES OPENINGS SEED: so many random messages, most of them MIDI's, some none, parameters and parts
   of any number and value, between blocks of 1 to 8192 frames; then it is opened or reset so many times. All memory
   that the renderer is given ends where memory ends, so that one byte beyond is a crash, and the image cannot be written.
   Sound must be finite always; after the storm, and a reset, a note must be that of an instrument just opened. */

#include "jawari.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 8192, NOTE = 3000 };

static uint64_t state;

static uint32_t chance(uint32_t below) /* xorshift64 */
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

static char *ending_at_the_border(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *whole = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED || mprotect(whole + room, page, PROT_NONE)) exit(3);
    return whole + room - size;
}

static char *content(const char *path, int32_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(4);
    long size = ftell(file);
    rewind(file);
    char *read = ending_at_the_border((size_t)size);
    if (fread(read, 1, (size_t)size, file) != (size_t)size) exit(5);
    fclose(file);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)read / page * page;
    if (mprotect((void *)from, (size_t)((uintptr_t)read + (size_t)size - from), PROT_READ)) exit(6);
    *bytes = (int32_t)size;
    return read;
}

static double number(void) /* mostly what a parameter might be, now and then anything */
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 5e-324, -0.0};
    if (chance(4) == 0) return odd[chance(7)];
    return ((double)chance(2000001) - 1e6) * pow(10.0, (double)chance(12) - 12.0);
}

static void message(jawari *instrument, int32_t frames)
{
    uint8_t data[8];
    int32_t at = (int32_t)chance((uint32_t)frames); /* one that is far off has all that come later wait for it */
    if (chance(50) == 0) at = (int32_t)chance(1u << chance(16));
    if (chance(20000) == 0) at = (int32_t)(chance(UINT32_MAX) >> chance(32));
    for (int n = 0; n < 8; n++) data[n] = (uint8_t)chance(256);
    int32_t count = (int32_t)chance(8);
    if (chance(20)) { /* one of MIDI's own, half of them on the keys that sound */
        data[0] = (uint8_t)(0x80 | chance(112));
        if (chance(2)) data[0] = (uint8_t)(0x80 | chance(2) << 4 | chance(16)), data[1] = (uint8_t)(30 + chance(60));
        data[1] &= 127, data[2] &= 127;
        count = (data[0] & 0xe0) == 0xc0 ? 2 : 3;
    }
    jawari_send(instrument, at, data, count);
}

static float *left, *right;
static long loud, blocks; /* of which some sample is not silent */

static void run(jawari *instrument, int32_t frames) /* into memory that ends behind the last frame */
{
    jawari_run(instrument, frames, left + LONGEST - frames, right + LONGEST - frames);
    bool sounds = false;
    for (int32_t n = LONGEST - frames; n < LONGEST; n++) {
        if (!isfinite(left[n]) || !isfinite(right[n])) exit(7);
        sounds |= left[n] != 0.0f;
    }
    loud += sounds, blocks++;
}

static void note(jawari *instrument, float *sound)
{
    static const uint8_t on[] = {0x90, 55, 100};
    jawari_send(instrument, 0, on, 3);
    run(instrument, NOTE);
    memcpy(sound, left + LONGEST - NOTE, NOTE * sizeof *sound);
    memcpy(sound + NOTE, right + LONGEST - NOTE, NOTE * sizeof *sound);
}

int main(int argc, char **argv)
{
    static float fresh[2 * NOTE], after[2 * NOTE];
    if (argc != 6) return 2;
    int32_t bytes = 0;
    const char *image = content(argv[1], &bytes);
    double rate = atof(argv[2]);
    long messages = atol(argv[3]), openings = atol(argv[4]);
    state = 0x9E3779B97F4A7C15u ^ (uint64_t)atol(argv[5]);
    int32_t size = jawari_size(image, bytes, rate);
    if (size < 0) return 8;
    jawari *instrument = (jawari *)ending_at_the_border((size_t)size);
    left = (float *)ending_at_the_border(LONGEST * sizeof *left);
    right = (float *)ending_at_the_border(LONGEST * sizeof *right);
    if (jawari_open(instrument, image, bytes, rate)) return 9;
    note(instrument, fresh);
    for (long sent = 0; sent < messages;) {
        int32_t frames = 1 + (int32_t)(chance(LONGEST) >> chance(13));
        for (uint32_t n = chance(100); n > 0; n--, sent++) message(instrument, frames);
        if (chance(3) == 0) jawari_turn(instrument, (int32_t)chance(8) - 2, number());
        if (chance(9) == 0) jawari_take(instrument, (int32_t)chance(6) - 2);
        if (chance(400) == 0) jawari_reset(instrument);
        run(instrument, frames);
    }
    if (messages && 3 * loud < blocks) return 12; /* a storm that nobody hears proves nothing */
    for (long n = 0; n < openings; n++) {
        if (chance(2)) jawari_reset(instrument);
        else if (jawari_open(instrument, image, bytes, rate)) return 10;
        message(instrument, 64);
        run(instrument, 1 + (int32_t)chance(64));
    }
    jawari_reset(instrument);
    note(instrument, after);
    return memcmp(fresh, after, sizeof fresh) ? 11 : 0;
}
