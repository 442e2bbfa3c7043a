-- Sends the calls of this resource, and collects their results with one poll a tick; none while nothing is pending. Each call that
-- was begun is delivered exactly once, and never before the caller has gone on.

local results = part 'results'
local threads = part 'threads'
local waiting = part 'waiting-calls'

local TICK_MS = 20
-- What is ready beyond this waits for the next tick, so that the game goes on.
local BUDGET_MS = 4
-- A call that has waited long is asked for less often: it has time, and hundreds of them would cost.
local AGE_PER_PAUSE = 10
local LONGEST_PAUSE_MS = 200

local poller = {}

---@class DbTicket
---@field Id string names the call; empty where it was refused, is not one call, or waits in the helper
---@field Accepted boolean
---@field Error string `code: message` where the call was refused, else empty. The callback gets the same as an error

-- By order of sending, so that answers that are there at once are delivered in it.
local pending, firstPending, lastPending, pendingCount = {}, 1, 0, 0
-- Answers that are known already, to be delivered with the next poll.
local known = {}
local isAwake = false

local function ask(connector, name, question)
  local resource = exports[connector]
  return resource[name](resource, question)
end

--- Whether the database did what was asked is not known then.
local function lost(id, why)
  return results.errorResult('bundle_unavailable', why .. '; the outcome of the call is unknown', id)
end

local function refused(code, message) return { Id = '', Accepted = false, Error = code .. ': ' .. message } end

local function resultOfRefusal(ticket)
  local code, message = ticket.Error:match('^(.-): (.*)$')
  return results.errorResult(code or 'internal', message or ticket.Error)
end

local function firstLine(problem)
  local text = tostring(problem):gsub('%^%d', '')
  return text:match('No such export[^\n]*') or text:match('[^\n]+') or text
end

local function send(call)
  local isFine, ticket = pcall(ask, call.connector, 'Call', { Operation = call.operation, Json = call.json })
  if not isFine then
    return refused('bundle_unavailable', call.connector .. ' is not running (' .. firstLine(ticket) .. ')')
  end
  if type(ticket) == 'table' and type(ticket.Id) == 'string' and type(ticket.Error) == 'string' then return ticket end
  return refused('internal', 'the connector answered with no ticket')
end

local function isBusy(ticket) return not ticket.Accepted and ticket.Error:find('^busy:') ~= nil end

local poll

local function wake()
  if isAwake then return end
  isAwake = true
  threads.after(TICK_MS, poll)
end

--- A call that does not go out: its callback hears of it as of any other answer.
---@param ticket DbTicket
---@param deliver fun(result: DbResult)
---@return DbTicket
local function refuse(ticket, deliver)
  known[#known + 1] = { result = resultOfRefusal(ticket), deliver = deliver }
  wake()
  return ticket
end

--- What became of a call that the connector was given.
local function follow(ticket, call)
  if not ticket.Accepted then return refuse(ticket, call.deliver) end
  local now = threads.elapsedMs()
  lastPending = lastPending + 1
  pendingCount = pendingCount + 1
  pending[lastPending] = { id = ticket.Id, connector = call.connector, deliver = call.deliver, beganAt = now, dueAt = now }
  wake()
  return ticket
end

--- A call for which the connector has no place waits here, and so do those that come after it.
---@param connector string
---@param operation string
---@param json string
---@param deliver fun(result: DbResult) never throws
---@return DbTicket
function poller.call(connector, operation, json, deliver)
  local call = { connector = connector, operation = operation, json = json, deliver = deliver }
  if waiting.size() == 0 then
    local ticket = send(call)
    if not isBusy(ticket) then return follow(ticket, call) end
  end
  if not waiting.add(call) then
    return refuse(refused('busy', waiting.size() .. ' calls of this resource wait already'), deliver)
  end
  wake()
  return { Id = '', Accepted = true, Error = '' }
end

--- A mistake of the script.
function poller.refuse(code, message, deliver) return refuse(refused(code, message), deliver) end

--- nil while the answer is not there.
local function take(call)
  local isFine, taken = pcall(ask, call.connector, 'TakeResult', { Id = call.id })
  if not isFine then return lost(call.id, call.connector .. ' has stopped (' .. firstLine(taken) .. ')') end
  local state = type(taken) == 'table' and taken.State or nil
  if state == 'pending' then return nil end
  if (state == 'ok' or state == 'error') and type(taken.Code) == 'string' and type(taken.Json) == 'string' then return taken end
  return lost(call.id, call.connector .. ' no longer knows the call; was it restarted?')
end

local function deliverKnown(isOverBudget)
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

--- In the order in which they came, as long as there are places.
local function sendWaiting(now, isOverBudget)
  while waiting.isDue(now) and not isOverBudget() do
    local call = waiting.first()
    local ticket = send(call)
    if isBusy(ticket) then return waiting.postpone(now) end
    waiting.removeFirst()
    follow(ticket, call)
  end
end

local function removePending(at)
  pending[at] = nil
  pendingCount = pendingCount - 1
  while firstPending <= lastPending and pending[firstPending] == nil do firstPending = firstPending + 1 end
end

local function collect(now, isOverBudget)
  for at = firstPending, lastPending do
    local call = pending[at]
    -- What a callback has just begun waits for the next tick.
    if call ~= nil and call.dueAt < now then
      local result = take(call)
      if result == nil then
        call.dueAt = now + math.min((now - call.beganAt) / AGE_PER_PAUSE, LONGEST_PAUSE_MS)
      elseif pending[at] == call then
        removePending(at)
        waiting.expectPlace()
        call.deliver(result)
        if isOverBudget() then return end
      end
    end
  end
end

poll = function()
  isAwake = false
  local now = threads.elapsedMs()
  local function isOverBudget() return threads.elapsedMs() - now > BUDGET_MS end
  deliverKnown(isOverBudget)
  sendWaiting(now, isOverBudget)
  collect(now, isOverBudget)
  if pendingCount > 0 or #known > 0 or waiting.size() > 0 then wake() end
end

--- A connector that stops takes its answers with it.
local function loseCallsOf(resource)
  for at = firstPending, lastPending do
    local call = pending[at]
    if call ~= nil and call.connector == resource then
      known[#known + 1] = { result = lost(call.id, resource .. ' has stopped'), deliver = call.deliver }
      removePending(at)
    end
  end
end

AddEventHandler('onResourceStart', function() waiting.expectPlace() end)
-- Any resource can send this event. The state changes after it.
AddEventHandler('onResourceStop', function(resource)
  threads.after(0, function()
    if GetResourceState(resource) == 'started' then return end
    waiting.expectPlace()
    loseCallsOf(resource)
  end)
end)

return poller
