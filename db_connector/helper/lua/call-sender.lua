-- Sends the calls of this resource in their order. The first calls of a tick go out at once, the others together: at the end of the
-- poll that called the script, else with the next tick. Calls for which there is no place wait.

local link = part 'connector-link'
local threads = part 'threads'
local waiting = part 'waiting-calls'

local CALLS_AT_ONCE = 4

local sender = { waiting = waiting }

---@class DbTicket
---@field Id string names the call; empty where it was refused, is not one call, or waits in the helper
---@field Accepted boolean
---@field Error string `code: message` where the call was refused, else empty. The callback gets the same as an error

local gathered = {}
local callsOfTurn, atOnce = 0, CALLS_AT_ONCE

-- A look at the ticket of a call that has not gone out sends it, so that it says what became of the call.
local lateTicket = {
  __index = function(ticket, name)
    sender.flush()
    return rawget(ticket, name)
  end,
  __pairs = function(ticket)
    sender.flush()
    return next, ticket
  end,
}

--- @param call table gets its `id` where the connector has taken it, and its ticket says what became of it
local function settle(call, ticket)
  call.id = ticket.Id
  setmetatable(call.ticket, nil)
  for name, value in pairs(ticket) do call.ticket[name] = value end
  sender.onSettled(call, ticket)
end

local function isBusy(ticket) return not ticket.Accepted and ticket.Error:find('^busy:') ~= nil end

--- The calls for which there was no place.
local function send(calls)
  local busy = {}
  for index, ticket in ipairs(link.send(calls[1].connector, calls)) do
    if isBusy(ticket) then busy[#busy + 1] = calls[index] else settle(calls[index], ticket) end
  end
  return busy
end

local function wait(call)
  if not waiting.add(call) then
    return settle(call, link.refused('busy', waiting.size() .. ' calls of this resource wait already'))
  end
  setmetatable(call.ticket, nil)
  call.ticket.Id, call.ticket.Accepted, call.ticket.Error = '', true, ''
end

--- Sends what was gathered.
function sender.flush()
  local calls, at, list = gathered, 1, nil
  gathered = {}
  while calls[at] ~= nil do
    if waiting.size() == 0 then
      list, at = waiting.listOf(calls, at, link.MAX_RECORDS)
      list = send(list)
    else
      list, at = { calls[at] }, at + 1
    end
    for _, call in ipairs(list) do wait(call) end
  end
end

local function endTurn()
  callsOfTurn = 0
  sender.flush()
end

---@return DbTicket
function sender.add(call)
  call.ticket = setmetatable({}, lateTicket)
  gathered[#gathered + 1] = call
  if callsOfTurn == 0 then threads.after(0, endTurn) end
  callsOfTurn = callsOfTurn + 1
  if callsOfTurn <= atOnce or #gathered == link.MAX_RECORDS then sender.flush() end
  return call.ticket
end

--- In the order in which they came, as long as there are places.
function sender.sendWaiting(now, isOverBudget)
  while waiting.isDue(now) and not isOverBudget() do
    local calls = waiting.take(link.MAX_RECORDS)
    local busy = send(calls)
    if #busy == 0 then waiting.calm() else waiting.putBack(busy, #busy < #calls, now) end
  end
end

--- This resource stops, as any resource can say: there may be no next tick.
function sender.stop()
  sender.flush()
  atOnce = math.huge
  threads.after(0, function() atOnce = CALLS_AT_ONCE end)
end

return sender
