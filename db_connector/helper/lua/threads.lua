-- Time and threads of the server: timers of the game's tick, coroutines that wait for an answer.

local threads = {}

local setTimeout = Citizen.SetTimeout or SetTimeout
local startThread = Citizen.CreateThreadNow or Citizen.CreateThread

--- Milliseconds that only go forward.
---@return number
threads.elapsedMs = os.nanotime and function() return os.nanotime() / 1e6 end or GetGameTimer

---@param delayMs integer
---@param run fun()
function threads.after(delayMs, run) setTimeout(delayMs, run) end

--- In a thread of the script's own, which may wait without holding anybody up.
---@param run fun()
function threads.start(run) startThread(run) end

--- Runs `start(resume)` and waits until `resume(value)` is called, on a later tick.
---@param what string names the call in the message
---@param start fun(resume: fun(value: any))
---@return any
function threads.await(what, start)
  if not coroutine.isyieldable() then
    error(what .. '.await waits, and only a thread can: put it into CreateThread(function() … end), an event or a command', 3)
  end
  local promised = promise.new()
  start(function(value) promised:resolve({ value }) end)
  return Citizen.Await(promised)[1]
end

--- Runs steps one after the other: `run(wait)`, where `wait(start)` goes on once `start`'s argument is called, on a later tick.
---@param run fun(wait: fun(start: fun(resume: fun(value: any))): any) never throws
function threads.steps(run)
  local thread = coroutine.create(run)
  local function resume(value)
    local isFine, problem = coroutine.resume(thread, value)
    if not isFine then print('^1' .. debug.traceback(thread, tostring(problem)) .. '^7') end
  end
  resume(function(start)
    start(resume)
    return coroutine.yield()
  end)
end

return threads
