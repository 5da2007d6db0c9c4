/* A host of CLAP that has nothing but the interface's own declarations.

   claphost LIBRARY RATE EVENTS FRAMES TIMES > SOUND: events are rows as below. The plugin is made, asked for all that it
   has, and activated so many times, reset in between, and must sound the same; its state is saved, loaded by another one
   and saved again; states that are damaged, blocks on the wrong thread, an id that is none must be refused. Built with
   -DINSIDE the plugin is part of the program, so that the sanitizers see all of it. */

#include "interface.h"
#include "loading.h"

#include <stdlib.h>
#include <string.h>

enum { IS_MIDI, IS_ON, IS_OFF, IS_EXPRESSION, IS_PARAMETER, IS_TUNING, IS_PAUSE, IS_MODULATION };
struct row { int64_t frame; int32_t kind, number, channel, key; double value; };
union any { struct head head; struct note note; struct expression expression; struct parameter parameter; struct midi midi; struct sysex sysex; };

static const struct plugin *plugin;
static union any told[4096];
static uint32_t waiting;
static bool audio;
static char kept[4096], again[4096];
static uint64_t size, taken, longest = 7; /* what a stream takes at once */

static bool is_main(const struct host *host) { return (void)host, !audio; }
static bool is_audio(const struct host *host) { return (void)host, audio; }
static const void *offered(const struct host *host, const char *name)
{
    static const struct threads threads = {is_main, is_audio};
    (void)host;
    return strcmp(name, THREADS) ? NULL : &threads;
}
static void asked(const struct host *host) { (void)host; }
static const struct host host = {OURS, NULL, "test", "", "", "1", offered, asked, asked, asked};

static uint32_t count(const struct incoming *events) { return (void)events, waiting; }
static const struct head *at(const struct incoming *events, uint32_t n) { return (void)events, &told[n].head; }
static uint32_t ended; /* notes, as the plugin says */
static bool push(const struct outgoing *answers, const struct head *head)
{
    const struct note *note = (const struct note *)head;
    if (head->type != NOTE_END || head->size != sizeof *note || note->key < 0 || note->channel < 0) exit(40);
    return (void)answers, ended++, true;
}
static const struct incoming incoming = {NULL, count, at};
static const struct outgoing outgoing = {NULL, push};

static int64_t writes(const struct written *to, const void *data, uint64_t bytes)
{
    bytes = bytes < longest ? bytes : longest;
    memcpy((char *)to->context + size, data, bytes);
    size += bytes;
    return (int64_t)bytes;
}
static int64_t reads(const struct read *from, void *data, uint64_t bytes)
{
    bytes = bytes < longest ? bytes : longest;
    bytes = bytes < size - taken ? bytes : size - taken;
    memcpy(data, (char *)from->context + taken, bytes);
    taken += bytes;
    return (int64_t)bytes;
}

static const uint8_t *tuning(int key, int code) /* of MIDI's tuning standard; kept until 64 more were asked for */
{
    static uint8_t kept[64][12];
    static int next;
    uint8_t whole[] = {0xf0, 0x7f, 0x7f, 8, 2, 0, 1, (uint8_t)key, (uint8_t)(code >> 14), code >> 7 & 127, code & 127, 0xf7};
    return memcpy(kept[next = (next + 1) % 64], whole, sizeof whole);
}

