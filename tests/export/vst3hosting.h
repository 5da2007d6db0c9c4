/* What hosts of VST 3 hand in: changes of parameters, events, a stream in memory. Needs interface.h. */

#include <stdlib.h>
#include <string.h>

enum { QUEUES = 64, POINTS = 1024, TOLD = 4096, KEPT = 8192 };

struct queue { const struct points *table; uint32_t id; int32_t count; int32_t frame[POINTS]; double value[POINTS]; };
struct told { const struct changes *table; int32_t count; struct queue queue[QUEUES]; };
struct listed { const struct events *table; int32_t count; struct event event[TOLD]; };
struct kept { const struct stream *table; int32_t size, at, longest; char data[KEPT]; };

static result not_asked(void *self, const uint8_t *id, void **found) { return (void)self, (void)id, *found = NULL, NO_INTERFACE; }
static uint32_t one_user(void *self) { return (void)self, 1; }
#define ONE {not_asked, one_user, one_user}

static uint32_t queue_id(void *self) { return ((struct queue *)self)->id; }
static int32_t queue_count(void *self) { return ((struct queue *)self)->count; }
static result queue_get(void *self, int32_t n, int32_t *frame, double *value)
{
    struct queue *queue = self;
    if (n < 0 || n >= queue->count) return REFUSED;
    return *frame = queue->frame[n], *value = queue->value[n], DONE;
}
static result queue_add(void *self, int32_t frame, double value, int32_t *n)
{
    struct queue *queue = self;
    if (queue->count == POINTS) return REFUSED;
    return queue->frame[queue->count] = frame, queue->value[queue->count] = value, *n = queue->count++, DONE;
}
static const struct points points = {ONE, queue_id, queue_count, queue_get, queue_add};

static int32_t told_count(void *self) { return ((struct told *)self)->count; }
static const struct points **told_get(void *self, int32_t n)
{
    struct told *told = self;
    return n < 0 || n >= told->count ? NULL : &told->queue[n].table;
}
static const struct points **told_add(void *self, const uint32_t *id, int32_t *n)
{
    struct told *told = self;
    for (*n = 0; *n < told->count && told->queue[*n].id != *id; ++*n) {}
    if (*n == QUEUES) return NULL;
    if (*n == told->count) told->queue[told->count++] = (struct queue){.table = &points, .id = *id};
    return &told->queue[*n].table;
}
static const struct changes changes = {ONE, told_count, told_get, told_add};

static void tell(struct told *told, uint32_t id, int32_t frame, double value)
{
    int32_t n;
    const struct points **queue = told_add(told, &id, &n);
    if (queue) queue_add(queue, frame, value, &n);
}

static int32_t listed_count(void *self) { return ((struct listed *)self)->count; }
static result listed_get(void *self, int32_t n, struct event *event)
{
    struct listed *listed = self;
    return n < 0 || n >= listed->count ? REFUSED : (*event = listed->event[n], DONE);
}
static result listed_add(void *self, struct event *event)
{
    struct listed *listed = self;
    return listed->count == TOLD ? REFUSED : (listed->event[listed->count++] = *event, DONE);
}
static const struct events events = {ONE, listed_count, listed_get, listed_add};

static result kept_read(void *self, void *into, int32_t bytes, int32_t *took)
{
    struct kept *kept = self;
    *took = bytes < kept->longest ? bytes : kept->longest;
    *took = *took < kept->size - kept->at ? *took : kept->size - kept->at;
    memcpy(into, kept->data + kept->at, (size_t)*took);
    return kept->at += *took, DONE;
}
static result kept_write(void *self, void *from, int32_t bytes, int32_t *took)
{
    struct kept *kept = self;
    *took = bytes < kept->longest ? bytes : kept->longest;
    if (kept->at + *took > KEPT) return REFUSED;
    memcpy(kept->data + kept->at, from, (size_t)*took);
    return kept->at += *took, kept->size = kept->at, DONE;
}
static result kept_seek(void *self, int64_t at, int32_t from, int64_t *now)
{
    struct kept *kept = self;
    if (from) return REFUSED;
    return kept->at = (int32_t)at, now ? (*now = at, DONE) : DONE;
}
static result kept_tell(void *self, int64_t *at) { return *at = ((struct kept *)self)->at, DONE; }
static const struct stream stream = {ONE, kept_read, kept_write, kept_seek, kept_tell};

struct handed { struct told told; struct listed listed; };

static struct handed *hands(void)
{
    struct handed *made = calloc(1, sizeof *made);
    return made->told.table = &changes, made->listed.table = &events, made;
}

struct instance { /* a plugin, by all its faces */
    const struct component **component;
    const struct processor **processor;
    const struct controller **controller;
    const struct mapping **mapping;
    const struct wishes **wishes;
};

static const uint8_t ids_of[][16] = {PROCESSOR, CONTROLLER, MAPPING, WISHES, COMPONENT};

static int made_by(const struct factory **factory, struct instance *made)
{
    struct class class;
    if ((*factory)->class(factory, 0, &class) != DONE) return 0;
    if ((*factory)->create(factory, class.id, ids_of[4], (void **)&made->component) != DONE) return 0;
    void **faces[] = {(void **)&made->processor, (void **)&made->controller, (void **)&made->mapping, (void **)&made->wishes};
    for (int n = 0; n < 4; n++)
        if ((*made->component)->base.unknown.query(made->component, ids_of[n], faces[n]) != DONE) return 0;
    return (*made->component)->base.initialise(made->component, NULL) == DONE;
}

static uint32_t left(struct instance *made) /* who still uses it when this host does no longer */
{
    (*made->component)->base.terminate(made->component);
    (*made->wishes)->unknown.unref(made->wishes);
    (*made->mapping)->unknown.unref(made->mapping);
    (*made->controller)->base.unknown.unref(made->controller);
    (*made->processor)->unknown.unref(made->processor);
    return (*made->component)->base.unknown.unref(made->component);
}
