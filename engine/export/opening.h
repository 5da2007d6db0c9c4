/* An instrument out of the file beside a plugin: what all plugins do before they play. Needs jawari.h. */

#ifndef OPENING_H
#define OPENING_H

#include <stdio.h>
#include <stdlib.h>

struct opened {
    jawari *instrument; /* NULL: there is none */
    void *memory, *image;
    int32_t bytes, size; /* of the image, of the memory */
    double rate;
};

static void *content(const char *path, int32_t *bytes)
{
    FILE *file = fopen(path, "rb");
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

static void shut(struct opened *o)
{
    free(o->memory);
    free(o->image);
    *o = (struct opened){NULL, NULL, NULL, 0, 0, 0.0};
}

/* Whether an instrument for this rate was opened; if not, `name` says why, on the error output. */
static int open_beside(struct opened *o, const char *folder, double rate, const char *name, const char *rates)
{
    char path[4096];
    int32_t bytes = 0;
    int length = snprintf(path, sizeof path, "%sjawari.image", folder);
    o->image = length > 0 && length < (int)sizeof path ? content(path, &bytes) : NULL;
    int32_t size = o->image ? jawari_size(o->image, bytes, rate) : JAWARI_DAMAGED;
    if (size > 0 && (o->memory = malloc((size_t)size + 63))) {
        o->instrument = (jawari *)(((uintptr_t)o->memory + 63) & ~(uintptr_t)63);
        o->bytes = bytes, o->size = size, o->rate = rate;
        size = jawari_open(o->instrument, o->image, bytes, rate);
        if (!size) return 1;
    }
    if (size == JAWARI_OTHER_RATE) fprintf(stderr, "%s: is not made for %g Hz, but for %s\n", name, rate, rates);
    else if (size > 0) fprintf(stderr, "%s: there is no memory left for it\n", name);
    else fprintf(stderr, "%s: cannot be opened (%d); export it again\n", name, (int)size);
    shut(o);
    return 0;
}

#endif
