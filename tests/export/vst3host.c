/* A host of VST 3 that has nothing but the interface's own declarations.

   vst3host LIBRARY RATE EVENTS FRAMES TIMES > SOUND: events are rows as below; MIDI goes as such hosts do: notes as
   events, controllers, pressure and the wheel as parameters, each as the plugin maps it. The plugin is made, asked for all
   that it has, and played so many times, each from the start, and must sound the same; its state is saved, loaded by
   another one and saved again; damaged states, blocks and rates that it has none for must be refused. Built with -DINSIDE
   the plugin is part of the program, so that the sanitizers see all of it. */

#include "interface.h"
#include "loading.h"
#include "vst3hosting.h"

#define WORD(name) #name
#define AS_WORD(name) WORD(name)

enum { IS_MIDI, IS_ON, IS_OFF, IS_EXPRESSION, IS_PARAMETER, IS_TUNING, IS_PAUSE };
struct row { int64_t frame; int32_t kind, number, channel, key; double value; };

static struct instance plugin;
static struct handed *handed;

static const uint8_t *tuning(int key, int code) /* of MIDI's tuning standard; kept until 64 more were asked for */
{
    static uint8_t kept[64][12];
    static int next;
    uint8_t whole[] = {0xf0, 0x7f, 0x7f, 8, 2, 0, 1, (uint8_t)key, (uint8_t)(code >> 14), code >> 7 & 127, code & 127, 0xf7};
    return memcpy(kept[next = (next + 1) % 64], whole, sizeof whole);
}

static void control(int32_t frame, int channel, int number, double value)
{
    uint32_t id;
    if ((*plugin.mapping)->get(plugin.mapping, 0, (int16_t)channel, (int16_t)number, &id) == DONE) tell(&handed->told, id, frame, value);
}

static void midi(int32_t frame, int status, int first, int second)
{
    struct event event = {.frame = frame, .type = (status & 0xf0) == 0x90 && second ? NOTE_ON : NOTE_OFF};
    int16_t channel = status & 15;
    float velocity = (float)second / 127.0f;
    if (event.type == NOTE_ON) event.on.channel = channel, event.on.key = (int16_t)first, event.on.velocity = velocity, event.on.id = -1;
    else event.off.channel = channel, event.off.key = (int16_t)first, event.off.velocity = velocity, event.off.id = -1;
    if ((status & 0xe0) == 0x80) listed_add(&handed->listed, &event);
    else if ((status & 0xf0) == 0xb0) control(frame, channel, first, second / 127.0);
    else if ((status & 0xf0) == 0xd0) control(frame, channel, PRESSURE, first / 127.0);
    else if ((status & 0xf0) == 0xe0) control(frame, channel, WHEEL, (second << 7 | first) / 16383.0);
}

static void say(const struct row *row, int32_t frame)
{
    struct event event = {.frame = frame};
    int16_t channel = (int16_t)row->channel, key = (int16_t)row->key;
    if (row->kind == IS_MIDI) {
        midi(frame, row->number & 255, row->number >> 8 & 127, row->number >> 16 & 127);
        return;
    }
    if (row->kind == IS_PARAMETER) {
        double share = (*plugin.controller)->share(plugin.controller, (uint32_t)row->number, row->value);
        tell(&handed->told, (uint32_t)row->number, frame, share);
        return;
    }
    if (row->kind == IS_ON) event.type = NOTE_ON, event.on.id = row->number, event.on.channel = channel, event.on.key = key, event.on.velocity = (float)row->value;
    if (row->kind == IS_OFF) event.type = NOTE_OFF, event.off.id = row->number, event.off.channel = channel, event.off.key = key, event.off.velocity = (float)row->value;
    if (row->kind == IS_EXPRESSION && row->number < 0) { /* of one key, as keys say it */
        event.type = KEY_PRESSURE, event.pressure.channel = channel, event.pressure.key = key;
        event.pressure.pressure = (float)row->value, event.pressure.id = -1;
    } else if (row->kind == IS_EXPRESSION) event.type = EXPRESSION, event.expression.kind = (uint32_t)row->number, event.expression.id = key, event.expression.value = row->value;
    if (row->kind == IS_TUNING) event.type = DATA, event.data.size = 12, event.data.type = 0, event.data.bytes = tuning(key, row->number);
    listed_add(&handed->listed, &event);
}

static int play(const void *in, void *out, unsigned long span, const void *clock, unsigned long flags, void *user)
{
    struct sound sound = {2, 3, {user}};
    struct block block = {0, 0, (int32_t)span, 0, 1, NULL, &sound, &handed->told.table, NULL, &handed->listed.table, NULL, NULL};
    (void)in, (void)out, (void)clock, (void)flags;
    if ((*plugin.processor)->process(plugin.processor, &block) != DONE || (span && sound.silent)) exit(5);
    return 0;
}

static void ascii(char *to, const uint16_t *from)
{
    while (*from) *to++ = (char)*from++;
    *to = 0;
}

