/* That our declarations of CLAP are those of its own headers: compiled where these are installed. */

#define clap_entry our_entry /* both declare it */
#include "interface.h"
#undef clap_entry

#include <entry.h>
#include <ext/audio-ports.h>
#include <ext/latency.h>
#include <ext/note-ports.h>
#include <ext/params.h>
#include <ext/state.h>
#include <ext/thread-check.h>
#include <plugin-factory.h>
#include <stddef.h>

#define EQUAL(ours, theirs) _Static_assert((int)ours == (int)theirs, #ours)
#define WHOLE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)
#define SAME(ours, mine, theirs, its) \
    _Static_assert(offsetof(struct ours, mine) == offsetof(theirs, its), #ours "." #mine); \
    _Static_assert(sizeof(((struct ours *)0)->mine) == sizeof(((theirs *)0)->its), #ours "." #mine)

WHOLE(head, clap_event_header_t);
SAME(head, size, clap_event_header_t, size);
SAME(head, time, clap_event_header_t, time);
SAME(head, space, clap_event_header_t, space_id);
SAME(head, type, clap_event_header_t, type);
SAME(head, flags, clap_event_header_t, flags);
WHOLE(note, clap_event_note_t);
SAME(note, id, clap_event_note_t, note_id);
SAME(note, port, clap_event_note_t, port_index);
SAME(note, channel, clap_event_note_t, channel);
SAME(note, key, clap_event_note_t, key);
SAME(note, velocity, clap_event_note_t, velocity);
WHOLE(expression, clap_event_note_expression_t);
SAME(expression, kind, clap_event_note_expression_t, expression_id);
SAME(expression, id, clap_event_note_expression_t, note_id);
SAME(expression, channel, clap_event_note_expression_t, channel);
SAME(expression, key, clap_event_note_expression_t, key);
SAME(expression, value, clap_event_note_expression_t, value);
WHOLE(parameter, clap_event_param_value_t);
SAME(parameter, number, clap_event_param_value_t, param_id);
SAME(parameter, cookie, clap_event_param_value_t, cookie);
SAME(parameter, value, clap_event_param_value_t, value);
WHOLE(parameter, clap_event_param_mod_t);
SAME(parameter, number, clap_event_param_mod_t, param_id);
SAME(parameter, id, clap_event_param_mod_t, note_id);
SAME(parameter, channel, clap_event_param_mod_t, channel);
SAME(parameter, key, clap_event_param_mod_t, key);
SAME(parameter, value, clap_event_param_mod_t, amount);
WHOLE(midi, clap_event_midi_t);
SAME(midi, data, clap_event_midi_t, data);
WHOLE(sysex, clap_event_midi_sysex_t);
SAME(sysex, data, clap_event_midi_sysex_t, buffer);
SAME(sysex, size, clap_event_midi_sysex_t, size);
EQUAL(NOTE_ON, CLAP_EVENT_NOTE_ON);
EQUAL(NOTE_OFF, CLAP_EVENT_NOTE_OFF);
EQUAL(NOTE_CHOKE, CLAP_EVENT_NOTE_CHOKE);
EQUAL(NOTE_END, CLAP_EVENT_NOTE_END);
EQUAL(MODULATION, CLAP_EVENT_PARAM_MOD);
EQUAL(EXPRESSION, CLAP_EVENT_NOTE_EXPRESSION);
EQUAL(PARAMETER, CLAP_EVENT_PARAM_VALUE);
EQUAL(MIDI, CLAP_EVENT_MIDI);
EQUAL(SYSEX, CLAP_EVENT_MIDI_SYSEX);
EQUAL(TO_PAN, CLAP_NOTE_EXPRESSION_PAN);
EQUAL(TO_TUNING, CLAP_NOTE_EXPRESSION_TUNING);
EQUAL(TO_EXPRESSION, CLAP_NOTE_EXPRESSION_EXPRESSION);
EQUAL(TO_PRESSURE, CLAP_NOTE_EXPRESSION_PRESSURE);
EQUAL(TO_BRIGHTNESS, CLAP_NOTE_EXPRESSION_BRIGHTNESS);
WHOLE(incoming, clap_input_events_t);
SAME(incoming, count, clap_input_events_t, size);
SAME(incoming, at, clap_input_events_t, get);
WHOLE(outgoing, clap_output_events_t);
SAME(outgoing, push, clap_output_events_t, try_push);

WHOLE(sound, clap_audio_buffer_t);
SAME(sound, singles, clap_audio_buffer_t, data32);
SAME(sound, channels, clap_audio_buffer_t, channel_count);
SAME(sound, constant, clap_audio_buffer_t, constant_mask);
WHOLE(block, clap_process_t);
SAME(block, frames, clap_process_t, frames_count);
SAME(block, out, clap_process_t, audio_outputs);
SAME(block, outs, clap_process_t, audio_outputs_count);
SAME(block, events, clap_process_t, in_events);
SAME(block, answers, clap_process_t, out_events);
EQUAL(FAILED, CLAP_PROCESS_ERROR);
EQUAL(GO_ON, CLAP_PROCESS_CONTINUE);

WHOLE(host, clap_host_t);
SAME(host, own, clap_host_t, host_data);
SAME(host, extension, clap_host_t, get_extension);
WHOLE(description, clap_plugin_descriptor_t);
SAME(description, id, clap_plugin_descriptor_t, id);
SAME(description, name, clap_plugin_descriptor_t, name);
SAME(description, vendor, clap_plugin_descriptor_t, vendor);
SAME(description, release, clap_plugin_descriptor_t, version);
SAME(description, about, clap_plugin_descriptor_t, description);
SAME(description, features, clap_plugin_descriptor_t, features);
WHOLE(plugin, clap_plugin_t);
SAME(plugin, own, clap_plugin_t, plugin_data);
SAME(plugin, init, clap_plugin_t, init);
SAME(plugin, destroy, clap_plugin_t, destroy);
SAME(plugin, activate, clap_plugin_t, activate);
SAME(plugin, deactivate, clap_plugin_t, deactivate);
SAME(plugin, start, clap_plugin_t, start_processing);
SAME(plugin, stop, clap_plugin_t, stop_processing);
SAME(plugin, reset, clap_plugin_t, reset);
SAME(plugin, process, clap_plugin_t, process);
SAME(plugin, extension, clap_plugin_t, get_extension);
SAME(plugin, on_main, clap_plugin_t, on_main_thread);
WHOLE(factory, clap_plugin_factory_t);
SAME(factory, count, clap_plugin_factory_t, get_plugin_count);
SAME(factory, describe, clap_plugin_factory_t, get_plugin_descriptor);
SAME(factory, create, clap_plugin_factory_t, create_plugin);
WHOLE(entry, clap_plugin_entry_t);
SAME(entry, init, clap_plugin_entry_t, init);
SAME(entry, deinit, clap_plugin_entry_t, deinit);
SAME(entry, factory, clap_plugin_entry_t, get_factory);

WHOLE(threads, clap_host_thread_check_t);
SAME(threads, is_main, clap_host_thread_check_t, is_main_thread);
WHOLE(audio_port, clap_audio_port_info_t);
SAME(audio_port, flags, clap_audio_port_info_t, flags);
SAME(audio_port, channels, clap_audio_port_info_t, channel_count);
SAME(audio_port, type, clap_audio_port_info_t, port_type);
SAME(audio_port, in_place, clap_audio_port_info_t, in_place_pair);
WHOLE(audio_ports, clap_plugin_audio_ports_t);
SAME(audio_ports, get, clap_plugin_audio_ports_t, get);
WHOLE(note_port, clap_note_port_info_t);
SAME(note_port, known, clap_note_port_info_t, supported_dialects);
SAME(note_port, liked, clap_note_port_info_t, preferred_dialect);
SAME(note_port, name, clap_note_port_info_t, name);
EQUAL(NOTES, CLAP_NOTE_DIALECT_CLAP);
EQUAL(MIDIS, CLAP_NOTE_DIALECT_MIDI);
EQUAL(MPE, CLAP_NOTE_DIALECT_MIDI_MPE);
WHOLE(facts, clap_param_info_t);
SAME(facts, flags, clap_param_info_t, flags);
SAME(facts, path, clap_param_info_t, module);
SAME(facts, low, clap_param_info_t, min_value);
SAME(facts, high, clap_param_info_t, max_value);
SAME(facts, own, clap_param_info_t, default_value);
EQUAL(STEPPED, CLAP_PARAM_IS_STEPPED);
EQUAL(AUTOMATED, CLAP_PARAM_IS_AUTOMATABLE);
EQUAL(AUTOMATED_ALONE, (CLAP_PARAM_IS_AUTOMATABLE_PER_NOTE_ID | CLAP_PARAM_IS_AUTOMATABLE_PER_KEY
    | CLAP_PARAM_IS_AUTOMATABLE_PER_CHANNEL | CLAP_PARAM_IS_AUTOMATABLE_PER_PORT));
EQUAL(MODULATED, CLAP_PARAM_IS_MODULATABLE);
EQUAL(MODULATED_ALONE, (CLAP_PARAM_IS_MODULATABLE_PER_NOTE_ID | CLAP_PARAM_IS_MODULATABLE_PER_KEY
    | CLAP_PARAM_IS_MODULATABLE_PER_CHANNEL | CLAP_PARAM_IS_MODULATABLE_PER_PORT));
WHOLE(parameters, clap_plugin_params_t);
SAME(parameters, get, clap_plugin_params_t, get_info);
SAME(parameters, value, clap_plugin_params_t, get_value);
SAME(parameters, to_text, clap_plugin_params_t, value_to_text);
SAME(parameters, from_text, clap_plugin_params_t, text_to_value);
SAME(parameters, flush, clap_plugin_params_t, flush);
WHOLE(latency, clap_plugin_latency_t);
WHOLE(written, clap_ostream_t);
SAME(written, write, clap_ostream_t, write);
WHOLE(read, clap_istream_t);
SAME(read, read, clap_istream_t, read);
WHOLE(state, clap_plugin_state_t);
SAME(state, load, clap_plugin_state_t, load);

#define WORDS(ours, theirs) _Static_assert(sizeof ours == sizeof theirs, ours)
WORDS(FACTORY, CLAP_PLUGIN_FACTORY_ID);
WORDS(THREADS, CLAP_EXT_THREAD_CHECK);
WORDS(AUDIO_PORTS, CLAP_EXT_AUDIO_PORTS);
WORDS(NOTE_PORTS, CLAP_EXT_NOTE_PORTS);
WORDS(PARAMETERS, CLAP_EXT_PARAMS);
WORDS(LATENCY, CLAP_EXT_LATENCY);
WORDS(STATE, CLAP_EXT_STATE);

int main(void)
{
    const char *ours[] = {FACTORY, THREADS, AUDIO_PORTS, NOTE_PORTS, PARAMETERS, LATENCY, STATE};
    const char *theirs[] = {CLAP_PLUGIN_FACTORY_ID, CLAP_EXT_THREAD_CHECK, CLAP_EXT_AUDIO_PORTS, CLAP_EXT_NOTE_PORTS,
        CLAP_EXT_PARAMS, CLAP_EXT_LATENCY, CLAP_EXT_STATE};
    for (int n = 0; n < 7; n++)
        for (const char *a = ours[n], *b = theirs[n]; *a || *b; a++, b++)
            if (*a != *b) return 1;
    return 0;
}
