/* As much of CLAP's binary interface as the plugin needs, in words of our own, from its documented layout (version 1.1,
   https://github.com/free-audio/clap); tests/export compares it with CLAP's own headers where these are installed. */

#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

struct version { uint32_t major, minor, revision; };
#define OURS {1, 1, 1}

/* --- events: each begins with a head; of a note's address what is -1 means any --------------------------------------- */

enum { NOTE_ON = 0, NOTE_OFF = 1, NOTE_CHOKE = 2, NOTE_END = 3, EXPRESSION = 4, PARAMETER = 5, MODULATION = 6 };
enum { MIDI = 10, SYSEX = 11 };
enum { TO_PAN = 1, TO_TUNING = 2, TO_EXPRESSION = 4, TO_BRIGHTNESS = 5, TO_PRESSURE = 6 };

struct head {
    uint32_t size, time; /* frames into the block */
    uint16_t space, type; /* 0: CLAP's own */
    uint32_t flags;
};
struct note {
    struct head head;
    int32_t id;
    int16_t port, channel, key;
    double velocity; /* 0 to 1 */
};
struct expression {
    struct head head;
    int32_t kind, id;
    int16_t port, channel, key;
    double value;
};
struct parameter { /* its value, or by how much it is modulated */
    struct head head;
    uint32_t number;
    void *cookie;
    int32_t id;
    int16_t port, channel, key;
    double value;
};
struct midi {
    struct head head;
    uint16_t port;
    uint8_t data[3];
};
struct sysex {
    struct head head;
    uint16_t port;
    const uint8_t *data;
    uint32_t size;
};
struct incoming {
    void *context;
    uint32_t (*count)(const struct incoming *);
    const struct head *(*at)(const struct incoming *, uint32_t);
};
struct outgoing {
    void *context;
    bool (*push)(const struct outgoing *, const struct head *);
};

/* --- a block ---------------------------------------------------------------------------------------------------------- */

enum { FAILED = 0, GO_ON = 1 };

struct sound {
    float **singles;
    double **doubles;
    uint32_t channels, latency;
    uint64_t constant;
};
struct block {
    int64_t clock;
    uint32_t frames;
    const void *transport;
    const struct sound *in;
    struct sound *out;
    uint32_t ins, outs;
    const struct incoming *events;
    const struct outgoing *answers;
};

/* --- plugin, host, library -------------------------------------------------------------------------------------------- */

struct host {
    struct version version;
    void *own;
    const char *name, *vendor, *url, *release;
    const void *(*extension)(const struct host *, const char *name);
    void (*restart)(const struct host *);
    void (*process)(const struct host *);
    void (*callback)(const struct host *);
};
struct description {
    struct version version;
    const char *id, *name, *vendor, *url, *manual, *support, *release, *about;
    const char *const *features;
};
struct plugin {
    const struct description *description;
    void *own;
    bool (*init)(const struct plugin *);
    void (*destroy)(const struct plugin *);
    bool (*activate)(const struct plugin *, double rate, uint32_t least, uint32_t most);
    void (*deactivate)(const struct plugin *);
    bool (*start)(const struct plugin *);
    void (*stop)(const struct plugin *);
    void (*reset)(const struct plugin *);
    int32_t (*process)(const struct plugin *, const struct block *);
    const void *(*extension)(const struct plugin *, const char *name);
    void (*on_main)(const struct plugin *);
};
#define FACTORY "clap.plugin-factory"
struct factory {
    uint32_t (*count)(const struct factory *);
    const struct description *(*describe)(const struct factory *, uint32_t);
    const struct plugin *(*create)(const struct factory *, const struct host *, const char *id);
};
struct entry {
    struct version version;
    bool (*init)(const char *path);
    void (*deinit)(void);
    const void *(*factory)(const char *name);
};

/* --- extensions ------------------------------------------------------------------------------------------------------- */

enum { NAME = 256, PATH = 1024, NOBODY = -1 };

#define THREADS "clap.thread-check" /* the host's */
struct threads {
    bool (*is_main)(const struct host *);
    bool (*is_audio)(const struct host *);
};
#define AUDIO_PORTS "clap.audio-ports"
enum { MAIN = 1 };
struct audio_port {
    uint32_t id;
    char name[NAME];
    uint32_t flags, channels;
    const char *type;
    uint32_t in_place;
};
struct audio_ports {
    uint32_t (*count)(const struct plugin *, bool in);
    bool (*get)(const struct plugin *, uint32_t, bool in, struct audio_port *);
};
#define NOTE_PORTS "clap.note-ports"
enum { NOTES = 1, MIDIS = 2, MPE = 4 };
struct note_port {
    uint32_t id, known, liked;
    char name[NAME];
};
struct note_ports {
    uint32_t (*count)(const struct plugin *, bool in);
    bool (*get)(const struct plugin *, uint32_t, bool in, struct note_port *);
};
#define PARAMETERS "clap.params"
enum { STEPPED = 1, AUTOMATED = 1 << 5, AUTOMATED_ALONE = 15 << 6, MODULATED = 1 << 10, MODULATED_ALONE = 15 << 11 };
struct facts {
    uint32_t id, flags;
    void *cookie;
    char name[NAME], path[PATH];
    double low, high, own;
};
struct parameters {
    uint32_t (*count)(const struct plugin *);
    bool (*get)(const struct plugin *, uint32_t, struct facts *);
    bool (*value)(const struct plugin *, uint32_t id, double *);
    bool (*to_text)(const struct plugin *, uint32_t id, double, char *, uint32_t room);
    bool (*from_text)(const struct plugin *, uint32_t id, const char *, double *);
    void (*flush)(const struct plugin *, const struct incoming *, const struct outgoing *);
};
#define LATENCY "clap.latency"
struct latency { uint32_t (*get)(const struct plugin *); };
#define STATE "clap.state"
struct written {
    void *context;
    int64_t (*write)(const struct written *, const void *, uint64_t);
};
struct read {
    void *context;
    int64_t (*read)(const struct read *, void *, uint64_t);
};
struct state {
    bool (*save)(const struct plugin *, const struct written *);
    bool (*load)(const struct plugin *, const struct read *);
};

#define VOICES "clap.voice-info"
enum { MANY_OF_A_KEY = 1 };
struct crowd {
    uint32_t now, most; /* notes at a time */
    uint64_t flags;
};
struct voices { bool (*get)(const struct plugin *, struct crowd *); };

#define RENDER "clap.render"
enum { OFFLINE = 1 };
struct rendering {
    bool (*in_time_only)(const struct plugin *);
    bool (*set)(const struct plugin *, int32_t mode);
};

#if defined(_WIN32)
#define OUTSIDE __declspec(dllexport)
#else
#define OUTSIDE __attribute__((visibility("default")))
#endif

extern OUTSIDE const struct entry clap_entry;

#endif
