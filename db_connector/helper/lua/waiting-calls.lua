-- Calls for which the connector had no place, in the order in which they came, and when to ask for one again.

local MAX_WAITING = 10000
-- Characters of the payloads of one list: its copy is one piece of the game's tick.
local MAX_LIST_CHARS = 256000
-- Between attempts while no call of this resource comes back: others hold the places then. Each attempt costs the game's thread.
local FIRST_PAUSE_MS = 20
local LONGEST_PAUSE_MS = 200

local calls, first, last = {}, 1, 0
local dueAt, pauseMs = 0, FIRST_PAUSE_MS
-- Calls for which there may be places.
local places = 1

local waiting = {}

function waiting.size() return last - first + 1 end

--- False where too many wait already.
function waiting.add(call)
  if waiting.size() >= MAX_WAITING then return false end
  last = last + 1
  calls[last] = call
  return true
end

--- The first calls from a place on that make one list: of one connector, and of so many characters; at least one.
---@return table, integer the place behind them
function waiting.listOf(from, at, max)
  local list, chars = {}, 0
  while from[at] ~= nil and #list < max do
    local call = from[at]
    chars = chars + #call.json
    if #list > 0 and (chars > MAX_LIST_CHARS or call.connector ~= list[1].connector) then break end
    list[#list + 1] = call
    at = at + 1
  end
  return list, at
end

--- Removes the first calls, as many as may find places; at least one.
function waiting.take(max)
  local count = math.min(math.max(places, 1), max)
  local list = waiting.listOf(calls, first, count)
  for at = first, first + #list - 1 do calls[at] = nil end
  first = first + #list
  -- If all of them find one, there may be more.
  places = count * 2
  return list
end

--- The calls found no place; `isAny`: others that were taken with them did.
function waiting.putBack(list, isAny, now)
  first = first - #list
  for index, call in ipairs(list) do calls[first + index - 1] = call end
  if isAny then pauseMs = FIRST_PAUSE_MS end
  dueAt = now + pauseMs
  pauseMs = math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  places = 0
end

--- Calls went out.
function waiting.calm() pauseMs = FIRST_PAUSE_MS end

function waiting.isDue(now) return first <= last and now >= dueAt end

--- A call has come back, or a resource has changed: it is worth asking at the next tick.
function waiting.expectPlace()
  dueAt = 0
  places = places + 1
end

return waiting
