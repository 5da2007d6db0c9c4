/* Words: ours are UTF-8, those of VST 3 are UTF-16. */

#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

static void wide(uint16_t *to, int room, const char *from)
{
    const uint8_t *at = (const uint8_t *)from;
    uint16_t *last = to + room - 2; /* room for two, and the end */
    while (*at && to < last) {
        int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
        uint32_t code = more ? *at & (0x3fu >> more) : *at;
        for (at++; more && (*at & 0xc0) == 0x80; more--) code = code << 6 | (*at++ & 0x3f);
        if (code < 0x10000) *to++ = (uint16_t)code;
        else *to++ = (uint16_t)(0xd7c0 + (code >> 10)), *to++ = (uint16_t)(0xdc00 + (code & 0x3ff));
    }
    *to = 0;
}

static void narrow(char *to, int room, const uint16_t *from)
{
    char *last = to + room - 4;
    while (*from && to < last) {
        uint32_t code = *from++;
        if (code >= 0xd800 && code < 0xdc00 && *from) code = 0x10000 + ((code - 0xd800) << 10) + (*from++ & 0x3ff);
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        *to++ = (char)(more ? (0xff00 >> (more + 1) & 0xff) | code >> 6 * more : code);
        while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    }
    *to = 0;
}

#endif
