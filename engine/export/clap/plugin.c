/* An exported instrument as a CLAP plugin. Memory is had when it is activated, as is a thread that designs; a block calls
   nothing but the renderer.

   shape.h, written with it, has its name, the parameters' numbers and how many parts a program may choose. A note in
   CLAP's own words goes to a member channel of an MPE zone, so that what is said of it moves no other one; MIDI, MPE
   too, goes to the renderer as it is. In a rack whose channels play different parts notes stay on their channels. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for a nap */
#endif

#include "interface.h"
#include "jawari.h"
#include "shape.h"
#include "playing.h"

enum { ALONE = FIRST_PROGRAM >= 0 }; /* notes are told apart */

static char *folder; /* of the library */

struct own {
    struct plugin plugin;
    const struct host *host;
    const struct threads *threads;
    struct played played;
};

static struct own *own(const struct plugin *plugin) { return plugin->own; }

static bool on_main(const struct own *o) { return !o->threads || o->threads->is_main(o->host); }

static bool on_audio(const struct own *o) { return !o->threads || o->threads->is_audio(o->host); }

/* --- memory ----------------------------------------------------------------------------------------------------------- */

static void deactivate(const struct plugin *plugin) { shut_played(&own(plugin)->played); }

static bool activate(const struct plugin *plugin, double rate, uint32_t least, uint32_t most)
{
    struct own *o = own(plugin);
    (void)least, (void)most;
    if (!on_main(o) || o->played.opened.instrument) return false;
    if (!open_played(&o->played, folder ? folder : "", rate)) return false;
    begin(&o->played);
    return true;
}

static void reset(const struct plugin *plugin)
{
    struct played *p = &own(plugin)->played;
    if (!p->opened.instrument) return;
    jawari_reset(p->opened.instrument);
    begin(p);
}

/* --- parameters and state --------------------------------------------------------------------------------------------- */

static uint32_t dial_count(const struct plugin *plugin) { return (void)plugin, (uint32_t)ALL; }

static bool dial_get(const struct plugin *plugin, uint32_t n, struct facts *found)
{
    (void)plugin;
    if (n >= (uint32_t)ALL) return false;
    memset(found, 0, sizeof *found);
    found->id = id_of((int)n);
    found->flags = AUTOMATED | (n < (uint32_t)PROGRAM ? 0 : STEPPED);
    if (n < (uint32_t)DIALS) found->flags |= MODULATED | (ALONE ? AUTOMATED_ALONE | MODULATED_ALONE : 0);
    snprintf(found->name, NAME, "%s", dials[n].name);
    found->low = dials[n].low, found->high = dials[n].high, found->own = dials[n].own;
    return true;
}

static bool dial_value(const struct plugin *plugin, uint32_t id, double *value)
{
    int n = place(id);
    if (n < 0) return false;
    *value = atomic_load(&own(plugin)->played.value[n]);
    return true;
}

static bool dial_to_text(const struct plugin *plugin, uint32_t id, double value, char *text, uint32_t room)
{
    return (void)plugin, to_text(place(id), value, text, room);
}

static bool dial_from_text(const struct plugin *plugin, uint32_t id, const char *text, double *value)
{
    return (void)plugin, from_text(place(id), text, value);
}

static void dial_flush(const struct plugin *plugin, const struct incoming *events, const struct outgoing *answers)
{
    (void)answers;
    for (uint32_t n = 0; n < events->count(events); n++) {
        const struct head *head = events->at(events, n);
        const struct parameter *told = (const struct parameter *)head;
        if (head->space) continue;
        if (head->type == PARAMETER) move(&own(plugin)->played, told->number, told->value);
        if (head->type == MODULATION) swing(&own(plugin)->played, place(told->number), told->value);
    }
}

