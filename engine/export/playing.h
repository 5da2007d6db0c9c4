/* What plugins have in common that hear parameters and notes one by one: parameters that anybody moves, their state, a
   block that is rendered piece by piece, and notes on channels of their own, so that what is said of one moves no other.
   Needs jawari.h and shape.h, which has the parameters' numbers, of how many there are designs, and how many parts a
   program may choose. */

#ifndef PLAYING_H
#define PLAYING_H

#include "workbench.h"

#include <string.h>

/* First what moves, then what designs are made for, the program, a switch. */
enum { PROGRAM = DIALS + DESIGNS, APART = PROGRAM + (PARTS > 1), ALL = APART + SWITCHES };
enum { MEMBERS = 15, HELD = 64, RANGE = 48 }; /* channels of the zone, notes that are remembered, semitones of a bend */
enum { LONGEST = 1024 }; /* bytes of a message: what tunes all keys has about half as many */
enum { MOST_ROWS = 256 }; /* of a state */

static const uint32_t ids[] = IDS;
static const struct { const char *unit; double one; } shown[] = SHOWN; /* as people read values: in what, and what one is */
static const struct { const char *name; double low, high, own; } dials[ALL + 1] = {
#define DIAL(number, key, name, unit, low, high, own) {name, low, high, own},
    JAWARI_PARAMETERS(DIAL)
    JAWARI_DESIGNS(DIAL)
#if PARTS > 1
    {"Program", FIRST_PROGRAM < 0 ? -1 : 0, PARTS - 1, FIRST_PROGRAM},
#endif
#if SWITCHES
    {"Notes apart", 0, 1, 0},
#endif
    {NULL, 0, 0, 0},
};
static const char *const parts[] = JAWARI_PARTS;

struct address { int32_t id; int16_t channel, key; }; /* of a note, or of notes: -1 means any */
struct held { struct address note; uint8_t member; }; /* a member of 0: nobody */
struct apart { double value, swing; bool own, swings; }; /* what a parameter is for one note, and by how much more */

struct played {
    struct opened opened;
    struct workbench bench;
    _Atomic double value[ALL + 1];
    atomic_bool moved[ALL + 1], waits[ALL + 1]; /* by anybody; and not yet heard by the renderer */
    double swing[DIALS + 1]; /* how much more than its value each is for all notes, while it is modulated */
    struct apart apart[DIALS + 1][MEMBERS + 1];
    struct held held[HELD];
    uint8_t last, bent[MEMBERS + 1], pressed[MEMBERS + 1], bright[MEMBERS + 1];
    bool zone;
};

static void untouched(struct played *p)
{
    for (int n = 0; n < ALL; n++) atomic_store(&p->value[n], dials[n].own);
    sweep(&p->bench);
}

static bool open_played(struct played *p, const char *folder, double rate)
{
    if (!open_beside(&p->opened, folder, rate, ID, RATES)) return false;
    furnish(&p->bench, &p->opened, true);
    return true;
}

static void shut_played(struct played *p)
{
    clear_away(&p->bench);
    shut(&p->opened);
}

static void begin(struct played *p) /* as after opening: what was moved is moved again */
{
    memset(p->held, 0, sizeof p->held), memset(p->apart, 0, sizeof p->apart), memset(p->swing, 0, sizeof p->swing);
    memset(p->bent, 0, sizeof p->bent), memset(p->pressed, 0, sizeof p->pressed), memset(p->bright, 0, sizeof p->bright);
    p->last = 0, p->zone = false;
    for (int n = 0; n < ALL; n++) atomic_store(&p->waits[n], atomic_load(&p->moved[n]));
}

/* --- parameters ------------------------------------------------------------------------------------------------------- */

static uint32_t id_of(int n) { return n < PROGRAM ? ids[n] : PROGRAM_ID + (uint32_t)(n == APART); }

static int place(uint32_t id)
{
    for (int n = 0; n < ALL; n++)
        if (id_of(n) == id) return n;
    return -1;
}

static bool within(int n, double *value)
{
    if (n < 0 || !(fabs(*value) <= 1e30)) return false;
    if (*value < dials[n].low) *value = dials[n].low;
    if (*value > dials[n].high) *value = dials[n].high;
    return true;
}

static void move(struct played *p, uint32_t id, double value)
{
    int n = place(id);
    if (!within(n, &value)) return;
    atomic_store(&p->value[n], value);
    atomic_store(&p->moved[n], true);
    bool own = fabs(value - dials[n].own) <= 1e-9 * (dials[n].high - dials[n].low); /* but for rounding */
    if (n >= DIALS && n < PROGRAM) want(&p->bench, n - DIALS, own ? NAN : value);
    else atomic_store(&p->waits[n], true);
}

