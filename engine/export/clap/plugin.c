/* An exported instrument as a CLAP plugin. Memory is had when it is activated; a block calls nothing but the renderer.

   shape.h, written with it, has its name, the parameters' numbers and how many parts a program may choose. A note in
   CLAP's own words goes to a member channel of an MPE zone, so that what is said of it moves no other one; MIDI, MPE
   too, goes to the renderer as it is. In a rack whose channels play different parts notes stay on their channels. */

#include "interface.h"
#include "jawari.h"
#include "opening.h"
#include "shape.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { ALL = DIALS + (PARTS > 1), PROGRAM = DIALS };
enum { MEMBERS = 15, HELD = 64, RANGE = 48 }; /* channels of the zone, notes that are remembered, semitones of a bend */
enum { LONGEST = 1024 }; /* bytes of a message: what tunes all keys has about half as many */

static const uint32_t ids[] = IDS;
static const struct { const char *name, *unit; double low, high, own; } dials[ALL + 1] = {
#define DIAL(number, key, name, unit, low, high, own) {name, unit, low, high, own},
    JAWARI_PARAMETERS(DIAL)
#if PARTS > 1
    {"Program", "", FIRST_PROGRAM < 0 ? -1 : 0, PARTS - 1, FIRST_PROGRAM},
#endif
    {NULL, NULL, 0, 0, 0},
};
static const char *const parts[] = JAWARI_PARTS;
static char *folder; /* of the library */

struct held { int32_t id; int16_t channel, key; uint8_t member; };

struct own {
    struct plugin plugin;
    const struct host *host;
    const struct threads *threads;
    struct opened opened;
    _Atomic double value[ALL + 1];
    atomic_bool moved[ALL + 1], waits[ALL + 1]; /* by anybody; and not yet heard by the renderer */
    struct held held[HELD]; /* a member of 0: nobody */
    uint8_t last, bent[MEMBERS + 1], pressed[MEMBERS + 1], bright[MEMBERS + 1];
    bool zone;
};

static struct own *own(const struct plugin *plugin) { return plugin->own; }

static bool on_main(const struct own *o) { return !o->threads || o->threads->is_main(o->host); }

static bool on_audio(const struct own *o) { return !o->threads || o->threads->is_audio(o->host); }

/* --- memory ----------------------------------------------------------------------------------------------------------- */

static void deactivate(const struct plugin *plugin)
{
    struct own *o = own(plugin);
    shut(&o->opened);
}

static void begin(struct own *o) /* as after opening: what was moved is moved again */
{
    memset(o->held, 0, sizeof o->held);
    memset(o->bent, 0, sizeof o->bent), memset(o->pressed, 0, sizeof o->pressed), memset(o->bright, 0, sizeof o->bright);
    o->last = 0, o->zone = false;
    for (int n = 0; n < ALL; n++) atomic_store(&o->waits[n], atomic_load(&o->moved[n]));
}

static bool activate(const struct plugin *plugin, double rate, uint32_t least, uint32_t most)
{
    struct own *o = own(plugin);
    (void)least, (void)most;
    if (!on_main(o) || o->opened.instrument) return false;
    if (!open_beside(&o->opened, folder ? folder : "", rate, ID, RATES)) return false;
    begin(o);
    return true;
}

static void reset(const struct plugin *plugin)
{
    struct own *o = own(plugin);
    if (!o->opened.instrument) return;
    jawari_reset(o->opened.instrument);
    begin(o);
}

/* --- parameters ------------------------------------------------------------------------------------------------------- */

static int place(uint32_t id)
{
    for (int n = 0; n < DIALS; n++)
        if (ids[n] == id) return n;
    return PARTS > 1 && id == PROGRAM_ID ? PROGRAM : -1;
}

static bool within(int n, double *value)
{
    if (n < 0 || !(fabs(*value) <= 1e30)) return false;
    if (*value < dials[n].low) *value = dials[n].low;
    if (*value > dials[n].high) *value = dials[n].high;
    return true;
}