static union any event(const struct row *row, uint32_t time)
{
    union any made = {.head = {0, time, 0, 0, 0}};
    int16_t channel = (int16_t)row->channel, key = (int16_t)row->key;
    struct head head = {0, time, 0, 0, 0};
    if (row->kind == IS_MIDI) {
        head.type = MIDI, head.size = sizeof made.midi;
        made.midi = (struct midi){head, 0, {(uint8_t)row->number, (uint8_t)(row->number >> 8), (uint8_t)(row->number >> 16)}};
    } else if (row->kind == IS_ON || row->kind == IS_OFF) {
        head.type = row->kind == IS_ON ? NOTE_ON : NOTE_OFF, head.size = sizeof made.note;
        made.note = (struct note){head, row->number, 0, channel, key, row->value};
    } else if (row->kind == IS_EXPRESSION) {
        head.type = EXPRESSION, head.size = sizeof made.expression;
        made.expression = (struct expression){head, row->number, -1, 0, channel, key, row->value};
    } else if (row->kind == IS_TUNING) {
        head.type = SYSEX, head.size = sizeof made.sysex;
        made.sysex = (struct sysex){head, 0, tuning(row->key, row->number), 12};
    } else {
        head.type = row->kind == IS_MODULATION ? MODULATION : PARAMETER, head.size = sizeof made.parameter;
        made.parameter = (struct parameter){head, (uint32_t)row->number, NULL, -1, 0, channel, key, row->value};
    }
    return made;
}

static int play(const void *in, void *out, unsigned long span, const void *clock, unsigned long flags, void *user)
{
    struct sound sound = {user, NULL, 2, 0, 0};
    struct block block = {-1, (uint32_t)span, NULL, NULL, &sound, 0, 1, &incoming, &outgoing};
    (void)in, (void)out, (void)clock, (void)flags;
    audio = true;
    int32_t result = plugin->process(plugin, &block);
    audio = false;
    if (result != GO_ON) exit(5);
    return 0;
}

static void ask(uint32_t *parameters) /* everything that a host may want to know */
{
    const struct parameters *dials = plugin->extension(plugin, PARAMETERS);
    const struct audio_ports *sounds = plugin->extension(plugin, AUDIO_PORTS);
    const struct note_ports *notes = plugin->extension(plugin, NOTE_PORTS);
    const struct voices *voices = plugin->extension(plugin, VOICES);
    struct crowd crowd;
    struct audio_port port;
    struct note_port in;
    if (!dials || !sounds || !notes || plugin->extension(plugin, "none")) exit(10);
    if (sounds->count(plugin, true) || sounds->count(plugin, false) != 1 || !sounds->get(plugin, 0, false, &port)) exit(11);
    if (port.channels != 2 || notes->count(plugin, false) || !notes->get(plugin, 0, true, &in) || !(in.known & MPE)) exit(12);
    if (!voices || (voices->get(plugin, &crowd) && crowd.most < 2)) exit(41);
    *parameters = dials->count(plugin);
    for (uint32_t n = 0; n < *parameters; n++) {
        struct facts facts;
        double value, back;
        char text[64];
        if (!dials->get(plugin, n, &facts) || !dials->value(plugin, facts.id, &value)) exit(13);
        if (!(facts.low <= value && value <= facts.high && facts.low < facts.high) || value != facts.own) exit(14);
        if (!dials->to_text(plugin, facts.id, facts.high, text, sizeof text)) exit(15);
        if (!dials->from_text(plugin, facts.id, text, &back)) exit(16);
        if (back < facts.high - 1e-3 * (facts.high - facts.low)) exit(17);
        if ((facts.flags & MODULATED_ALONE) && !(facts.flags & MODULATED)) exit(19);
        const char *moves = facts.flags & MODULATED_ALONE ? " (of each note)" : facts.flags & MODULATED ? " (of all)" : "";
        fprintf(stderr, "%u %s: %s%s\n", facts.id, facts.name, text, moves);
    }
    if (dials->get(plugin, *parameters, &(struct facts){0}) || dials->value(plugin, 9999, &(double){0})) exit(18);
}

static void keep(const struct factory *factory) /* its state, by another one of its kind */
{
    const struct plugin *other = factory->create(factory, &host, factory->describe(factory, 0)->id);
    const struct state *state = plugin->extension(plugin, STATE);
    if (!other || !other->init(other) || !state->save(plugin, &(struct written){kept, writes})) exit(20);
    uint64_t whole = size;
    for (size = 0; size < whole; size++)
        if (taken = 0, state->load(other, &(struct read){kept, reads})) exit(21); /* a part of it */
    kept[3] ^= 1, size = whole, taken = 0;
    if (state->load(other, &(struct read){kept, reads})) exit(22);
    kept[3] ^= 1, taken = 0;
    if (!state->load(other, &(struct read){kept, reads})) exit(23);
    size = 0;
    if (!state->save(other, &(struct written){again, writes}) || size != whole || memcmp(kept, again, whole)) exit(24);
    other->destroy(other);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1, 64, 333, 0, 128, 1024, 5, 8192};
    if (argc != 6) return 2;
    const struct entry *entry;
