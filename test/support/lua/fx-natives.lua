-- FXServer's Lua, faked: its scheduler, exports and codec, driven by frames on standard input (test/support/lua-script.ts).
-- What each does stands in citizenfx/fivem, data/shared/citizen/scripting/lua/scheduler.lua and deferred.lua.

local input, output = io.stdin, io.stdout
local now = 0

-- The codec as scheduler.lua sets it up: msgpack.set_string('string_compat'), set_integer('unsigned'), set_array('without_hole'),
-- setoption('empty_table_as_array', true).
local pack
local function head(count, small, limit, tag16)
  if count < limit then return string.char(small | count) end
  if count < 0x10000 then return string.pack('>BI2', tag16, count) end
  return string.pack('>BI4', tag16 + 1, count)
end

local function isArray(value)
  local count = 0
  for key in pairs(value) do
    if math.type(key) ~= 'integer' or key < 1 then return false end
    count = count + 1
  end
  return count == #value
end

pack = function(value)
  local kind = type(value)
  if value == nil then return '\xc0' end
  if kind == 'boolean' then return value and '\xc3' or '\xc2' end
  if kind == 'string' then return head(#value, 0xa0, 32, 0xda) .. value end
  if kind == 'number' then
    if math.type(value) == 'float' then return string.pack('>Bd', 0xcb, value) end
    if value >= 0 then return value < 128 and string.char(value) or string.pack('>BI8', 0xcf, value) end
    return string.pack('>Bi8', 0xd3, value)
  end
  if kind ~= 'table' then error("can't serialize a " .. kind) end
  local texts = {}
  if isArray(value) then
    for index, member in ipairs(value) do texts[index] = pack(member) end
    return head(#value, 0x90, 16, 0xdc) .. table.concat(texts)
  end
  for key, member in pairs(value) do texts[#texts + 1] = pack(key) .. pack(member) end
  return head(#texts, 0x80, 16, 0xde) .. table.concat(texts)
end

local unpackAt
local function many(text, at, count, isMap)
  local values = {}
  for index = 1, count do
    local key = index
    if isMap then key, at = unpackAt(text, at) end
    values[key], at = unpackAt(text, at)
  end
  return values, at
end

local FORMS = {
  [0xcb] = '>d', [0xcc] = '>I1', [0xcd] = '>I2', [0xce] = '>I4', [0xcf] = '>I8',
  [0xd0] = '>i1', [0xd1] = '>i2', [0xd2] = '>i4', [0xd3] = '>i8', [0xd9] = '>s1', [0xda] = '>s2', [0xdb] = '>s4',
}
local LENGTHS = { [0xdc] = '>I2', [0xdd] = '>I4', [0xde] = '>I2', [0xdf] = '>I4' }

unpackAt = function(text, at)
  local tag = text:byte(at)
  at = at + 1
  if tag < 0x80 then return tag, at end
  if tag < 0x90 then return many(text, at, tag & 15, true) end
  if tag < 0xa0 then return many(text, at, tag & 15, false) end
  if tag < 0xc0 then return text:sub(at, at + (tag & 31) - 1), at + (tag & 31) end
  if tag >= 0xe0 then return tag - 256, at end
  if tag == 0xc0 then return nil, at end
  if tag == 0xc2 or tag == 0xc3 then return tag == 0xc3, at end
  if LENGTHS[tag] then
    local count, after = string.unpack(LENGTHS[tag], text, at)
    return many(text, after, count, tag >= 0xde)
  end
  return string.unpack(FORMS[tag] or error('unknown tag ' .. tag), text, at)
end

local function unpack(text) return (unpackAt(text, 1)) end

-- Frames: a length and MessagePack.
local function send(...) output:write(string.pack('>s4', pack({ ... }))) end
local function receive()
  local length = input:read(4)
  if length == nil then os.exit(0) end
  local size = string.unpack('>I4', length)
  return unpack(size > 0 and input:read(size) or '')
end

local function tell(line) send('line', (tostring(line):gsub('[\x80-\xff]', function(char) return utf8.len(tostring(line)) and char or '?' end))) end
function print(...)
  local texts = table.pack(...)
  for index = 1, texts.n do texts[index] = tostring(texts[index]) end
  tell(table.concat(texts, '\t'))
end

-- Scheduler. A thread that yields with a function hands over what wakes it.
Citizen = {}
local timers, nextTimer = {}, 0
local awaitSentinel = {}
local running = {}

local function step(thread, ...)
  local before = running.thread
  running.thread = thread
  local isFine, first, second = coroutine.resume(thread, ...)
  running.thread = before
  if not isFine then return tell('SCRIPT ERROR: ' .. debug.traceback(thread, tostring(first))) end
  if coroutine.status(thread) == 'dead' then return end
  if first == awaitSentinel then
    return step(thread, function(value) step(thread, value) end)
  end
  if first == 'wait' then Citizen.SetTimeout(second, function() step(thread) end) end
end

function Citizen.SetTimeout(delay, run)
  nextTimer = nextTimer + 1
  timers[nextTimer] = { run = run, at = now + (delay or 0) }
  return nextTimer
end
function Citizen.ClearTimeout(id) timers[id] = nil end
function Citizen.CreateThreadNow(run, ...) step(coroutine.create(run), ...) end
function Citizen.CreateThread(run) Citizen.SetTimeout(0, function() Citizen.CreateThreadNow(run) end) end
function Citizen.Wait(delay) coroutine.yield('wait', delay) end
function Citizen.Await(promised)
  if promised.state == 0 then
    local reattach = coroutine.yield(awaitSentinel)
    promised:next(reattach, reattach)
    coroutine.yield()
  end
  if promised.state == 2 or promised.state == 4 then error(promised.value, 2) end
  return promised.value
end
SetTimeout, ClearTimeout, CreateThread, Wait = Citizen.SetTimeout, Citizen.ClearTimeout, Citizen.CreateThread, Citizen.Wait

promise = {}
function promise.new()
  local made = { state = 0 }
  function made:next(resolved)
    if self.state ~= 0 then return resolved(self.value) end
    self.listener = resolved
  end
  function made:resolve(value)
    if self.state ~= 0 then return end
    self.state, self.value = 3, value
    if self.listener then self.listener(value) end
  end
  return made
end

local function tick(time)
  now = time
  local due = {}
  for id, timer in pairs(timers) do if timer.at <= now then due[#due + 1] = id end end
  table.sort(due)
  for _, id in ipairs(due) do
    local timer = timers[id]
    timers[id] = nil
    if timer then Citizen.CreateThreadNow(timer.run) end
  end
end

-- Events, commands, natives.
local handlers, commands = {}, {}
function AddEventHandler(event, handler)
  handlers[event] = handlers[event] or {}
  table.insert(handlers[event], handler)
end
RegisterNetEvent = function(event, handler) if handler then AddEventHandler(event, handler) end end
function TriggerEvent(event, ...)
  for _, handler in ipairs(handlers[event] or {}) do Citizen.CreateThreadNow(handler, ...) end
end
function RegisterCommand(name, run) commands[name] = run end
function GetGameTimer() return now end
function GetCurrentResourceName() return 'shop' end
function GetConvar(_, otherwise) return otherwise end
local stopped = {}
function GetResourceState(name) return stopped[name] and 'stopped' or 'started' end
-- Tables cannot be vectors here, so a mark stands for one.
local vectorMark = { __name = 'vector3' }
function vector3(x, y, z) return setmetatable({ x = x, y = y, z = z }, vectorMark) end
local plainType = type
function type(value) return plainType(value) == 'table' and getmetatable(value) == vectorMark and 'vector3' or plainType(value) end

-- Exports: arguments and results are copied through the codec.
exports = setmetatable({}, {
  __index = function(_, resource)
    return setmetatable({}, {
      __index = function(_, name)
        return function(_, ...)
          send('call', resource, name, { ... })
          output:flush()
          local reply = receive()
          if reply[1] == 'throw' then error(reply[2], 2) end
          return reply[2]
        end
      end,
    })
  end,
})

local frames = {}
function frames.tick(time) tick(time) end
function frames.event(name, ...) TriggerEvent(name, ...) end
-- The state changes after the event.
function frames.stop(name)
  TriggerEvent('onResourceStop', name)
  stopped[name] = true
end
function frames.command(name, words)
  if commands[name] == nil then return tell('no command ' .. name) end
  Citizen.CreateThreadNow(commands[name], 0, words, name)
end
function frames.run(id, name, code, argument)
  local chunk, problem = load(code, '=' .. name)
  if chunk == nil then return send('result', id, false, problem) end
  Citizen.CreateThreadNow(function()
    local isFine, value = xpcall(chunk, function(thrown) return debug.traceback(tostring(thrown)) end, argument)
    send('result', id, isFine, value)
  end)
end

while true do
  local frame = receive()
  frames[frame[1]](table.unpack(frame, 2))
  send('done', next(timers) ~= nil)
  output:flush()
end
