-- Sends the calls of this resource, and collects their results with one poll a tick; none while nothing is pending. Each call that
-- was begun is delivered exactly once, and never before the caller has gone on.

local link = part 'connector-link'
local results = part 'results'
local sender = part 'call-sender'
local threads = part 'threads'

local TICK_MS = 20
-- What is ready beyond this waits for the next tick, so that the game goes on.
local BUDGET_MS = 4
-- A call that has waited long is asked for less often: it has time, and hundreds of them would cost.
local AGE_PER_PAUSE = 10
local LONGEST_PAUSE_MS = 200

local poller = {}

-- By order of sending, so that answers that are there at once are delivered in it.
local pending, firstPending, lastPending, pendingCount = {}, 1, 0, 0
-- Answers that are known already, to be delivered with the next poll.
local known = {}
local isAwake = false

local function resultOfRefusal(ticket)
  local code, message = ticket.Error:match('^(.-): (.*)$')
  return results.errorResult(code or 'internal', message or ticket.Error)
end

local poll

local function wake()
  if isAwake then return end
  isAwake = true
  threads.after(TICK_MS, poll)
end

--- A call that does not go out: its callback hears of it as of any other answer.
local function refuse(ticket, deliver)
  known[#known + 1] = { result = resultOfRefusal(ticket), deliver = deliver }
  wake()
  return ticket
end

--- What became of a call that the connector was given.
function sender.onSettled(call, ticket)
  if not ticket.Accepted then return refuse(ticket, call.deliver) end
  call.beganAt = threads.elapsedMs()
  call.dueAt = call.beganAt
  lastPending = lastPending + 1
  pendingCount = pendingCount + 1
  pending[lastPending] = call
end

--- A call for which the connector has no place waits here, and so do those that come after it.
---@param connector string
---@param operation string
---@param json string
---@param deliver fun(result: DbResult) never throws
---@return DbTicket
function poller.call(connector, operation, json, deliver)
  local ticket = sender.add({ connector = connector, operation = operation, json = json, deliver = deliver })
  wake()
  return ticket
end

--- A mistake of the script.
---@return DbTicket
function poller.refuse(code, message, deliver) return refuse(link.refused(code, message), deliver) end

--- At least one. What becomes known meanwhile waits for the next tick.
local function deliver(isOverBudget)
  local list = known
  known = {}
  for index, entry in ipairs(list) do
    entry.deliver(entry.result)
    if isOverBudget() and index < #list then
      known = table.move(known, 1, #known, #list - index + 1, table.move(list, index + 1, #list, 1, {}))
      return
    end
  end
end

local function removePending(at)
  pending[at] = nil
  pendingCount = pendingCount - 1
  while firstPending <= lastPending and pending[firstPending] == nil do firstPending = firstPending + 1 end
end

--- Places and ids of the calls of one connector whose results are worth asking for; true if there are more than one list holds.
local function dueCalls(now)
  local places, ids, connector = {}, {}, nil
  for at = firstPending, lastPending do
    local call = pending[at]
    -- What a callback has just begun waits for the next tick.
    if call ~= nil and call.dueAt < now then
      connector = connector or call.connector
      if call.connector ~= connector or #ids == link.MAX_RECORDS then return places, ids, connector, true end
      places[#places + 1], ids[#ids + 1] = at, call.id
    end
  end
  return places, ids, connector, false
end

--- Takes one list of results. True if there are more calls to ask for in this tick.
local function collect(now)
  if #known >= link.MAX_RECORDS then return false end
  local places, ids, connector, hasMore = dueCalls(now)
  if #ids == 0 then return false end
  local taken = link.take(connector, ids)
  for index, at in ipairs(places) do
    local call, result = pending[at], taken[index]
    if result == nil then return true end
    if result then
      removePending(at)
      sender.waiting.expectPlace()
      known[#known + 1] = { result = result, deliver = call.deliver }
    else
      call.dueAt = now + math.min((now - call.beganAt) / AGE_PER_PAUSE, LONGEST_PAUSE_MS)
    end
  end
  return hasMore
end

poll = function()
  isAwake = false
  local now = threads.elapsedMs()
  local function isOverBudget() return threads.elapsedMs() - now > BUDGET_MS end
  sender.sendWaiting(now, isOverBudget)
  repeat
    local hasMore = collect(now)
    deliver(isOverBudget)
  until not hasMore or isOverBudget()
  sender.flush()
  if pendingCount > 0 or #known > 0 or sender.waiting.size() > 0 then wake() end
end

--- A connector that stops takes its answers with it.
local function loseCallsOf(resource)
  for at = firstPending, lastPending do
    local call = pending[at]
    if call ~= nil and call.connector == resource then
      known[#known + 1] = { result = link.lost(call.id, resource .. ' has stopped'), deliver = call.deliver }
      removePending(at)
    end
  end
end

AddEventHandler('onResourceStart', function(resource)
  link.forget(resource)
  sender.waiting.expectPlace()
end)
-- Any resource can send this event. The state changes after it.
AddEventHandler('onResourceStop', function(resource)
  if resource == GetCurrentResourceName() then sender.stop() end
  threads.after(0, function()
    if GetResourceState(resource) == 'started' then return end
    link.forget(resource)
    sender.waiting.expectPlace()
    loseCallsOf(resource)
  end)
end)

return poller