static void ask(void) /* everything that a host may want to know */
{
    const struct controller **c = plugin.controller;
    struct bus bus;
    struct parameter facts;
    uint64_t speakers = STEREO, other = 1;
    if ((*plugin.component)->buses(plugin.component, AUDIO, IN) || (*plugin.component)->buses(plugin.component, AUDIO, OUT) != 1) exit(10);
    if ((*plugin.component)->bus(plugin.component, AUDIO, OUT, 0, &bus) != DONE || bus.channels != 2) exit(11);
    if ((*plugin.component)->bus(plugin.component, EVENTS, IN, 0, &bus) != DONE || bus.channels != 16) exit(11);
    if ((*plugin.component)->bus(plugin.component, EVENTS, IN, 1, &bus) == DONE) exit(11);
    if ((*plugin.processor)->arrange(plugin.processor, NULL, 0, &speakers, 1) != DONE) exit(12);
    if ((*plugin.processor)->arrange(plugin.processor, NULL, 0, &other, 1) == DONE || (*plugin.processor)->takes(plugin.processor, 1) == DONE) exit(12);
    for (int32_t n = 0; n < (*c)->count(c); n++) {
        words text;
        char name[256], said[256];
        double back = -1.0;
        if ((*c)->get(c, n, &facts) != DONE || (*c)->value(c, facts.id) != facts.first) exit(13);
        if (!(facts.first >= 0.0 && facts.first <= 1.0)) exit(14);
        if ((*c)->to_text(c, facts.id, 1.0, text) != DONE || (*c)->from_text(c, facts.id, text, &back) != DONE) exit(15);
        if (back < 0.999 || back > 1.001) exit(16);
        double plain = (*c)->plain(c, facts.id, 0.25), low = (*c)->plain(c, facts.id, 0.0), step = facts.steps ? 1.0 / facts.steps : 0.0;
        if (plain < low || (*c)->share(c, facts.id, plain) < 0.25 - 1e-9 - step || (*c)->share(c, facts.id, plain) > 0.25 + 1e-9 + step) exit(17);
        ascii(name, facts.title), ascii(said, text);
        fprintf(stderr, "%u %s: %s\n", facts.id, name, said);
    }
    if ((*c)->get(c, (*c)->count(c), &facts) == DONE || (*c)->show(c, 9999, 0.5) == DONE || (*c)->view(c, "editor")) exit(18);
    uint32_t id;
    if ((*plugin.mapping)->get(plugin.mapping, 0, 16, 1, &id) == DONE || (*plugin.mapping)->get(plugin.mapping, 0, 0, 3, &id) == DONE) exit(19);
    for (int32_t n = 0; n < (*plugin.wishes)->count(plugin.wishes, 0, 0); n++) {
        struct wished wished;
        words text;
        double back;
        if ((*plugin.wishes)->get(plugin.wishes, 0, 0, n, &wished) != DONE) exit(19);
        if ((*plugin.wishes)->to_text(plugin.wishes, 0, 0, wished.kind, 0.625, text) != DONE) exit(19);
        if ((*plugin.wishes)->from_text(plugin.wishes, 0, 0, wished.kind, text, &back) != DONE || back < 0.615 || back > 0.635) exit(19);
    }
}

static void keep(const struct factory **factory) /* its state, by another one of its kind */
{
    static struct kept kept = {.table = &stream, .longest = 7}, again = {.table = &stream, .longest = 7};
    struct instance other;
    struct parameter first;
    if ((*plugin.controller)->get(plugin.controller, 0, &first) != DONE) exit(20);
    if ((*plugin.controller)->show(plugin.controller, first.id, 0.5) != DONE) exit(20); /* and not played */
    if (!made_by(factory, &other) || (*plugin.component)->save(plugin.component, &kept.table) != DONE) exit(20);
    int32_t whole = kept.size;
    for (kept.size = 0; kept.size < whole; kept.size++)
        if (kept.at = 0, (*other.component)->load(other.component, &kept.table) == DONE) exit(21); /* a part of it */
    kept.data[3] ^= 1, kept.at = 0;
    if ((*other.component)->load(other.component, &kept.table) == DONE) exit(22);
    kept.data[3] ^= 1, kept.at = 0;
    if ((*other.component)->load(other.component, &kept.table) != DONE) exit(23);
    if ((*other.controller)->whole(other.controller, &kept.table) != DONE) exit(23);
    double kept_share = (*other.controller)->value(other.controller, first.id) - 0.5;
    if (kept_share < -1e-9 || kept_share > 1e-9) exit(26);
    if ((*other.component)->save(other.component, &again.table) != DONE || again.size != whole || memcmp(kept.data, again.data, (size_t)whole)) exit(24);
    fprintf(stderr, "state of %d parameters\n", (whole - 16) / 16);
    if (left(&other)) exit(25);
}

