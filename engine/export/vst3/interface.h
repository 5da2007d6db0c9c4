/* As much of VST 3's binary interface as the plugin needs, in words of our own, from its documented layout
   (https://steinbergmedia.github.io/vst3_dev_portal); tests/export compares it with another declaration of it in C where
   that is installed.

   An object is a place that begins with the address of a table of functions, each of which is given that place. All
   tables begin with the same three: ask for another table by its id, count one user more, count one less. */

#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdint.h>

typedef int32_t result;
typedef uint16_t words[128]; /* UTF-16, ended by 0 */

#define OCTET(word, place) ((uint8_t)((word) >> (place)))
#define OCTETS(w) OCTET(w, 24), OCTET(w, 16), OCTET(w, 8), OCTET(w, 0)
#if defined(_WIN32) /* as Windows has its own ids and results */
#define ID_OF(a, b, c, d) {OCTET(a, 0), OCTET(a, 8), OCTET(a, 16), OCTET(a, 24), \
    OCTET(b, 16), OCTET(b, 24), OCTET(b, 0), OCTET(b, 8), OCTETS(c), OCTETS(d)}
enum { DONE = 0, REFUSED = 1 };
#define NO_INTERFACE ((result)0x80004002)
#define BAD_ARGUMENT ((result)0x80070057)
#define NOT_OFFERED ((result)0x80004001)
#else
#define ID_OF(a, b, c, d) {OCTETS(a), OCTETS(b), OCTETS(c), OCTETS(d)}
enum { NO_INTERFACE = -1, DONE = 0, REFUSED = 1, BAD_ARGUMENT = 2, NOT_OFFERED = 3 };
#endif

struct unknown {
    result (*query)(void *, const uint8_t *id, void **found);
    uint32_t (*ref)(void *), (*unref)(void *);
};
#define UNKNOWN ID_OF(0x00000000u, 0x00000000u, 0xc0000000u, 0x00000046u)
struct base {
    struct unknown unknown;
    result (*initialise)(void *, void *context), (*terminate)(void *);
};
#define BASE ID_OF(0x22888ddbu, 0x156e45aeu, 0x8358b348u, 0x08190625u)

/* --- what a library has ------------------------------------------------------------------------------------------------ */

enum { UNICODE = 16, MANY = 0x7fffffff };

struct maker { char vendor[64], url[256], email[128]; int32_t flags; };
struct class { uint8_t id[16]; int32_t many; char category[32], name[64]; };
struct class2 {
    uint8_t id[16];
    int32_t many;
    char category[32], name[64];
    uint32_t flags;
    char kinds[128], vendor[64], version[64], sdk[64];
};
struct class3 {
    uint8_t id[16];
    int32_t many;
    char category[32];
    uint16_t name[64];
    uint32_t flags;
    char kinds[128];
    uint16_t vendor[64], version[64], sdk[64];
};
struct factory {
    struct unknown unknown;
    result (*maker)(void *, struct maker *);
    int32_t (*count)(void *);
    result (*class)(void *, int32_t, struct class *);
    result (*create)(void *, const uint8_t *class, const uint8_t *id, void **made);
    result (*class2)(void *, int32_t, struct class2 *);
    result (*class3)(void *, int32_t, struct class3 *);
    result (*host)(void *, void *context);
};
#define FACTORY ID_OF(0x7a4d811cu, 0x52114a1fu, 0xaed9d2eeu, 0x0b43bf9fu)
#define FACTORY2 ID_OF(0x0007b650u, 0xf24b4c0bu, 0xa464edb9u, 0xf00b2abbu)
#define FACTORY3 ID_OF(0x4555a2abu, 0xc1234e57u, 0x9b122910u, 0x36878931u)

/* --- what hosts hand in -------------------------------------------------------------------------------------------------- */

struct stream {
    struct unknown unknown;
    result (*read)(void *, void *, int32_t bytes, int32_t *took);
    result (*write)(void *, void *, int32_t bytes, int32_t *took);
    result (*seek)(void *, int64_t, int32_t from, int64_t *now);
    result (*tell)(void *, int64_t *);
};

struct points { /* of one parameter, in order */
    struct unknown unknown;
    uint32_t (*id)(void *);
    int32_t (*count)(void *);
    result (*get)(void *, int32_t, int32_t *frame, double *value);
    result (*add)(void *, int32_t frame, double, int32_t *n);
};
struct changes {
    struct unknown unknown;
    int32_t (*count)(void *);
    const struct points **(*get)(void *, int32_t);
    const struct points **(*add)(void *, const uint32_t *id, int32_t *n);
};

enum { NOTE_ON = 0, NOTE_OFF = 1, DATA = 2, KEY_PRESSURE = 3, EXPRESSION = 4 };
enum { TO_VOLUME = 0, TO_PAN = 1, TO_TUNING = 2, TO_EXPRESSION = 4, TO_BRIGHTNESS = 5 };

struct event {
    int32_t bus, frame;
    double beat;
    uint16_t flags, type;
    union {
        struct { int16_t channel, key; float cents, velocity; int32_t length, id; } on;
        struct { int16_t channel, key; float velocity; int32_t id; float cents; } off;
        struct { uint32_t size, type; const uint8_t *bytes; } data; /* of type 0: SysEx */
        struct { int16_t channel, key; float pressure; int32_t id; } pressure;
        struct { uint32_t kind; int32_t id; double value; } expression;
    };
};
struct events {
    struct unknown unknown;
    int32_t (*count)(void *);
    result (*get)(void *, int32_t, struct event *);
    result (*add)(void *, struct event *);
};