/* A parameter on one channel: its own value or all notes', more or less by modulation; where nobody moved it, MIDI's. */
static void point(struct played *p, int n, int channel)
{
    const struct apart *a = &p->apart[n][channel <= MEMBERS ? channel : 0];
    double swing = a->swings ? a->swing : p->swing[n], value = a->own ? a->value : atomic_load(&p->value[n]);
    bool moved = a->own || swing != 0.0 || atomic_load(&p->moved[n]);
    jawari_turn_channel(p->opened.instrument, n, channel, moved ? value + swing : NAN);
}

static void hear(struct played *p)
{
    if (DESIGNS) go_over(&p->bench, &p->opened.instrument);
    for (int n = 0; n < ALL; n++) {
        if (!atomic_exchange(&p->waits[n], false)) continue;
        double value = atomic_load(&p->value[n]);
        for (int c = 0; n < DIALS && c < 16; c++) point(p, n, c);
        if (n >= PROGRAM && n < APART && value > -0.5) jawari_take(p->opened.instrument, (int32_t)(value + 0.5));
    }
}

static bool to_text(int n, double value, char *text, uint32_t room)
{
    if (!within(n, &value)) return false;
    if (n >= APART) return snprintf(text, room, "%s", value > 0.5 ? "On" : "Off"), true;
    if (n >= PROGRAM) return snprintf(text, room, "%s", value < -0.5 ? "As the rack has it" : parts[(int)(value + 0.5)]), true;
    return snprintf(text, room, "%.4g%s%s", value / shown[n].one, *shown[n].unit ? " " : "", shown[n].unit), true;
}

static bool from_text(int n, const char *text, double *value)
{
    char *end;
    if (n < 0) return false;
    if (n >= APART && (!strcmp(text, "On") || !strcmp(text, "Off"))) return *value = text[1] == 'n', true;
    for (int k = 0; PARTS > 1 && n == PROGRAM && k < PARTS; k++)
        if (!strcmp(text, parts[k])) return *value = k, true;
    *value = strtod(text, &end) * (n < PROGRAM ? shown[n].one : 1.0);
    return end != text && within(n, value);
}

/* --- state: a word, how many, then a number and a value of each parameter that was moved ------------------------------- */

typedef bool transfer(void *stream, void *data, uint64_t bytes); /* all of them, or false */

static const char WORD[8] = {'j', 'a', 'w', 'a', 'r', 'i', ' ', '1'};
struct row { uint32_t id, nothing; double value; };

/* With what is known of a parameter and not heard yet, or NAN. */
static bool save_by(struct played *p, const double *known, transfer *write, void *stream)
{
    struct { char word[8]; uint64_t count; struct row row[ALL + 1]; } kept = {.count = 0};
    memcpy(kept.word, WORD, sizeof WORD);
    for (int n = 0; n < ALL; n++) {
        bool newer = known && known[n] == known[n];
        if (!newer && !atomic_load(&p->moved[n])) continue;
        kept.row[kept.count++] = (struct row){id_of(n), 0, newer ? known[n] : atomic_load(&p->value[n])};
    }
    return write(stream, &kept, 16 + kept.count * sizeof(struct row));
}

static bool load_by(struct played *p, transfer *read, void *stream) /* all of it, or nothing */
{
    struct { char word[8]; uint64_t count; } first;
    struct row row[MOST_ROWS];
    if (!read(stream, &first, sizeof first) || memcmp(first.word, WORD, sizeof WORD) || first.count > MOST_ROWS) return false;
    if (!read(stream, row, first.count * sizeof *row)) return false;
    for (uint64_t n = 0; n < first.count; n++)
        if (!(fabs(row[n].value) <= 1e30)) return false;
    for (uint64_t n = 0; n < first.count; n++) move(p, row[n].id, row[n].value);
    return true;
}

/* --- a block ---------------------------------------------------------------------------------------------------------- */

struct now {
    struct played *played;
    float *left, *right;
    uint32_t done, frames;
    void (*ended)(struct now *, uint32_t at, struct address); /* hears of notes that are nobody's any more; or NULL */
    const void *host; /* whom that tells it */
};

static void render(struct now *now, uint32_t to)
{
    if (to <= now->done) return;
    jawari_run(now->played->opened.instrument, (int32_t)(to - now->done), now->left + now->done, now->right + now->done);
    now->done = to;
}

static void hand_on(struct now *now, uint32_t frame, const uint8_t *data, int32_t size)
{
    for (;;) {
        uint32_t at = frame > now->done ? frame - now->done : 0;
        if (jawari_send(now->played->opened.instrument, (int32_t)at, data, size) || now->done >= now->frames) return;
        render(now, at ? frame : now->done + 1); /* more messages than can wait: play what is before them */
    }
}

static void send(struct now *now, uint32_t frame, int status, int first, int second)
{
    uint8_t data[3] = {(uint8_t)status, (uint8_t)first, (uint8_t)second};
    hand_on(now, frame, data, (status & 0xe0) == 0xc0 ? 2 : 3);
}

static uint8_t share(double value) { return (uint8_t)(fmin(fmax(value, 0.0), 1.0) * 127.0 + 0.5); }

