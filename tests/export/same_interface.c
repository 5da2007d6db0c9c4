/* That our declarations of LV2 are those of its own headers: compiled where these are installed. */

#define lv2_descriptor our_descriptor /* both declare it */
#include "interface.h"
#undef lv2_descriptor

#include <lv2/atom/atom.h>
#include <lv2/core/lv2.h>
#include <lv2/midi/midi.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>
#include <stddef.h>
#include <string.h>

#define SAME(ours, mine, theirs, its) \
    _Static_assert(offsetof(ours, mine) == offsetof(theirs, its), #mine); \
    _Static_assert(sizeof(((ours *)0)->mine) == sizeof(((theirs *)0)->its), #mine)

_Static_assert(sizeof(struct feature) == sizeof(LV2_Feature), "feature");
SAME(struct feature, uri, LV2_Feature, URI);
SAME(struct feature, data, LV2_Feature, data);
_Static_assert(sizeof(struct map) == sizeof(LV2_URID_Map), "map");
SAME(struct map, handle, LV2_URID_Map, handle);
SAME(struct map, number, LV2_URID_Map, map);
_Static_assert(sizeof(struct event) == sizeof(LV2_Atom_Event), "event");
SAME(struct event, frame, LV2_Atom_Event, time.frames);
SAME(struct event, size, LV2_Atom_Event, body.size);
SAME(struct event, type, LV2_Atom_Event, body.type);
_Static_assert(sizeof(struct sequence) == sizeof(LV2_Atom_Sequence), "sequence");
SAME(struct sequence, size, LV2_Atom_Sequence, atom.size);
SAME(struct sequence, type, LV2_Atom_Sequence, atom.type);
SAME(struct sequence, unit, LV2_Atom_Sequence, body.unit);
SAME(struct sequence, nothing, LV2_Atom_Sequence, body.pad);
_Static_assert(sizeof(struct descriptor) == sizeof(LV2_Descriptor), "descriptor");
SAME(struct descriptor, uri, LV2_Descriptor, URI);
SAME(struct descriptor, instantiate, LV2_Descriptor, instantiate);
SAME(struct descriptor, connect, LV2_Descriptor, connect_port);
SAME(struct descriptor, activate, LV2_Descriptor, activate);
SAME(struct descriptor, run, LV2_Descriptor, run);
SAME(struct descriptor, deactivate, LV2_Descriptor, deactivate);
SAME(struct descriptor, cleanup, LV2_Descriptor, cleanup);
SAME(struct descriptor, extension, LV2_Descriptor, extension_data);

_Static_assert(sizeof(struct schedule) == sizeof(LV2_Worker_Schedule), "schedule");
SAME(struct schedule, handle, LV2_Worker_Schedule, handle);
SAME(struct schedule, work, LV2_Worker_Schedule, schedule_work);
_Static_assert(sizeof(struct worker) == sizeof(LV2_Worker_Interface), "worker");
SAME(struct worker, work, LV2_Worker_Interface, work);
SAME(struct worker, answered, LV2_Worker_Interface, work_response);
SAME(struct worker, ended, LV2_Worker_Interface, end_run);
_Static_assert(LV2_WORKER_SUCCESS == 0, "done");

int main(void)
{
    return strcmp(MAP_URI, LV2_URID__map) || strcmp(MIDI_URI, LV2_MIDI__MidiEvent) ||
        strcmp(SCHEDULE_URI, LV2_WORKER__schedule) || strcmp(WORKER_URI, LV2_WORKER__interface);
}