static void move(struct own *o, uint32_t id, double value)
{
    int n = place(id);
    if (!within(n, &value)) return;
    atomic_store(&o->value[n], value);
    atomic_store(&o->moved[n], true);
    atomic_store(&o->waits[n], true);
}

static void hear(struct own *o)
{
    for (int n = 0; n < ALL; n++) {
        if (!atomic_exchange(&o->waits[n], false)) continue;
        double value = atomic_load(&o->value[n]);
        if (n < DIALS) jawari_turn(o->opened.instrument, n, value);
        else if (value > -0.5) jawari_take(o->opened.instrument, (int32_t)(value + 0.5));
    }
}

static uint32_t dial_count(const struct plugin *plugin) { return (void)plugin, (uint32_t)ALL; }

static bool dial_get(const struct plugin *plugin, uint32_t n, struct facts *found)
{
    (void)plugin;
    if (n >= (uint32_t)ALL) return false;
    memset(found, 0, sizeof *found);
    found->id = n < (uint32_t)DIALS ? ids[n] : PROGRAM_ID;
    found->flags = AUTOMATED | (n < (uint32_t)DIALS ? 0 : STEPPED);
    snprintf(found->name, NAME, "%s", dials[n].name);
    found->low = dials[n].low, found->high = dials[n].high, found->own = dials[n].own;
    return true;
}

static bool dial_value(const struct plugin *plugin, uint32_t id, double *value)
{
    int n = place(id);
    if (n < 0) return false;
    *value = atomic_load(&own(plugin)->value[n]);
    return true;
}

static double thousand(const char *unit) { return !strcmp(unit, "m") || !strcmp(unit, "s") ? 1e3 : 1.0; }

static bool dial_to_text(const struct plugin *plugin, uint32_t id, double value, char *text, uint32_t room)
{
    int n = place(id);
    (void)plugin;
    if (!within(n, &value)) return false;
    if (n >= DIALS) return snprintf(text, room, "%s", value < -0.5 ? "As the rack has it" : parts[(int)(value + 0.5)]), true;
    const char *unit = dials[n].unit, *milli = thousand(unit) > 1.0 ? "m" : "";
    return snprintf(text, room, "%.4g%s%s%s", value * thousand(unit), *unit ? " " : "", milli, unit), true;
}

static bool dial_from_text(const struct plugin *plugin, uint32_t id, const char *text, double *value)
{
    int n = place(id);
    char *end;
    (void)plugin;
    for (int k = 0; n >= DIALS && k < PARTS; k++)
        if (!strcmp(text, parts[k])) return *value = k, true;
    if (n < 0) return false;
    *value = strtod(text, &end) / thousand(dials[n].unit);
    return end != text && within(n, value);
}

static void dial_flush(const struct plugin *plugin, const struct incoming *events, const struct outgoing *answers)
{
    (void)answers;
    for (uint32_t n = 0; n < events->count(events); n++) {
        const struct head *head = events->at(events, n);
        const struct parameter *told = (const struct parameter *)head;
        if (!head->space && head->type == PARAMETER) move(own(plugin), told->number, told->value);
    }
}

/* --- state: a word, how many, then a number and a value of each parameter that was moved ------------------------------- */

static const char WORD[8] = {'j', 'a', 'w', 'a', 'r', 'i', ' ', '1'};
struct row { uint32_t id, nothing; double value; };

