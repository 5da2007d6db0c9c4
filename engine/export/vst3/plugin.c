/* An exported instrument as a VST 3 plugin. Memory is had when it is told its rate; a block calls nothing but the renderer.

   shape.h, written with it, has its name, its class, the parameters' numbers, how many parts a program may choose and
   which of MIDI's controllers are heard: hosts of VST 3 hand these on as parameters, of which every channel has its own.
   Component, processor and controller are one object. What hosts say of a parameter by the controller is shown, and kept;
   what is heard comes with the blocks, each point on its frame. Notes stay on their channels, or, where the switch "Notes
   apart" is on, go to the members of an MPE zone, so that what is said of one moves no other. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for where the library lies */
#endif

#include "interface.h"
#include "jawari.h"
#include "shape.h"
#include "playing.h"
#include "words.h"

#include <stddef.h>

enum { CHANNELS = 16, FIRST_CONTROL = 1 << 17, A_CHANNEL = 256 }; /* the ids of controllers */
static const uint8_t controls[] = CONTROLS; /* those that choose what others set come first: so they do in a frame */
enum { HEARD = sizeof controls, PLACES = ALL + CHANNELS * HEARD };
static const uint8_t class_id[16] = CLASS;
static char *folder; /* of the image, which lies beside the library's */

struct lane { const struct points **points; int32_t place, at, count, frame; double value; };

struct own {
    const struct component *component;
    const struct processor *processor;
    const struct controller *controller;
    const struct mapping *mapping;
    const struct wishes *wishes;
    const struct needs *needs;
    struct played played;
    atomic_uint users;
    double rate, refused; /* the rate that it was said of */
    uint32_t late;
    bool running;
    _Atomic double shown[PLACES]; /* from 0 to 1 */
    atomic_bool newer[ALL + 1]; /* than what was heard */
    struct lane lanes[PLACES]; /* of the block that is played */
};

static result query(struct own *o, const uint8_t *id, void **found)
{
    static const uint8_t known[][16] = {UNKNOWN, BASE, COMPONENT, PROCESSOR, CONTROLLER, MAPPING, WISHES, NEEDS};
    void *faces[] = {&o->component, &o->component, &o->component, &o->processor, &o->controller, &o->mapping, &o->wishes, &o->needs};
    for (int n = 0; n < 8; n++) {
        if (memcmp(id, known[n], 16)) continue;
        atomic_fetch_add(&o->users, 1);
        return *found = faces[n], DONE;
    }
    return *found = NULL, NO_INTERFACE;
}

static uint32_t unref(struct own *o)
{
    uint32_t left = atomic_fetch_sub(&o->users, 1) - 1;
    if (left) return left;
    shut_played(&o->played);
    free(o);
    return 0;
}

#define FACE(face) \
    static struct own *face##_own(void *self) { return (struct own *)((char *)self - offsetof(struct own, face)); } \
    static result face##_query(void *self, const uint8_t *id, void **found) { return query(face##_own(self), id, found); } \
    static uint32_t face##_ref(void *self) { return atomic_fetch_add(&face##_own(self)->users, 1) + 1; } \
    static uint32_t face##_unref(void *self) { return unref(face##_own(self)); }
#define OF(face) {face##_query, face##_ref, face##_unref}
FACE(component)
FACE(processor)
FACE(controller)
FACE(mapping)
FACE(wishes)
FACE(needs)

static result initialise(void *self, void *context) { return (void)self, (void)context, DONE; }

static result terminate(void *self) { return (void)self, DONE; }

#include "showing.h"

/* --- state ---------------------------------------------------------------------------------------------------------------- */

static void show_all(struct own *o)
{
    for (int n = 0; n < ALL; n++) {
        atomic_store(&o->newer[n], false);
        atomic_store(&o->shown[n], part_of(n, atomic_load(&o->played.value[n])));
    }
}

