-- `lua5.4 lua-rows.lua HELPER COUNT < ANSWER`: what a script's runtime has with an answer of rows, from the call to rows that
-- the script has looked at. The connector's exports answer at once, and their answers are copied as by the codec, whose work on one
-- long text is a copy in each direction; prints milliseconds of processor time as JSON.

local helper, count = arg[1], tonumber(arg[2])
local answer = io.read('a')
local now, due = 0, {}

Citizen = { SetTimeout = function(_, run) due[#due + 1] = run end, CreateThread = function(run) run() end }
function GetGameTimer() return now end
function AddEventHandler() end
local function copyOf(text) return (string.unpack('>s4', string.pack('>s4', text))) end

exports = { db_connector = {
  Call = function() return { Id = 'ticket', Accepted = true, Error = '' } end,
  TakeResult = function() return { Id = 'ticket', State = 'ok', Status = 200, Code = '', Json = copyOf(answer) } end,
} }

local function tick()
  local runs = due
  now, due = now + 20, {}
  for _, run in ipairs(runs) do run() end
end

dofile(helper)

local times = {}
for round = -count // 5, count do
  local before, found = os.clock(), 0
  DB.Find('thread', 'items', { filter = Q.Gt('id', round), limit = 1000 }, function(result)
    for _, row in ipairs(DB.Rows(result)) do found = found + (row.id > 0 and #row.note or 0) end
  end)
  tick()
  assert(found == 120 * 1000, 'not 1,000 rows')
  -- The first ones warm up.
  if round > 0 then times[#times + 1] = (os.clock() - before) * 1000 end
end
table.sort(times)
print(string.format('{"medianMs":%.3f,"maxMs":%.3f}', times[(#times + 1) // 2], times[#times]))