static bool save(const struct plugin *plugin, const struct written *to)
{
    struct own *o = own(plugin);
    struct { char word[8]; uint64_t count; struct row row[ALL + 1]; } kept = {.count = 0};
    memcpy(kept.word, WORD, sizeof WORD);
    for (int n = 0; n < ALL; n++) {
        if (!atomic_load(&o->moved[n])) continue;
        kept.row[kept.count++] = (struct row){n < DIALS ? ids[n] : PROGRAM_ID, 0, atomic_load(&o->value[n])};
    }
    const char *next = (const char *)&kept;
    for (uint64_t left = 16 + kept.count * sizeof(struct row); left;) {
        int64_t took = to->write(to, next, left);
        if (took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static bool whole(const struct read *from, void *into, uint64_t left)
{
    for (char *next = into; left;) {
        int64_t took = from->read(from, next, left);
        if (took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static bool load(const struct plugin *plugin, const struct read *from) /* all of it, or nothing */
{
    struct { char word[8]; uint64_t count; } first;
    struct row row[256];
    if (!whole(from, &first, sizeof first) || memcmp(first.word, WORD, sizeof WORD) || first.count > 256) return false;
    if (!whole(from, row, first.count * sizeof *row)) return false;
    for (uint64_t n = 0; n < first.count; n++)
        if (!(fabs(row[n].value) <= 1e30)) return false;
    for (uint64_t n = 0; n < first.count; n++) move(own(plugin), row[n].id, row[n].value);
    return true;
}

/* --- notes ------------------------------------------------------------------------------------------------------------ */

struct now { struct own *own; float *left, *right; uint32_t done, frames; };

static void render(struct now *now, uint32_t to)
{
    if (to > now->done) jawari_run(now->own->opened.instrument, (int32_t)(to - now->done), now->left + now->done, now->right + now->done);
    if (to > now->done) now->done = to;
}

static void hand_on(struct now *now, uint32_t frame, const uint8_t *data, int32_t size)
{
    for (;;) {
        uint32_t at = frame > now->done ? frame - now->done : 0;
        if (jawari_send(now->own->opened.instrument, (int32_t)at, data, size) || now->done >= now->frames) return;
        render(now, at ? frame : now->done + 1); /* more messages than can wait: play what is before them */
    }
}

static void send(struct now *now, uint32_t frame, int status, int first, int second)
{
    uint8_t data[3] = {(uint8_t)status, (uint8_t)first, (uint8_t)second};
    hand_on(now, frame, data, (status & 0xe0) == 0xc0 ? 2 : 3);
}

static uint8_t share(double value) { return (uint8_t)(fmin(fmax(value, 0.0), 1.0) * 127.0 + 0.5); }

static void tune(struct now *now, uint32_t at, int member, double semitones)
{
    double bend = fmin(fmax(8192.0 + 8192.0 / RANGE * semitones, 0.0), 16383.0) + 0.5;
    send(now, at, 0xe0 | member, (int)bend & 127, (int)bend >> 7);
    now->own->bent[member] = (int)bend != 8192;
}

static int joined(struct now *now, uint32_t at, const struct note *note) /* the channel that a note is played on */
{
    struct own *o = now->own;
    if (FIRST_PROGRAM < 0) return note->channel & 15;
    if (!o->zone) { /* MPE's lower zone: its size as registered parameter 6 of channel 1 */
        send(now, at, 0xb0, 101, 0), send(now, at, 0xb0, 100, 6), send(now, at, 0xb0, 6, MEMBERS);
        o->zone = true;
    }
    bool busy[MEMBERS + 1] = {false};
    struct held *slot = NULL;
    for (int n = 0; n < HELD; n++) {
        busy[o->held[n].member] = true;
        if (!slot && !o->held[n].member) slot = &o->held[n];
    }
    int member = o->last % MEMBERS + 1;
    for (int n = 0; n < MEMBERS && busy[member]; n++) member = member % MEMBERS + 1; /* the one that is free longest */
    o->last = (uint8_t)member;
    if (slot) *slot = (struct held){note->id, note->channel, note->key, (uint8_t)member};
    if (o->bent[member]) tune(now, at, member, 0.0);
    if (o->pressed[member]) send(now, at, 0xd0 | member, 0, 0);
    if (o->bright[member]) send(now, at, 0xb0 | member, 74, 64);
    o->pressed[member] = o->bright[member] = 0;
    return member;
}

static bool meant(const struct held *held, int32_t id, int16_t channel, int16_t key)
{
    if (!held->member || (id >= 0 && held->id >= 0 && id != held->id)) return false;
    return (channel < 0 || channel == held->channel) && (key < 0 || key == held->key);
}

static void end(struct now *now, const struct note *note)
{
    struct own *o = now->own;
    uint32_t at = note->head.time;
    bool choke = note->head.type == NOTE_CHOKE;
    if (FIRST_PROGRAM < 0) {
        send(now, at, 0x80 | (note->channel & 15), note->key & 127, share(note->velocity));
        return;
    }
    for (int n = 0; n < HELD; n++) {
        struct held *held = &o->held[n];
        if (!meant(held, note->id, note->channel, note->key)) continue;
        if (choke) send(now, at, 0xb0 | held->member, 120, 0);
        else send(now, at, 0x80 | held->member, held->key & 127, share(note->velocity));
        held->member = 0;
    }
}

static void express(struct now *now, const struct expression *told)
{
    struct own *o = now->own;
    uint32_t at = told->head.time;
    if (told->value != told->value) return;
    for (int n = 0; n < HELD; n++) {
        int member = o->held[n].member;
        if (!meant(&o->held[n], told->id, told->channel, told->key)) continue;
        if (told->kind == TO_TUNING) tune(now, at, member, told->value);
        if (told->kind == TO_PRESSURE) send(now, at, 0xd0 | member, share(told->value), 0), o->pressed[member] = 1;
        if (told->kind == TO_BRIGHTNESS) send(now, at, 0xb0 | member, 74, share(told->value)), o->bright[member] = 1;
        if (told->kind == TO_PAN) send(now, at, 0xb0 | member, 10, share(told->value));
        if (told->kind == TO_EXPRESSION) send(now, at, 0xb0 | member, 11, share(told->value));
    }
}

static void obey(struct now *now, const struct head *head)
{
    const struct note *note = (const struct note *)head;
    const struct midi *midi = (const struct midi *)head;
    const struct sysex *whole = (const struct sysex *)head;
    const struct parameter *told = (const struct parameter *)head;
    uint32_t at = head->time;
    if (head->space) return;
    if (head->type == NOTE_ON && note->key >= 0 && note->key < 128) {
        int velocity = share(note->velocity);
        send(now, at, 0x90 | joined(now, at, note), note->key, velocity ? velocity : 1);
    } else if (head->type == NOTE_OFF || head->type == NOTE_CHOKE) end(now, note);
    else if (head->type == EXPRESSION) express(now, (const struct expression *)head);
    else if (head->type == MIDI) send(now, at, midi->data[0], midi->data[1], midi->data[2]);
    else if (head->type == SYSEX && whole->data && whole->size <= LONGEST) hand_on(now, at, whole->data, (int32_t)whole->size);
    else if (head->type == PARAMETER) {
        render(now, at < now->frames ? at : now->frames);
        move(now->own, told->number, told->value);
        hear(now->own);
    }
}

static int32_t process(const struct plugin *plugin, const struct block *block)
{
    struct own *o = own(plugin);
    if (!on_audio(o) || !o->opened.instrument || block->outs < 1 || block->out->channels < 2 || !block->out->singles) return FAILED;
    struct now now = {o, block->out->singles[0], block->out->singles[1], 0, block->frames};
    hear(o);
    uint32_t count = block->events ? block->events->count(block->events) : 0;
    for (uint32_t n = 0; n < count; n++) obey(&now, block->events->at(block->events, n));
    render(&now, block->frames);
    block->out->constant = 0;
    return GO_ON;
}

/* --- what hosts ask ---------------------------------------------------------------------------------------------------- */

static uint32_t one_out(const struct plugin *plugin, bool in) { return (void)plugin, !in; }

static bool audio_get(const struct plugin *plugin, uint32_t n, bool in, struct audio_port *found)
{
    (void)plugin;
    if (n || in) return false;
    *found = (struct audio_port){.id = 0, .name = "Out", .flags = MAIN, .channels = 2, .type = "stereo", .in_place = UINT32_MAX};
    return true;
}

static uint32_t one_in(const struct plugin *plugin, bool in) { return (void)plugin, in; }

static bool note_get(const struct plugin *plugin, uint32_t n, bool in, struct note_port *found)
{
    (void)plugin;
    if (n || !in) return false;
    *found = (struct note_port){.id = 0, .known = NOTES | MIDIS | MPE, .liked = NOTES, .name = "In"};
    return true;
}

static uint32_t late(const struct plugin *plugin)
{
    return own(plugin)->opened.instrument ? (uint32_t)jawari_latency(own(plugin)->opened.instrument) : 0;
}

static const void *extension(const struct plugin *plugin, const char *name)
{
    static const struct audio_ports audio = {one_out, audio_get};
    static const struct note_ports notes = {one_in, note_get};
    static const struct parameters told = {dial_count, dial_get, dial_value, dial_to_text, dial_from_text, dial_flush};
    static const struct latency latency = {late};
    static const struct state state = {save, load};
    (void)plugin;
    if (!strcmp(name, AUDIO_PORTS)) return &audio;
    if (!strcmp(name, NOTE_PORTS)) return &notes;
    if (!strcmp(name, PARAMETERS)) return &told;
    if (!strcmp(name, LATENCY)) return &latency;
    return strcmp(name, STATE) ? NULL : &state;
}

static bool init(const struct plugin *plugin)
{
    struct own *o = own(plugin);
    o->threads = o->host->extension ? o->host->extension(o->host, THREADS) : NULL;
    return on_main(o);
}

static void destroy(const struct plugin *plugin)
{
    deactivate(plugin);
    free(own(plugin));
}

static bool start(const struct plugin *plugin) { return own(plugin)->opened.instrument != NULL; }

static void nothing(const struct plugin *plugin) { (void)plugin; }

static const char *const features[] = {"instrument", "synthesizer", "stereo", NULL};
static const struct description description = {OURS, ID, TITLE, "Jawari", "", "", "", RELEASE, ABOUT, features};

static uint32_t count(const struct factory *factory) { return (void)factory, 1; }

static const struct description *describe(const struct factory *factory, uint32_t n) { return (void)factory, n ? NULL : &description; }

static const struct plugin *create(const struct factory *factory, const struct host *host, const char *id)
{
    (void)factory;
    struct own *o = strcmp(id, ID) ? NULL : calloc(1, sizeof *o);
    if (!o) return NULL;
    o->host = host;
    for (int n = 0; n < ALL; n++) atomic_store(&o->value[n], dials[n].own);
    o->plugin = (struct plugin){&description, o, init, destroy, activate, deactivate, start, nothing, reset, process, extension, nothing};
    return &o->plugin;
}

static bool enter(const char *path) /* the image lies beside the library; on macOS in its bundle, whose folder is told */
{
    size_t size = strlen(path);
#ifndef __APPLE__
    while (size && path[size - 1] != '/' && path[size - 1] != '\\') size--;
#endif
    char *kept = malloc(size + 32);
    if (!kept) return false;
    memcpy(kept, path, size);
#ifdef __APPLE__
    strcpy(kept + size, "/Contents/Resources/");
#else
    kept[size] = 0;
#endif
    free(folder);
    folder = kept;
    return true;
}

static void leave(void)
{
    free(folder);
    folder = NULL;
}

static const void *factory(const char *name)
{
    static const struct factory made = {count, describe, create};
    return strcmp(name, FACTORY) ? NULL : &made;
}

OUTSIDE const struct entry clap_entry = {OURS, enter, leave, factory};