struct sound {
    int32_t channels;
    uint64_t silent;
    union { float **singles; double **doubles; };
};
struct block {
    int32_t mode, doubles, frames, ins, outs;
    struct sound *in, *out;
    const struct changes **told, **answered;
    const struct events **events, **said;
    void *context;
};

/* --- a plugin: component, processor and controller are one object ------------------------------------------------------- */

enum { AUDIO = 0, EVENTS = 1 };
enum { IN = 0, OUT = 1 };
enum { DEFAULT_ACTIVE = 1 };

struct bus { int32_t kind, way, channels; words name; int32_t type; uint32_t flags; };
struct route { int32_t kind, bus, channel; };
struct component {
    struct base base;
    result (*controller)(void *, uint8_t *class);
    result (*mode)(void *, int32_t);
    int32_t (*buses)(void *, int32_t kind, int32_t way);
    result (*bus)(void *, int32_t kind, int32_t way, int32_t n, struct bus *);
    result (*route)(void *, struct route *in, struct route *out);
    result (*use)(void *, int32_t kind, int32_t way, int32_t n, uint8_t);
    result (*active)(void *, uint8_t);
    result (*load)(void *, const struct stream **), (*save)(void *, const struct stream **);
};
#define COMPONENT ID_OF(0xe831ff31u, 0xf2d54301u, 0x928ebbeeu, 0x25697802u)

enum { STEREO = 3, ENDLESS = -1 };

struct setup { int32_t mode, doubles, most; double rate; };
struct processor {
    struct unknown unknown;
    result (*arrange)(void *, uint64_t *in, int32_t ins, uint64_t *out, int32_t outs);
    result (*arranged)(void *, int32_t way, int32_t n, uint64_t *);
    result (*takes)(void *, int32_t doubles);
    uint32_t (*latency)(void *);
    result (*setup)(void *, struct setup *);
    result (*begin)(void *, uint8_t);
    result (*process)(void *, struct block *);
    uint32_t (*tail)(void *);
};
#define PROCESSOR ID_OF(0x42043f99u, 0xb7da453cu, 0xa569e79du, 0x9aaec33du)

enum { AUTOMATED = 1, LIST = 8, HIDDEN = 16 };

struct parameter {
    uint32_t id;
    words title, brief, unit;
    int32_t steps;
    double first;
    int32_t group, flags;
};
struct controller {
    struct base base;
    result (*whole)(void *, const struct stream **); /* the component's state */
    result (*load)(void *, const struct stream **), (*save)(void *, const struct stream **);
    int32_t (*count)(void *);
    result (*get)(void *, int32_t, struct parameter *);
    result (*to_text)(void *, uint32_t id, double share, uint16_t *);
    result (*from_text)(void *, uint32_t id, uint16_t *, double *share);
    double (*plain)(void *, uint32_t id, double share), (*share)(void *, uint32_t id, double plain);
    double (*value)(void *, uint32_t id);
    result (*show)(void *, uint32_t id, double share);
    result (*handler)(void *, void *);
    void *(*view)(void *, const char *);
};
#define CONTROLLER ID_OF(0xdcd7bbe3u, 0x7742448du, 0xa874aaccu, 0x979c759eu)

enum { PRESSURE = 128, WHEEL = 129 }; /* after MIDI's controllers */

struct mapping {
    struct unknown unknown;
    result (*get)(void *, int32_t bus, int16_t channel, int16_t controller, uint32_t *id);
};
#define MAPPING ID_OF(0xdf0ff9f7u, 0x49b74669u, 0xb63ab732u, 0x7adbf5e5u)

enum { BIPOLAR = 1, ABSOLUTE = 4 };

struct wished { /* an expression of single notes */
    uint32_t kind;
    words title, brief, unit;
    int32_t group;
    struct { double first, low, high; int32_t steps; } range;
    uint32_t parameter;
    int32_t flags;
};
struct wishes {
    struct unknown unknown;
    int32_t (*count)(void *, int32_t bus, int16_t channel);
    result (*get)(void *, int32_t bus, int16_t channel, int32_t, struct wished *);
    result (*to_text)(void *, int32_t bus, int16_t channel, uint32_t kind, double share, uint16_t *);
    result (*from_text)(void *, int32_t bus, int16_t channel, uint32_t kind, const uint16_t *, double *share);
};
#define WISHES ID_OF(0xb7f8f859u, 0x41234872u, 0x91169581u, 0x4f3721a3u)

struct needs {
    struct unknown unknown;
    uint32_t (*get)(void *);
};
#define NEEDS ID_OF(0x2a654303u, 0xef764e3du, 0x95b5fe83u, 0x730ef6d0u)

/* --- what a library is asked for by name ---------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define OUTSIDE __declspec(dllexport)
#define ENTER InitDll
#define LEAVE ExitDll
#define HANDED void
#elif defined(__APPLE__)
#define OUTSIDE __attribute__((visibility("default")))
#define ENTER bundleEntry
#define LEAVE bundleExit
#define HANDED void *module
#else
#define OUTSIDE __attribute__((visibility("default")))
#define ENTER ModuleEntry
#define LEAVE ModuleExit
#define HANDED void *module
#endif

extern OUTSIDE uint8_t ENTER(HANDED);
extern OUTSIDE uint8_t LEAVE(void);
extern OUTSIDE const struct factory **GetPluginFactory(void);

#endif
