/* Many VST 3 plugins on many threads, each told whatever may come, and made anew again and again.

   vst3storm BLOCKS TIMES THREADS SEED RATE OTHER_RATE: in every block random points of random parameters, some unknown,
   some no numbers, some out of order or beyond the block, and random events, with blocks of 0 to 2000 frames. Between
   blocks states are kept and loaded, and parameters shown. What comes out must be numbers within reason. The plugin is
   part of the program, so that the sanitizers see all of it. */

#include "interface.h"
#include "vst3hosting.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { LONGEST_BLOCK = 2000 };
static int blocks, times;
static double rates[2];

struct work { uint64_t state; int failed; };

static uint32_t chance(struct work *work, uint32_t below) /* xorshift */
{
    work->state ^= work->state << 13, work->state ^= work->state >> 7, work->state ^= work->state << 17;
    return (uint32_t)(work->state >> 33) % below;
}

static double odd(struct work *work)
{
    static const double strange[] = {NAN, INFINITY, -INFINITY, -1.0, 2.0, 1e300, 0.0, 1.0};
    return chance(work, 20) ? chance(work, 1001) / 1000.0 : strange[chance(work, 8)];
}

static void change(struct work *work, struct instance *one, struct told *told)
{
    int32_t count = (*one->controller)->count(one->controller);
    for (told->count = 0; chance(work, 3);) {
        struct parameter facts = {.id = chance(work, 1u << 19)};
        if (chance(work, 10)) (*one->controller)->get(one->controller, (int32_t)chance(work, (uint32_t)count), &facts);
        for (uint32_t n = chance(work, 6); n; n--) tell(told, facts.id, (int32_t)chance(work, 2200) - 50, odd(work));
    }
}

static void happen(struct work *work, struct listed *listed)
{
    static const uint8_t octets[600] = {0xf0, 0x7f, 0x7f, 8, 2, 0, 1, 60, 61, 0, 0, 0xf7};
    listed->count = 0;
    for (uint32_t n = chance(work, 12); n; n--) {
        struct event e = {.frame = (int32_t)chance(work, 2200) - 50, .type = (uint16_t)chance(work, 7)};
        int32_t id = (int32_t)chance(work, 30) - 5;
        int16_t channel = (int16_t)(chance(work, 20) - 2), key = (int16_t)(chance(work, 140) - 5);
        if (e.type == NOTE_ON) e.on.channel = channel, e.on.key = key, e.on.cents = (float)odd(work), e.on.velocity = (float)odd(work), e.on.id = id;
        if (e.type == NOTE_OFF) e.off.channel = channel, e.off.key = key, e.off.velocity = (float)odd(work), e.off.id = id;
        if (e.type == DATA) e.data.bytes = chance(work, 9) ? octets : NULL, e.data.size = chance(work, 3) ? 12 : chance(work, 600), e.data.type = chance(work, 5) == 0;
        if (e.type == KEY_PRESSURE) e.pressure.channel = channel, e.pressure.key = key, e.pressure.pressure = (float)odd(work), e.pressure.id = id;
        if (e.type == EXPRESSION) e.expression.kind = chance(work, 8), e.expression.id = id, e.expression.value = odd(work);
        listed_add(listed, &e);
    }
}

static int storm(struct work *work, struct instance *one, struct handed *handed, struct kept *kept)
{
    static _Thread_local float left_side[LONGEST_BLOCK], right[LONGEST_BLOCK];
    for (int n = 0; n < blocks; n++) {
        int32_t frames = (int32_t)chance(work, chance(work, 2) ? LONGEST_BLOCK + 1 : 65);
        struct sound sound = {2, 0, {(float *[]){left_side, right}}};
        struct block block = {0, 0, frames, 0, frames != 0, NULL, &sound, &handed->told.table, NULL, &handed->listed.table, NULL, NULL};
        change(work, one, &handed->told), happen(work, &handed->listed);
        if (!chance(work, 9)) block.told = NULL, block.events = NULL;
        if ((*one->processor)->process(one->processor, &block) != DONE) return 1;
        for (int32_t k = 0; k < frames; k++)
            if (!(fabsf(left_side[k]) < 1e6f && fabsf(right[k]) < 1e6f)) return 2;
        if (!chance(work, 30)) kept->at = 0, (*one->component)->save(one->component, &kept->table);
        if (!chance(work, 30)) kept->at = 0, (*one->component)->load(one->component, &kept->table);
        if (!chance(work, 90)) (*one->processor)->begin(one->processor, (uint8_t)chance(work, 2));
        (*one->controller)->show(one->controller, chance(work, 6), odd(work));
    }
    return 0;
}

static void *worked(void *given)
{
    struct work *work = given;
    struct handed *handed = hands();
    for (int n = 0; n < times && !work->failed; n++) {
        struct instance one, other;
        struct kept kept = {.table = &stream, .longest = 4096};
        const struct factory **factory = GetPluginFactory();
        if (!made_by(factory, &one) || !made_by(factory, &other)) work->failed = 3;
        else if ((*one.processor)->setup(one.processor, &(struct setup){0, 0, LONGEST_BLOCK, rates[n % 2]}) != DONE) work->failed = 4;
        else if ((*one.component)->active(one.component, 1) != DONE || (*one.component)->active(one.component, 1) != DONE) work->failed = 5;
        else if ((work->failed = storm(work, &one, handed, &kept))) {}
        else if (chance(work, 2) && (*one.component)->active(one.component, 0) != DONE) work->failed = 6; /* or deleted as it is */
        if (!work->failed && (left(&one) || left(&other))) work->failed = 7;
    }
    free(handed);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    struct work work[16];
    if (argc != 7 || atoi(argv[3]) > 16) return 2;
    blocks = atoi(argv[1]), times = atoi(argv[2]), rates[0] = atof(argv[5]), rates[1] = atof(argv[6]);
    if (!ENTER(NULL)) return 3;
    int many = atoi(argv[3]), failed = 0;
    GetPluginFactory(); /* as hosts do, once, before anything else */
    for (int n = 0; n < many; n++) {
        work[n] = (struct work){88172645463325252u + 7919u * (uint64_t)(atoi(argv[4]) + n), 0};
        if (pthread_create(&threads[n], NULL, worked, &work[n])) return 4;
    }
    for (int n = 0; n < many; n++) pthread_join(threads[n], NULL), failed = failed ? failed : work[n].failed;
    LEAVE();
    if (failed) fprintf(stderr, "failed: %d\n", failed);
    return failed;
}
