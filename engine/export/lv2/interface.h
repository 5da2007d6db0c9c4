/* As much of LV2's binary interface as the plugin needs, in words of our own, from the specification at
   https://lv2plug.in; tests/export compares it with the specification's own headers where these are installed. */

#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdint.h>

#define MAP_URI "http://lv2plug.in/ns/ext/urid#map"
#define MIDI_URI "http://lv2plug.in/ns/ext/midi#MidiEvent"
#define SCHEDULE_URI "http://lv2plug.in/ns/ext/worker#schedule"
#define WORKER_URI "http://lv2plug.in/ns/ext/worker#interface"

struct feature { /* what a host offers, at the end of a list of which there is NULL */
    const char *uri;
    void *data;
};

struct map { /* a number for a URI, the same for as long as the host lives */
    void *handle;
    uint32_t (*number)(void *handle, const char *uri);
};

struct schedule { /* to have the plugin's worker called soon, by another thread than the one that plays; 0: it will be */
    void *handle;
    int (*work)(void *handle, uint32_t size, const void *data);
};

struct worker { /* what the plugin has for that */
    int (*work)(void *instance, int (*answer)(void *, uint32_t, const void *), void *handle, uint32_t size, const void *data);
    int (*answered)(void *instance, uint32_t size, const void *data);
    int (*ended)(void *instance);
};

struct event { /* in a sequence, each at the next multiple of 8 bytes; its content follows */
    int64_t frame;
    uint32_t size, type;
};

struct sequence { /* size: bytes after the type; its events follow */
    uint32_t size, type, unit, nothing;
};

struct descriptor {
    const char *uri;
    void *(*instantiate)(const struct descriptor *, double rate, const char *bundle, const struct feature *const *);
    void (*connect)(void *instance, uint32_t port, void *data);
    void (*activate)(void *instance);
    void (*run)(void *instance, uint32_t frames);
    void (*deactivate)(void *instance);
    void (*cleanup)(void *instance);
    const void *(*extension)(const char *uri);
};

#if defined(_WIN32)
#define OUTSIDE __declspec(dllexport)
#else
#define OUTSIDE __attribute__((visibility("default")))
#endif

OUTSIDE const struct descriptor *lv2_descriptor(uint32_t index);

#endif
