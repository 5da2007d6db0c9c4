/* What a host finds in the library: its one class, by the words of all three kinds of factory. Part of plugin.c. */

#if defined(_WIN32)
__declspec(dllimport) int GetModuleHandleExA(unsigned long flags, const char *inside, void **module);
__declspec(dllimport) unsigned long GetModuleFileNameA(void *module, char *path, unsigned long room);
#else
#include <dlfcn.h>
#endif

#define CATEGORY "Audio Module Class"
#define KINDS "Instrument|Synth"
#define SDK "VST 3.7.0"

static result factory_query(void *self, const uint8_t *id, void **found)
{
    static const uint8_t known[][16] = {UNKNOWN, FACTORY, FACTORY2, FACTORY3};
    for (int n = 0; n < 4; n++)
        if (!memcmp(id, known[n], 16)) return *found = self, DONE;
    return *found = NULL, NO_INTERFACE;
}

static uint32_t factory_users(void *self) { return (void)self, 1; } /* it is always there */

static result factory_maker(void *self, struct maker *found)
{
    return (void)self, *found = (struct maker){"Jawari", "", "", UNICODE}, DONE;
}

static int32_t factory_count(void *self) { return (void)self, 1; }

static result factory_class(void *self, int32_t n, struct class *found)
{
    (void)self;
    if (n) return BAD_ARGUMENT;
    *found = (struct class){.id = CLASS, .many = MANY, .category = CATEGORY};
    return snprintf(found->name, sizeof found->name, "%s", TITLE), DONE;
}

static result factory_class2(void *self, int32_t n, struct class2 *found)
{
    (void)self;
    if (n) return BAD_ARGUMENT;
    *found = (struct class2){.id = CLASS, .many = MANY, .category = CATEGORY, .kinds = KINDS, .vendor = "Jawari", .version = RELEASE, .sdk = SDK};
    return snprintf(found->name, sizeof found->name, "%s", TITLE), DONE;
}

static result factory_class3(void *self, int32_t n, struct class3 *found)
{
    (void)self;
    if (n) return BAD_ARGUMENT;
    *found = (struct class3){.id = CLASS, .many = MANY, .category = CATEGORY, .kinds = KINDS};
    wide(found->name, 64, TITLE), wide(found->vendor, 64, "Jawari"), wide(found->version, 64, RELEASE), wide(found->sdk, 64, SDK);
    return DONE;
}

static result factory_create(void *self, const uint8_t *class, const uint8_t *id, void **made)
{
    (void)self;
    struct own *o = memcmp(class, class_id, 16) ? NULL : calloc(1, sizeof *o);
    *made = NULL;
    if (!o) return NO_INTERFACE;
    o->component = &component, o->processor = &processor, o->controller = &controller;
    o->mapping = &mapping, o->wishes = &wishes, o->needs = &needs;
    atomic_init(&o->users, 1);
    o->rate = 44100.0;
    untouched(&o->played);
    for (int n = 0; n < (int)PLACES; n++) atomic_store(&o->shown[n], at_rest(n));
    result found = query(o, id, made);
    return unref(o), found;
}

static result factory_host(void *self, void *context) { return (void)self, (void)context, DONE; }

static char *resources(void) /* Contents/Resources/, where the library lies in another room of Contents */
{
    char path[4096] = "";
#if defined(_WIN32)
    void *module = NULL;
    if (!GetModuleHandleExA(6, (const char *)&folder, &module) || !GetModuleFileNameA(module, path, sizeof path - 1)) return NULL;
#else
    Dl_info info;
    char *whole = dladdr(&folder, &info) ? realpath(info.dli_fname, NULL) : NULL;
    snprintf(path, sizeof path, "%s", whole ? whole : "");
    free(whole);
#endif
    size_t size = strlen(path);
    for (int rooms = 0; size; size--)
        if ((path[size - 1] == '/' || path[size - 1] == '\\') && ++rooms == 2) break;
    char *made = malloc(size + 16);
    return made ? strcpy(made + size, "Resources/"), memcpy(made, path, size) : NULL;
}

OUTSIDE uint8_t ENTER(HANDED)
{
#if !defined(_WIN32)
    (void)module;
#endif
    return 1;
}

OUTSIDE uint8_t LEAVE(void)
{
    free(folder);
    folder = NULL;
    return 1;
}

OUTSIDE const struct factory **GetPluginFactory(void)
{
    static const struct factory made = {
        {factory_query, factory_users, factory_users}, factory_maker, factory_count, factory_class, factory_create,
        factory_class2, factory_class3, factory_host,
    };
    static const struct factory *place = &made;
    if (!folder) folder = resources();
    return &place;
}