static const struct factory **opened(const char *path)
{
#ifdef INSIDE
    (void)path;
    return ENTER(NULL) ? GetPluginFactory() : NULL;
#else
    void *library = loaded(path);
    if (!library) exit(2);
    if (symbol(library, "jawari_run")) exit(3);
    uint8_t (*enter)(void *) = (uint8_t (*)(void *))symbol(library, AS_WORD(ENTER));
    const struct factory **(*find)(void) = (const struct factory **(*)(void))symbol(library, "GetPluginFactory");
    return enter && find && symbol(library, AS_WORD(LEAVE)) && enter(library) ? find() : NULL;
#endif
}

static void look(const struct factory **factory)
{
    static const uint8_t nobody[16] = {1}, wide[16] = FACTORY3;
    void *found;
    struct maker maker;
    struct class2 class2;
    struct class3 class3;
    if (!factory || (*factory)->count(factory) != 1 || (*factory)->maker(factory, &maker) != DONE) exit(6);
    if ((*factory)->unknown.query(factory, wide, &found) != DONE || (*factory)->unknown.query(factory, nobody, &found) == DONE) exit(6);
    if ((*factory)->class2(factory, 0, &class2) != DONE || (*factory)->class3(factory, 0, &class3) != DONE) exit(6);
    if ((*factory)->class2(factory, 1, &class2) == DONE || (*factory)->create(factory, nobody, ids_of[4], &found) == DONE) exit(6);
    if (strcmp(class2.kinds, "Instrument|Synth")) exit(6);
    for (int n = 0; n < 16; n++) fprintf(stderr, "%02X", class2.id[n]);
    fprintf(stderr, " %s\n", class2.name);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1, 64, 333, 0, 128, 1024, 5, 8192};
    if (argc != 6) return 2;
    const struct factory **factory = opened(argv[1]);
    look(factory);
    uint32_t frames = (uint32_t)atoi(argv[4]), times = (uint32_t)atoi(argv[5]);
    handed = hands();
    if (!made_by(factory, &plugin)) return 7;
    ask();
    float *left_side = calloc(frames, 8), *right = left_side + frames, *first = NULL;
    struct sound none = {2, 0, {(float *[]){left_side, right}}};
    left_side[0] = 1.0f;
    if ((*plugin.processor)->process(plugin.processor, &(struct block){.frames = 1, .out = &none, .outs = 1}) == DONE || left_side[0] != 0.0f) return 8; /* not active */
    if ((*plugin.processor)->setup(plugin.processor, &(struct setup){0, 0, 8192, 1.0}) == DONE) return 9;
    if ((*plugin.component)->active(plugin.component, 1) == DONE) return 9;
    FILE *file = fopen(argv[3], "rb");
    static struct row rows[1 << 16];
    size_t all = fread(rows, sizeof *rows, 1 << 16, file);
    fclose(file);
    for (uint32_t n = 0, late = 0; n < times; n++) {
        struct setup setup = {n % 3 == 2 ? 2 : 0, 0, 8192, atof(argv[2])}; /* offline, too */
        if (n % 2 == 0) {
            if ((*plugin.processor)->setup(plugin.processor, &setup) != DONE) return 30;
            late = (*plugin.processor)->latency(plugin.processor); /* hosts ask for it before they begin */
            if ((*plugin.component)->active(plugin.component, 1) != DONE) return 30;
        }
        if ((*plugin.processor)->setup(plugin.processor, &setup) == DONE) return 31; /* it is active */
        if ((*plugin.processor)->begin(plugin.processor, 1) != DONE) return 32;
        size_t next = 0;
        uint32_t now = 0;
        memset(left_side, 0, (size_t)frames * 8);
        for (int turn = 0; now < frames; turn = (turn + 1) % 8) {
            uint32_t span = sizes[turn] < frames - now ? sizes[turn] : frames - now;
            handed->told.count = handed->listed.count = 0;
            for (; next < all && rows[next].frame < now + span; next++) {
                if (rows[next].kind == IS_PAUSE) pause_for(rows[next].number);
                else say(&rows[next], (int32_t)(rows[next].frame - now));
            }
            float *here[] = {left_side + now, right + now};
            (guard_wrap ? guard_wrap(play) : play)(NULL, NULL, span, NULL, 0, here);
            now += span;
        }
        if ((*plugin.processor)->latency(plugin.processor) != late) return 35;
        if (!n) fprintf(stderr, "latency %u\n", late);
        (*plugin.processor)->begin(plugin.processor, 0);
        if (n % 2 || n + 1 == times) (*plugin.component)->active(plugin.component, 0);
        if (!first) memcpy(first = malloc((size_t)frames * 8), left_side, (size_t)frames * 8);
        else if (memcmp(first, left_side, (size_t)frames * 8)) return 33;
    }
    keep(factory);
    if (left(&plugin)) return 34;
    int whole = fwrite(left_side, 8, frames, stdout) == frames;
    free(first), free(left_side), free(handed);
#ifdef INSIDE
    LEAVE();
#endif
    return !whole;
}
