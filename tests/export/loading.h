/* How hosts here load libraries, on Linux, and on Windows, whose own header has words that are in the way. */

#include <stdint.h>
#include <stdio.h>

typedef int Callback(const void *, void *, unsigned long, const void *, unsigned long, void *);

#if defined(_WIN32)
__declspec(dllimport) void *LoadLibraryA(const char *path);
__declspec(dllimport) void *GetProcAddress(void *library, const char *name);
__declspec(dllimport) int _setmode(int file, int mode);
__declspec(dllimport) void Sleep(unsigned long milliseconds);
static inline void pause_for(int32_t milliseconds) { Sleep((unsigned long)milliseconds); }
static Callback *(*const guard_wrap)(Callback *) = NULL; /* nothing guards blocks there */
#else
#include <time.h>
extern Callback *guard_wrap(Callback *callback) __attribute__((weak));
static inline void pause_for(int32_t milliseconds) /* between blocks, for threads that have something to do */
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}
#endif

#if defined(INSIDE) /* there is nothing to load */
#elif defined(_WIN32)
static void *loaded(const char *path) { return _setmode(1, 0x8000), LoadLibraryA(path); } /* and what is written is no text */
static void *symbol(void *library, const char *name) { return GetProcAddress(library, name); }
#else
#include <dlfcn.h>
static void *loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library;
}
static void *symbol(void *library, const char *name) { return dlsym(library, name); }
#endif
