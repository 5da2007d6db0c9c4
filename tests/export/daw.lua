-- What Ardour does in the tests: `make` a session with a track of strings, or open it and `bounce` the track.
--
-- By the environment: WHAT, FOLDER, NAME of the session, the plugin's KIND (LV2, VST3) and URI, RATE, FRAMES, and SET,
-- parameters as "number=value ...". Prints what they are then, and the files that were made.

local function value(name)
  local found = os.getenv(name)
  return found or error(name .. " is not set")
end

local rate = tonumber(value("RATE"))
local backend = AudioEngine:set_backend("None (Dummy)", "", "")
assert(backend:set_sample_rate(rate) == 0 and backend:set_buffer_size(512) == 0)

local function track(session)
  for route in session:get_tracks():iter() do return route:to_track() end
end

local function strings(session) return track(session):nth_plugin(0) end

local session
if value("WHAT") == "make" then
  session = assert(create_session(value("FOLDER"), value("NAME"), rate))
  local info = ARDOUR.LuaAPI.new_plugin_info(value("URI"), ARDOUR.PluginType[value("KIND")])
  assert(not info:isnil(), "the plugin is not found")
  local midi, stereo = ARDOUR.ChanCount(ARDOUR.DataType("midi"), 1), ARDOUR.ChanCount(ARDOUR.DataType("audio"), 2)
  session:new_midi_track(midi, stereo, true, info, nil, nil, 1, "Strings",
    ARDOUR.PresentationInfo.max_order, ARDOUR.TrackMode.Normal, true)
  for number, set in value("SET"):gmatch("(%d+)=(%S+)") do
    assert(ARDOUR.LuaAPI.set_processor_param(strings(session), tonumber(number), tonumber(set)))
  end
else
  session = assert(load_session(value("FOLDER"), value("NAME")))
end
for number in value("SET"):gmatch("(%d+)=") do
  print("parameter " .. number .. " is", ARDOUR.LuaAPI.get_processor_param(strings(session), tonumber(number), true))
end
session:save_state("", false, false, false, false, false)
if value("WHAT") == "bounce" then
  local whole = ARDOUR.InterThreadInfo()
  local made = track(session):bounce_range(0, tonumber(value("FRAMES")), whole, track(session):main_outs(), false, "bounce")
  assert(not made:isnil(), "nothing was bounced")
  for channel = 0, 1 do print("bounced", made:source(channel):to_filesource():path()) end
  made = nil
end
session = nil
collectgarbage()
close_session()
quit()