static bool writes(void *stream, void *data, uint64_t left)
{
    const struct written *to = stream;
    for (const char *next = data; left;) {
        int64_t took = to->write(to, next, left);
        if (took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static bool reads(void *stream, void *into, uint64_t left)
{
    const struct read *from = stream;
    for (char *next = into; left;) {
        int64_t took = from->read(from, next, left);
        if (took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static bool save(const struct plugin *plugin, const struct written *to)
{
    return save_by(&own(plugin)->played, NULL, writes, (void *)to);
}

static bool load(const struct plugin *plugin, const struct read *from)
{
    return load_by(&own(plugin)->played, reads, (void *)from);
}

/* --- notes ------------------------------------------------------------------------------------------------------------ */

static struct address of(const struct note *note) { return (struct address){note->id, note->channel, note->key}; }

static void note_off(struct now *now, const struct note *note)
{
    uint32_t at = note->head.time;
    if (!ALONE) send(now, at, 0x80 | (note->channel & 15), note->key & 127, share(note->velocity));
    else end(now, at, of(note), note->velocity, note->head.type == NOTE_CHOKE);
}

static void say(struct now *now, const struct expression *told)
{
    static const struct { int32_t kind; enum wish wish; } known[] = {
        {TO_TUNING, TUNED}, {TO_PRESSURE, PRESSED}, {TO_BRIGHTNESS, BRIGHTENED}, {TO_PAN, PANNED}, {TO_EXPRESSION, SWELLED},
    };
    struct address note = {told->id, told->channel, told->key};
    for (int n = 0; n < 5; n++)
        if (told->kind == known[n].kind) express(now, told->head.time, note, known[n].wish, told->value);
}

static void gone(struct now *now, uint32_t at, struct address note) /* hosts end what modulates it then */
{
    const struct outgoing *answers = now->host;
    struct head head = {sizeof(struct note), at, 0, NOTE_END, 0};
    struct note ended = {head, note.id, 0, note.channel, note.key, 0.0};
    if (answers && answers->push) answers->push(answers, &ended.head);
}

/* For single notes, by their address, or for all. Designs are for all, and so is everything where notes share channels. */
static void turn(struct now *now, const struct parameter *told)
{
    uint32_t at = told->head.time;
    int n = place(told->number);
    bool more = told->head.type == MODULATION, some = told->id >= 0 || told->channel >= 0 || told->key >= 0;
    if (ALONE && some && n < DIALS) {
        move_apart(now, at, (struct address){told->id, told->channel, told->key}, n, told->value, more);
    } else if (more) {
        render(now, at < now->frames ? at : now->frames);
        swing(now->played, n, told->value);
        hear(now->played);
    } else turn_on(now, at, told->number, told->value);
}

static void obey(struct now *now, const struct head *head)
{
    const struct note *note = (const struct note *)head;
    const struct midi *midi = (const struct midi *)head;
    const struct sysex *whole = (const struct sysex *)head;
    uint32_t at = head->time;
    if (head->space) return;
    if (head->type == NOTE_ON && note->key >= 0 && note->key < 128) {
        int channel = ALONE ? joined(now, at, of(note)) : note->channel & 15;
        send(now, at, 0x90 | channel, note->key, struck(note->velocity));
    } else if (head->type == NOTE_OFF || head->type == NOTE_CHOKE) note_off(now, note);
    else if (head->type == EXPRESSION) say(now, (const struct expression *)head);
    else if (head->type == MIDI) send(now, at, midi->data[0], midi->data[1], midi->data[2]);
    else if (head->type == SYSEX && whole->data && whole->size <= LONGEST) hand_on(now, at, whole->data, (int32_t)whole->size);
    else if (head->type == PARAMETER || head->type == MODULATION) turn(now, (const struct parameter *)head);
}

static int32_t process(const struct plugin *plugin, const struct block *block)
{
    struct own *o = own(plugin);
    struct played *p = &o->played;
    if (!on_audio(o) || !p->opened.instrument || block->outs < 1 || block->out->channels < 2 || !block->out->singles) return FAILED;
    struct now now = {p, block->out->singles[0], block->out->singles[1], 0, block->frames, gone, block->answers};
    hear(p);
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
    return own(plugin)->played.opened.instrument ? (uint32_t)jawari_latency(own(plugin)->played.opened.instrument) : 0;
}

static bool crowd(const struct plugin *plugin, struct crowd *found)
{
    return (void)plugin, *found = (struct crowd){MEMBERS, MEMBERS, MANY_OF_A_KEY}, ALONE;
}

static bool in_time_only(const struct plugin *plugin) { return (void)plugin, false; }

static bool set_mode(const struct plugin *plugin, int32_t mode)
{
    return atomic_store(&own(plugin)->played.bench.patient, mode == OFFLINE), true;
}

static const void *extension(const struct plugin *plugin, const char *name)
{
    static const struct audio_ports audio = {one_out, audio_get};
    static const struct note_ports notes = {one_in, note_get};
    static const struct parameters told = {dial_count, dial_get, dial_value, dial_to_text, dial_from_text, dial_flush};
    static const struct latency latency = {late};
    static const struct state state = {save, load};
    static const struct voices voices = {crowd};
    static const struct rendering rendering = {in_time_only, set_mode};
    (void)plugin;
    if (!strcmp(name, AUDIO_PORTS)) return &audio;
    if (!strcmp(name, NOTE_PORTS)) return &notes;
    if (!strcmp(name, PARAMETERS)) return &told;
    if (!strcmp(name, LATENCY)) return &latency;
    if (!strcmp(name, RENDER)) return &rendering;
    if (!strcmp(name, VOICES)) return &voices;
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

static bool start(const struct plugin *plugin) { return own(plugin)->played.opened.instrument != NULL; }

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
    untouched(&o->played);
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