static bool writes(void *stream, void *data, uint64_t left)
{
    const struct stream **to = stream;
    for (char *next = data; left;) {
        int32_t took = 0;
        if ((*to)->write(to, next, (int32_t)left, &took) != DONE || took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static bool reads(void *stream, void *into, uint64_t left)
{
    const struct stream **from = stream;
    for (char *next = into; left;) {
        int32_t took = 0;
        if ((*from)->read(from, next, (int32_t)left, &took) != DONE || took <= 0 || (uint64_t)took > left) return false;
        next += took, left -= (uint64_t)took;
    }
    return true;
}

static result save(void *self, const struct stream **to) /* also what a host has said and not played yet */
{
    struct own *o = component_own(self);
    double known[ALL + 1];
    for (int n = 0; n < ALL; n++) known[n] = atomic_load(&o->newer[n]) ? plain(n, atomic_load(&o->shown[n])) : NAN;
    return to && save_by(&o->played, known, writes, to) ? DONE : REFUSED;
}

static result load(void *self, const struct stream **from)
{
    struct own *o = component_own(self);
    if (!from || !load_by(&o->played, reads, from)) return REFUSED;
    return show_all(o), DONE;
}

static result shown_whole(void *self, const struct stream **from) /* the component has read it */
{
    return (void)from, show_all(controller_own(self)), DONE;
}

static result nothing_kept(void *self, const struct stream **stream) { return (void)self, (void)stream, DONE; }

/* --- a block ---------------------------------------------------------------------------------------------------------------- */

static bool step(struct lane *lane) /* on to its next point; false: there is none */
{
    if (lane->at >= lane->count) return false;
    if ((*lane->points)->get(lane->points, lane->at++, &lane->frame, &lane->value) != DONE) return false;
    if (lane->frame < 0) lane->frame = 0;
    return true;
}

static int gathered(struct own *o, const struct changes **told)
{
    int count = 0;
    for (int32_t n = 0, all = told ? (*told)->count(told) : 0; n < all && count < (int)PLACES; n++) {
        const struct points **points = (*told)->get(told, n);
        struct lane *lane = &o->lanes[count];
        int place = points ? place_of((*points)->id(points)) : -1;
        if (place < 0) continue;
        *lane = (struct lane){points, place, 0, (*points)->count(points), 0, 0.0};
        count += step(lane);
    }
    return count;
}

static struct lane *earliest(struct own *o, int count) /* in a frame, by their places */
{
    struct lane *found = NULL;
    for (struct lane *lane = o->lanes; lane < o->lanes + count; lane++) {
        if (lane->frame < 0) continue; /* it is through */
        if (!found || lane->frame < found->frame || (lane->frame == found->frame && lane->place < found->place)) found = lane;
    }
    return found;
}

static void turned(struct own *o, struct now *now, const struct lane *lane)
{
    uint32_t at = (uint32_t)lane->frame;
    if (lane->value != lane->value) return;
    if (lane->place < ALL) {
        atomic_store(&o->newer[lane->place], false);
        turn_on(now, at, id_of(lane->place), plain(lane->place, lane->value));
        return;
    }
    int control = control_of(lane->place), channel = channel_of(lane->place);
    int wheel = (int)(fmin(fmax(lane->value, 0.0), 1.0) * 16383.0 + 0.5);
    if (control == WHEEL) send(now, at, 0xe0 | channel, wheel & 127, wheel >> 7);
    else if (control == PRESSURE) send(now, at, 0xd0 | channel, share(lane->value), 0);
    else send(now, at, 0xb0 | channel, control, share(lane->value));
}

static bool apart(struct now *now) { return FIRST_PROGRAM >= 0 && atomic_load(&now->played->value[APART]) > 0.5; }

static void wish_for(struct now *now, uint32_t at, int32_t id, uint32_t kind, double value)
{
    struct address note = {id, -1, -1};
    if (id < 0) return;
    if (kind == TO_TUNING) express(now, at, note, TUNED, 240.0 * (value - 0.5));
    if (kind == TO_VOLUME) express(now, at, note, SWELLED, sqrt(fmin(fmax(4.0 * value, 0.0), 1.0))); /* as CC 11 goes */
    if (kind == TO_PAN) express(now, at, note, PANNED, value);
    if (kind == TO_BRIGHTNESS) express(now, at, note, BRIGHTENED, value);
}

static void obey(struct now *now, const struct event *event)
{
    uint32_t at = event->frame > 0 ? (uint32_t)event->frame : 0;
    if (event->type == NOTE_ON && event->on.key >= 0 && event->on.key < 128) {
        struct address note = {event->on.id, event->on.channel, event->on.key};
        int channel = apart(now) ? joined(now, at, note) : note.channel & 15;
        if (apart(now) && event->on.cents != 0.0f) tune(now, at, channel, event->on.cents / 100.0);
        send(now, at, 0x90 | channel, note.key, struck(event->on.velocity));
    } else if (event->type == NOTE_OFF) {
        struct address note = {event->off.id, event->off.channel, event->off.key};
        if (end(now, at, note, event->off.velocity, false)) return;
        send(now, at, 0x80 | (note.channel & 15), note.key & 127, share(event->off.velocity));
    } else if (event->type == KEY_PRESSURE) {
        struct address note = {event->pressure.id, event->pressure.channel, event->pressure.key};
        if (apart(now)) express(now, at, note, PRESSED, event->pressure.pressure);
        else send(now, at, 0xa0 | (note.channel & 15), note.key & 127, share(event->pressure.pressure));
    } else if (event->type == EXPRESSION) wish_for(now, at, event->expression.id, event->expression.kind, event->expression.value);
    else if (event->type == DATA && !event->data.type && event->data.bytes && event->data.size <= LONGEST)
        hand_on(now, at, event->data.bytes, (int32_t)event->data.size);
}

static result process(void *self, struct block *block)
{
    struct own *o = processor_own(self);
    struct now now = {&o->played, NULL, NULL, 0, block->frames > 0 ? (uint32_t)block->frames : 0, NULL, NULL};
    if (now.frames) { /* hosts hand in parameters alone, too */
        if (block->doubles || block->outs < 1 || !block->out || block->out->channels < 2 || !block->out->singles) return REFUSED;
        now.left = block->out->singles[0], now.right = block->out->singles[1];
        if (!now.left || !now.right) return REFUSED;
        block->out->silent = 0;
        for (uint32_t n = 0; !o->running && n < now.frames; n++) now.left[n] = now.right[n] = 0.0f;
    }
    if (!o->running) return REFUSED;
    hear(&o->played);
    int lanes = gathered(o, block->told);
    const struct events **events = block->events;
    int32_t next = 0, count = events ? (*events)->count(events) : 0;
    for (;;) {
        struct event event;
        struct lane *lane = earliest(o, lanes);
        while (next < count && (*events)->get(events, next, &event) != DONE) next++;
        if (lane && (next >= count || lane->frame <= event.frame)) {
            turned(o, &now, lane);
            if (!step(lane)) lane->frame = -1;
        } else if (next < count) next++, obey(&now, &event);
        else break;
    }
    render(&now, now.frames);
    return DONE;
}

/* --- what hosts ask: the component ------------------------------------------------------------------------------------------- */

static result no_controller(void *self, uint8_t *class) { return (void)self, (void)class, NOT_OFFERED; }

static result any_mode(void *self, int32_t mode) { return (void)self, (void)mode, DONE; }

static bool is_bus(int32_t kind, int32_t way, int32_t n) { return !n && ((kind == AUDIO && way == OUT) || (kind == EVENTS && way == IN)); }

static int32_t buses(void *self, int32_t kind, int32_t way) { return (void)self, is_bus(kind, way, 0); }

static result bus(void *self, int32_t kind, int32_t way, int32_t n, struct bus *found)
{
    (void)self;
    if (!is_bus(kind, way, n)) return BAD_ARGUMENT;
    *found = (struct bus){.kind = kind, .way = way, .channels = kind == AUDIO ? 2 : CHANNELS, .flags = DEFAULT_ACTIVE};
    return wide(found->name, 128, kind == AUDIO ? "Out" : "In"), DONE;
}

static result no_route(void *self, struct route *in, struct route *out) { return (void)self, (void)in, (void)out, NOT_OFFERED; }

static result use_bus(void *self, int32_t kind, int32_t way, int32_t n, uint8_t used)
{
    return (void)self, (void)used, is_bus(kind, way, n) ? DONE : BAD_ARGUMENT;
}

static bool ready(struct own *o)
{
    struct opened *opened = &o->played.opened;
    o->late = 0;
    if (!opened->instrument && (o->refused == o->rate || !open_played(&o->played, folder ? folder : "", o->rate)))
        return o->refused = o->rate, false;
    return o->late = (uint32_t)jawari_latency(opened->instrument), true;
}

static result active(void *self, uint8_t wanted)
{
    struct own *o = component_own(self);
    if (!wanted) return o->running = false, shut_played(&o->played), DONE;
    if (o->running) return DONE;
    if (!ready(o)) return REFUSED;
    return begin(&o->played), o->running = true, DONE;
}

/* --- the processor ------------------------------------------------------------------------------------------------------------ */

static result arrange(void *self, uint64_t *in, int32_t ins, uint64_t *out, int32_t outs)
{
    return (void)self, (void)in, !ins && outs == 1 && out && *out == STEREO ? DONE : REFUSED;
}

static result arranged(void *self, int32_t way, int32_t n, uint64_t *found)
{
    return (void)self, is_bus(AUDIO, way, n) ? (*found = STEREO, DONE) : BAD_ARGUMENT;
}

static result takes(void *self, int32_t doubles) { return (void)self, doubles ? REFUSED : DONE; }

static uint32_t latency(void *self) { return processor_own(self)->late; }

enum { OFFLINE = 2 };

static result setup(void *self, struct setup *wanted) /* memory is had here, since hosts ask for the latency next */
{
    struct own *o = processor_own(self);
    if (o->running || wanted->doubles) return REFUSED;
    if (wanted->rate != o->rate) shut_played(&o->played);
    o->rate = wanted->rate;
    atomic_store(&o->played.bench.patient, wanted->mode == OFFLINE);
    return ready(o) ? DONE : REFUSED;
}

static result start(void *self, uint8_t wanted) /* or stop: what sounded is gone */
{
    struct own *o = processor_own(self);
    if (wanted && !o->running) return REFUSED;
    if (wanted) jawari_reset(o->played.opened.instrument), begin(&o->played);
    return DONE;
}

static uint32_t tail(void *self) { return (void)self, (uint32_t)ENDLESS; }

static uint32_t no_needs(void *self) { return (void)self, 0; }

/* --- the controller, and all tables ------------------------------------------------------------------------------------------ */

static result no_handler(void *self, void *handler) { return (void)self, (void)handler, DONE; }

static void *no_view(void *self, const char *name) { return (void)self, (void)name, NULL; }

static const struct component component = {
    {OF(component), initialise, terminate}, no_controller, any_mode, buses, bus, no_route, use_bus, active, load, save,
};
static const struct processor processor = {OF(processor), arrange, arranged, takes, latency, setup, start, process, tail};
static const struct controller controller = {
    {OF(controller), initialise, terminate}, shown_whole, nothing_kept, nothing_kept, parameter_count, parameter_get,
    parameter_to_text, parameter_from_text, parameter_plain, parameter_part, parameter_value, parameter_show, no_handler, no_view,
};
static const struct mapping mapping = {OF(mapping), mapped};
static const struct wishes wishes = {OF(wishes), wish_count, wish_get, wish_to_text, wish_from_text};
static const struct needs needs = {OF(needs), no_needs};

#include "library.h"
