-- Hands results to the script's callbacks, and tells the console what would be lost without a trace.

local results = part 'results'
local threads = part 'threads'

-- The same failure is told again after this long, with how often it happened meanwhile.
local QUIET_MS = 10000
-- More kinds of failures than this are not told apart for longer; names of tables may come from players.
local MAX_KINDS = 1000

-- A fault of the script is told once for each place and name, and no more than this many.
local MAX_FAULTS = 1000

local told, kinds = {}, 0
local faults, faultCount = {}, 0

local function tell(event, reason, kind)
  local now = threads.elapsedMs()
  local before = told[kind]
  if before ~= nil and now - before.at < QUIET_MS then
    before.untold = before.untold + 1
    return
  end
  local more = before ~= nil and before.untold > 0 and ' (and ' .. before.untold .. ' times before)' or ''
  print('^1' .. event .. more .. ': ' .. reason .. '^7')
  if before == nil then kinds = kinds + 1 end
  if kinds > MAX_KINDS then told, kinds = {}, 1 end
  told[kind] = { at = now, untold = 0 }
end

local deliveries = {}

--- A name in an argument that means nothing: told even if the script looks at the error, since it is never expected.
---@param what string
---@param problem any what was thrown
function deliveries.tellIfFault(what, problem)
  if type(problem) ~= 'table' or not problem.isFault then return end
  local fault = what .. ': ' .. problem.invalid
  if faults[fault] or faultCount >= MAX_FAULTS then return end
  faults[fault] = true
  faultCount = faultCount + 1
  print('^1' .. fault .. '^7')
  -- A call without a callback has no second line for it.
  told[what .. ' invalid_request'] = { at = threads.elapsedMs(), untold = 0 }
end

--- What takes the result of a call. The callback runs in a thread of its own, so that it may wait, and holds nobody up.
---@param what string names the call in a line, such as `Find game.characters`
---@param callback? fun(result: DbResult)
---@return fun(result: DbResult) never throws
function deliveries.to(what, callback)
  if callback == nil then
    return function(result)
      if result.State == 'ok' then return end
      tell(what .. ' failed', results.readers.ErrorMessage(result), what .. ' ' .. result.Code)
    end
  end
  return function(result)
    threads.start(function()
      local isFine, problem = xpcall(callback, debug.traceback, result)
      if not isFine then tell('the callback of ' .. what .. ' threw', tostring(problem), what .. ' threw ' .. tostring(problem)) end
    end)
  end
end

return deliveries
