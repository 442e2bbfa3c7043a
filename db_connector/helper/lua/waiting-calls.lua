-- Calls for which the connector had no place, in the order in which they came, and when to ask for one again.

local MAX_WAITING = 10000
-- Between attempts while no call of this resource comes back: others hold the places then. Each attempt costs the game's thread.
local FIRST_PAUSE_MS = 20
local LONGEST_PAUSE_MS = 200

local calls, first, last = {}, 1, 0
local dueAt, pauseMs = 0, FIRST_PAUSE_MS

local waiting = {}

function waiting.size() return last - first + 1 end

--- False where too many wait already.
function waiting.add(call)
  if waiting.size() >= MAX_WAITING then return false end
  last = last + 1
  calls[last] = call
  return true
end

function waiting.first() return calls[first] end

function waiting.removeFirst()
  calls[first] = nil
  first = first + 1
  pauseMs = FIRST_PAUSE_MS
end

function waiting.isDue(now) return first <= last and now >= dueAt end

function waiting.postpone(now)
  dueAt = now + pauseMs
  pauseMs = math.min(pauseMs * 2, LONGEST_PAUSE_MS)
end

--- A call has come back, or a resource has changed: it is worth asking at the next tick.
function waiting.expectPlace() dueAt = 0 end

return waiting
