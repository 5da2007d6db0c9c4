/* That our declarations of VST 3 are those of travesty, another set in C: compiled where this is installed. */

#include "interface.h"

/* Two words that travesty has for C++ alone. */
typedef struct v3_event_handler v3_event_handler;
typedef struct v3_timer_handler v3_timer_handler;

#include <audio_processor.h>
#include <component.h>
#include <edit_controller.h>
#include <factory.h>
#include <stddef.h>
#include <string.h>

#define EQUAL(ours, theirs) _Static_assert((int)ours == (int)theirs, #ours)
#define WHOLE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(struct theirs), #ours)
#define SAME(ours, mine, theirs, its) \
    _Static_assert(offsetof(struct ours, mine) == offsetof(struct theirs, its), #ours "." #mine); \
    _Static_assert(sizeof(((struct ours *)0)->mine) == sizeof(((struct theirs *)0)->its), #ours "." #mine)

EQUAL(DONE, V3_OK);
EQUAL(REFUSED, V3_FALSE);
EQUAL(NO_INTERFACE, V3_NO_INTERFACE);
EQUAL(BAD_ARGUMENT, V3_INVALID_ARG);
EQUAL(NOT_OFFERED, V3_NOT_IMPLEMENTED);

WHOLE(unknown, v3_funknown);
SAME(unknown, query, v3_funknown, query_interface);
SAME(unknown, ref, v3_funknown, ref);
SAME(unknown, unref, v3_funknown, unref);
WHOLE(base, v3_plugin_base);
SAME(base, initialise, v3_plugin_base, initialize);
SAME(base, terminate, v3_plugin_base, terminate);

WHOLE(maker, v3_factory_info);
SAME(maker, email, v3_factory_info, email);
SAME(maker, flags, v3_factory_info, flags);
WHOLE(class, v3_class_info);
SAME(class, many, v3_class_info, cardinality);
SAME(class, name, v3_class_info, name);
WHOLE(class2, v3_class_info_2);
SAME(class2, flags, v3_class_info_2, class_flags);
SAME(class2, kinds, v3_class_info_2, sub_categories);
SAME(class2, sdk, v3_class_info_2, sdk_version);
WHOLE(class3, v3_class_info_3);
SAME(class3, name, v3_class_info_3, name);
SAME(class3, kinds, v3_class_info_3, sub_categories);
SAME(class3, sdk, v3_class_info_3, sdk_version);
WHOLE(factory, v3_plugin_factory_3);
SAME(factory, maker, v3_plugin_factory_3, get_factory_info);
SAME(factory, count, v3_plugin_factory_3, num_classes);
SAME(factory, class, v3_plugin_factory_3, get_class_info);
SAME(factory, create, v3_plugin_factory_3, create_instance);
SAME(factory, class2, v3_plugin_factory_3, get_class_info_2);
SAME(factory, class3, v3_plugin_factory_3, get_class_info_utf16);
SAME(factory, host, v3_plugin_factory_3, set_host_context);

WHOLE(stream, v3_bstream);
SAME(stream, read, v3_bstream, read);
SAME(stream, write, v3_bstream, write);
SAME(stream, seek, v3_bstream, seek);
SAME(stream, tell, v3_bstream, tell);
WHOLE(points, v3_param_value_queue);
SAME(points, id, v3_param_value_queue, get_param_id);
SAME(points, count, v3_param_value_queue, get_point_count);
SAME(points, get, v3_param_value_queue, get_point);
SAME(points, add, v3_param_value_queue, add_point);
WHOLE(changes, v3_param_changes);
SAME(changes, count, v3_param_changes, get_param_count);
SAME(changes, get, v3_param_changes, get_param_data);
SAME(changes, add, v3_param_changes, add_param_data);

WHOLE(event, v3_event);
SAME(event, frame, v3_event, sample_offset);
SAME(event, beat, v3_event, ppq_position);
SAME(event, flags, v3_event, flags);
SAME(event, type, v3_event, type);
SAME(event, on.channel, v3_event, note_on.channel);
SAME(event, on.key, v3_event, note_on.pitch);
SAME(event, on.cents, v3_event, note_on.tuning);
SAME(event, on.velocity, v3_event, note_on.velocity);
SAME(event, on.id, v3_event, note_on.note_id);
SAME(event, off.key, v3_event, note_off.pitch);
SAME(event, off.velocity, v3_event, note_off.velocity);
SAME(event, off.id, v3_event, note_off.note_id);
SAME(event, off.cents, v3_event, note_off.tuning);
SAME(event, data.size, v3_event, data.size);
SAME(event, data.type, v3_event, data.type);
SAME(event, data.bytes, v3_event, data.bytes);
SAME(event, pressure.key, v3_event, poly_pressure.pitch);
SAME(event, pressure.pressure, v3_event, poly_pressure.pressure);
SAME(event, pressure.id, v3_event, poly_pressure.note_id);
SAME(event, expression.kind, v3_event, note_exp_value.type_id);
SAME(event, expression.id, v3_event, note_exp_value.note_id);
SAME(event, expression.value, v3_event, note_exp_value.value);
EQUAL(NOTE_ON, V3_EVENT_NOTE_ON);
EQUAL(NOTE_OFF, V3_EVENT_NOTE_OFF);
EQUAL(DATA, V3_EVENT_DATA);
EQUAL(KEY_PRESSURE, V3_EVENT_POLY_PRESSURE);
EQUAL(EXPRESSION, V3_EVENT_NOTE_EXP_VALUE);
WHOLE(events, v3_event_list);
SAME(events, count, v3_event_list, get_event_count);
SAME(events, get, v3_event_list, get_event);
SAME(events, add, v3_event_list, add_event);

WHOLE(sound, v3_audio_bus_buffers);
SAME(sound, channels, v3_audio_bus_buffers, num_channels);
SAME(sound, silent, v3_audio_bus_buffers, channel_silence_bitset);
SAME(sound, singles, v3_audio_bus_buffers, channel_buffers_32);
WHOLE(block, v3_process_data);
SAME(block, mode, v3_process_data, process_mode);
SAME(block, doubles, v3_process_data, symbolic_sample_size);
SAME(block, frames, v3_process_data, nframes);
SAME(block, ins, v3_process_data, num_input_buses);
SAME(block, outs, v3_process_data, num_output_buses);
SAME(block, out, v3_process_data, outputs);
SAME(block, told, v3_process_data, input_params);
SAME(block, answered, v3_process_data, output_params);
SAME(block, events, v3_process_data, input_events);
SAME(block, context, v3_process_data, ctx);

EQUAL(AUDIO, V3_AUDIO);
EQUAL(EVENTS, V3_EVENT);
EQUAL(IN, V3_INPUT);
EQUAL(OUT, V3_OUTPUT);
EQUAL(DEFAULT_ACTIVE, V3_DEFAULT_ACTIVE);
EQUAL(STEREO, (V3_SPEAKER_L | V3_SPEAKER_R));
WHOLE(bus, v3_bus_info);
SAME(bus, kind, v3_bus_info, media_type);
SAME(bus, way, v3_bus_info, direction);
SAME(bus, channels, v3_bus_info, channel_count);
SAME(bus, name, v3_bus_info, bus_name);
SAME(bus, type, v3_bus_info, bus_type);
SAME(bus, flags, v3_bus_info, flags);
WHOLE(route, v3_routing_info);
WHOLE(component, v3_component);
SAME(component, controller, v3_component, get_controller_class_id);
SAME(component, mode, v3_component, set_io_mode);
SAME(component, buses, v3_component, get_bus_count);
SAME(component, bus, v3_component, get_bus_info);
SAME(component, route, v3_component, get_routing_info);
SAME(component, use, v3_component, activate_bus);
SAME(component, active, v3_component, set_active);
SAME(component, load, v3_component, set_state);
SAME(component, save, v3_component, get_state);
WHOLE(setup, v3_process_setup);
SAME(setup, doubles, v3_process_setup, symbolic_sample_size);
SAME(setup, rate, v3_process_setup, sample_rate);
WHOLE(processor, v3_audio_processor);
SAME(processor, arrange, v3_audio_processor, set_bus_arrangements);
SAME(processor, arranged, v3_audio_processor, get_bus_arrangement);
SAME(processor, takes, v3_audio_processor, can_process_sample_size);
SAME(processor, latency, v3_audio_processor, get_latency_samples);
SAME(processor, setup, v3_audio_processor, setup_processing);
SAME(processor, begin, v3_audio_processor, set_processing);
SAME(processor, process, v3_audio_processor, process);
SAME(processor, tail, v3_audio_processor, get_tail_samples);

EQUAL(AUTOMATED, V3_PARAM_CAN_AUTOMATE);
EQUAL(LIST, V3_PARAM_IS_LIST);
EQUAL(HIDDEN, V3_PARAM_IS_HIDDEN);
WHOLE(parameter, v3_param_info);
SAME(parameter, id, v3_param_info, param_id);
SAME(parameter, title, v3_param_info, title);
SAME(parameter, unit, v3_param_info, units);
SAME(parameter, steps, v3_param_info, step_count);
SAME(parameter, first, v3_param_info, default_normalised_value);
SAME(parameter, group, v3_param_info, unit_id);
SAME(parameter, flags, v3_param_info, flags);
WHOLE(controller, v3_edit_controller);
SAME(controller, whole, v3_edit_controller, set_component_state);
SAME(controller, load, v3_edit_controller, set_state);
SAME(controller, save, v3_edit_controller, get_state);
SAME(controller, count, v3_edit_controller, get_parameter_count);
SAME(controller, get, v3_edit_controller, get_parameter_info);
SAME(controller, to_text, v3_edit_controller, get_parameter_string_for_value);
SAME(controller, from_text, v3_edit_controller, get_parameter_value_for_string);
SAME(controller, plain, v3_edit_controller, normalised_parameter_to_plain);
SAME(controller, share, v3_edit_controller, plain_parameter_to_normalised);
SAME(controller, value, v3_edit_controller, get_parameter_normalised);
SAME(controller, show, v3_edit_controller, set_parameter_normalised);
SAME(controller, handler, v3_edit_controller, set_component_handler);
SAME(controller, view, v3_edit_controller, create_view);
WHOLE(mapping, v3_midi_mapping);
WHOLE(needs, v3_process_context_requirements);

int main(void)
{
    static const uint8_t ours[][16] = {UNKNOWN, BASE, FACTORY, FACTORY2, FACTORY3, COMPONENT, PROCESSOR, CONTROLLER, MAPPING, NEEDS};
    const uint8_t *theirs[] = {v3_funknown_iid, v3_plugin_base_iid, v3_plugin_factory_iid, v3_plugin_factory_2_iid,
        v3_plugin_factory_3_iid, v3_component_iid, v3_audio_processor_iid, v3_edit_controller_iid, v3_midi_mapping_iid,
        v3_process_context_requirements_iid};
    for (int n = 0; n < 10; n++)
        if (memcmp(ours[n], theirs[n], 16)) return 1;
    return 0;
}
