-- `Ready`: asks for health until the sidecar itself has answered, whatever it says; a signed answer has a status.

local calls = part 'calls'
local requests = part 'requests'
local results = part 'results'
local threads = part 'threads'

local FIRST_PAUSE_MS = 250
local LONGEST_PAUSE_MS = 2000
-- After this long of waiting one line says so.
local PATIENCE_MS = 10000

---@param deliver fun(result: DbResult)
local function awaitSidecar(deliver)
  local beganAt, isTold = threads.elapsedMs(), false
  local function attempt(pauseMs)
    calls.send(requests.Health(), function(result)
      if result.Status > 0 then return deliver(result) end
      if not isTold and threads.elapsedMs() - beganAt > PATIENCE_MS then
        isTold = true
        print('^3still waiting for the database: ' .. results.readers.ErrorMessage(result) .. '; db-health says more^7')
      end
      threads.after(pauseMs, function() attempt(math.min(pauseMs * 2, LONGEST_PAUSE_MS)) end)
    end)
  end
  attempt(FIRST_PAUSE_MS)
end

return { awaitSidecar = awaitSidecar }