static uint8_t struck(double velocity) { return share(velocity) ? share(velocity) : 1; } /* with 0 it would be a note off */

static void turn_on(struct now *now, uint32_t frame, uint32_t id, double value) /* a parameter, on its very frame */
{
    render(now, frame < now->frames ? frame : now->frames);
    move(now->played, id, value);
    hear(now->played);
}

/* --- notes on channels of their own: the members of MPE's lower zone ---------------------------------------------------- */

enum wish { TUNED, PRESSED, BRIGHTENED, PANNED, SWELLED }; /* in semitones; all others from 0 to 1 */

static void tune(struct now *now, uint32_t at, int member, double semitones)
{
    double bend = fmin(fmax(8192.0 + 8192.0 / RANGE * semitones, 0.0), 16383.0) + 0.5;
    send(now, at, 0xe0 | member, (int)bend & 127, (int)bend >> 7);
    now->played->bent[member] = (int)bend != 8192;
}

static int joined(struct now *now, uint32_t at, struct address note) /* the channel that a note is played on */
{
    struct played *p = now->played;
    if (!p->zone) {
        render(now, at < now->frames ? at : now->frames); /* what was sent before was for channels that stood alone */
        jawari_members(p->opened.instrument);
        p->zone = true;
    }
    bool busy[MEMBERS + 1] = {false};
    struct held *slot = NULL;
    for (int n = 0; n < HELD; n++) {
        busy[p->held[n].member] = true;
        if (!slot && !p->held[n].member) slot = &p->held[n];
    }
    int member = p->last % MEMBERS + 1;
    for (int n = 0; n < MEMBERS && busy[member]; n++) member = member % MEMBERS + 1; /* the one that is free longest */
    p->last = (uint8_t)member;
    if (slot) *slot = (struct held){note, (uint8_t)member};
    if (p->bent[member]) tune(now, at, member, 0.0);
    if (p->pressed[member]) send(now, at, 0xd0 | member, 0, 0);
    if (p->bright[member]) send(now, at, 0xb0 | member, 74, 64);
    p->pressed[member] = p->bright[member] = 0;
    for (int n = 0; n < DIALS; n++) {
        struct apart *a = &p->apart[n][member];
        if (!a->own && !a->swings) continue;
        render(now, at < now->frames ? at : now->frames);
        *a = (struct apart){0};
        point(p, n, member);
    }
    return member;
}

static bool meant(const struct held *held, struct address note)
{
    if (!held->member || (note.id >= 0 && held->note.id >= 0 && note.id != held->note.id)) return false;
    return (note.channel < 0 || note.channel == held->note.channel) && (note.key < 0 || note.key == held->note.key);
}

static int end(struct now *now, uint32_t at, struct address note, double velocity, bool choke) /* how many there were */
{
    int ended = 0;
    for (int n = 0; n < HELD; n++) {
        struct held *held = &now->played->held[n];
        if (!meant(held, note)) continue;
        if (choke) send(now, at, 0xb0 | held->member, 120, 0);
        else send(now, at, 0x80 | held->member, held->note.key & 127, share(velocity));
        held->member = 0, ended++;
        if (now->ended) now->ended(now, at, held->note);
    }
    return ended;
}

static void express(struct now *now, uint32_t at, struct address note, enum wish wish, double value)
{
    struct played *p = now->played;
    if (value != value) return;
    for (int n = 0; n < HELD; n++) {
        int member = p->held[n].member;
        if (!meant(&p->held[n], note)) continue;
        if (wish == TUNED) tune(now, at, member, value);
        if (wish == PRESSED) send(now, at, 0xd0 | member, share(value), 0), p->pressed[member] = 1;
        if (wish == BRIGHTENED) send(now, at, 0xb0 | member, 74, share(value)), p->bright[member] = 1;
        if (wish == PANNED) send(now, at, 0xb0 | member, 10, share(value));
        if (wish == SWELLED) send(now, at, 0xb0 | member, 11, share(value));
    }
}

/* A parameter's value for some notes, or how much more than that it is for them. */
static inline void move_apart(struct now *now, uint32_t at, struct address note, int n, double value, bool more)
{
    struct played *p = now->played;
    if (n < 0 || n >= DIALS || !(fabs(value) <= 1e30) || (!more && !within(n, &value))) return;
    render(now, at < now->frames ? at : now->frames);
    for (int k = 0; k < HELD; k++) {
        struct apart *a = &p->apart[n][p->held[k].member];
        if (!meant(&p->held[k], note)) continue;
        if (more) a->swing = value, a->swings = true;
        else a->value = value, a->own = true;
        point(p, n, p->held[k].member);
    }
}

static inline void swing(struct played *p, int n, double value) /* how much more it is for all */
{
    if (n < 0 || n >= DIALS || !(fabs(value) <= 1e30) || value == p->swing[n]) return;
    p->swing[n] = value;
    atomic_store(&p->waits[n], true);
}

#endif