#ifdef INSIDE
    entry = &clap_entry;
#else
    void *library = loaded(argv[1]);
    if (!library) return 2;
    entry = symbol(library, "clap_entry");
    if (!entry || symbol(library, "jawari_run")) return 3;
#endif
    if (!entry->init(argv[1]) || entry->factory("none")) return 4;
    const struct factory *factory = entry->factory(FACTORY);
    if (factory->count(factory) != 1 || factory->describe(factory, 1) || factory->create(factory, &host, "none")) return 6;
    plugin = factory->create(factory, &host, factory->describe(factory, 0)->id);
    uint32_t parameters, frames = (uint32_t)atoi(argv[4]), times = (uint32_t)atoi(argv[5]);
    if (!plugin || !plugin->init(plugin)) return 7;
    ask(&parameters);
    float *left = calloc(frames, 8), *right = left + frames, *first = NULL;
    struct sound none = {(float *[]){left, right}, NULL, 2, 0, 0};
    if (plugin->process(plugin, &(struct block){.frames = 1, .out = &none, .outs = 1}) != FAILED) return 8; /* not active */
    if (plugin->activate(plugin, 1.0, 1, 8192) || (audio = true, plugin->activate(plugin, atof(argv[2]), 1, 8192))) return 9;
    audio = false;
    FILE *file = fopen(argv[3], "rb");
    static struct row rows[1 << 16];
    size_t all = fread(rows, sizeof *rows, 1 << 16, file);
    fclose(file);
    for (uint32_t n = 0; n < times; n++) {
        if (n % 2 == 0 && !plugin->activate(plugin, atof(argv[2]), 1, 8192)) return 30;
        if (plugin->activate(plugin, atof(argv[2]), 1, 8192)) return 31; /* it is */
        const struct rendering *rendering = plugin->extension(plugin, RENDER);
        if (rendering->in_time_only(plugin) || !rendering->set(plugin, n % 3 == 2 ? OFFLINE : 0)) return 34;
        audio = true;
        if (n % 2) plugin->reset(plugin);
        if (!plugin->start(plugin)) return 32;
        audio = false;
        size_t next = 0;
        uint32_t now = 0;
        memset(left, 0, (size_t)frames * 8);
        for (int turn = 0; now < frames; turn = (turn + 1) % 8) {
            uint32_t span = sizes[turn] < frames - now ? sizes[turn] : frames - now;
            for (waiting = 0; next < all && rows[next].frame < now + span; next++) {
                if (rows[next].kind == IS_PAUSE) pause_for(rows[next].number);
                else told[waiting++] = event(&rows[next], (uint32_t)rows[next].frame - now);
            }
            float *here[] = {left + now, right + now};
            (guard_wrap ? guard_wrap(play) : play)(NULL, NULL, span, NULL, 0, here);
            now += span;
        }
        if (!n) fprintf(stderr, "ended %u\n", ended);
        if (!n) fprintf(stderr, "latency %u\n", ((const struct latency *)plugin->extension(plugin, LATENCY))->get(plugin));
        plugin->stop(plugin);
        if (n % 2 || n + 1 == times) plugin->deactivate(plugin);
        if (!first) memcpy(first = malloc((size_t)frames * 8), left, (size_t)frames * 8);
        else if (memcmp(first, left, (size_t)frames * 8)) return 33;
    }
    keep(factory);
    plugin->destroy(plugin);
    int whole = fwrite(left, 8, frames, stdout) == frames;
    free(first), free(left);
    entry->deinit();
    return !whole;
}
