-- Answers, and what reads them.

local values = part 'json-values'
local writer = part 'json-writer'
local reader = part 'json-reader'

---@class DbResult
---@field Id string that of the ticket; empty where the call was refused
---@field State 'ok'|'error'
---@field Status integer HTTP status of the sidecar's signed answer; 0 where the answer is the connector's or the helper's own
---@field Code string error code; empty where `State` is `ok`
---@field Json string the answer's JSON text

-- Results are read more than once (`Rows`, then `HasMore`), so what was read is kept as long as the result is.
local bodies = setmetatable({}, { __mode = 'k' })

--- A result whose readers find this body, whatever its text says.
local function withBody(result, body)
  bodies[result] = body
  return result
end

---@param result DbResult
---@return table empty where there is none
local function bodyOf(result)
  local body = bodies[result]
  if body == nil then
    body = reader.tryReadJson(result.Json)
    if type(body) ~= 'table' then body = {} end
    bodies[result] = body
  end
  return body
end

local function errorResult(code, message, id)
  local json = '{"error":' .. writer.objectJson({ code = code, message = message }, 'error') .. '}'
  return { Id = id or '', State = 'error', Status = 0, Code = code, Json = json }
end

-- The text of a result that was put together here is written only where somebody reads it.
local lateText = {
  __index = function(result, name)
    if name ~= 'Json' then return nil end
    local json = writer.jsonText(bodies[result], 'result')
    rawset(result, 'Json', json)
    return json
  end,
}

--- A result that was put together here.
local function okResult(body, more)
  local result = { Id = '', State = 'ok', Status = 200, Code = '' }
  for name, value in pairs(more or {}) do result[name] = value end
  return withBody(setmetatable(result, lateText), setmetatable(body, values.objectMark))
end

--- The same result with more on it.
local function with(result, more)
  local copy = { Id = result.Id, State = result.State, Status = result.Status, Code = result.Code, Json = result.Json }
  for name, value in pairs(more) do copy[name] = value end
  return withBody(copy, bodies[result])
end

local function okBody(result) return result.State == 'ok' and bodyOf(result) or {} end

local function listIn(result, name)
  local list = okBody(result)[name]
  return type(list) == 'table' and list or {}
end

local readers = {}

function readers.Rows(result) return listIn(result, 'rows') end

function readers.HasMore(result) return okBody(result).hasMore == true end

function readers.Number(result)
  local body = okBody(result)
  local number = body.count or body.affected or body.inserted
  return type(number) == 'number' and number or 0
end

function readers.InsertedIds(result) return listIn(result, 'ids') end

function readers.IsQueued(result) return okBody(result).queued == true end

function readers.Flushed(result)
  local body = okBody(result)
  local function count(value) return type(value) == 'number' and value or 0 end
  return {
    enabled = body.enabled == true,
    flushed = count(body.flushed),
    deadLettered = count(body.deadLettered),
    remaining = count(body.remaining),
    halted = body.halted == true,
  }
end

local function partOf(result, body)
  local problem = type(body) == 'table' and body.error or nil
  local code = type(problem) == 'table' and tostring(problem.code or '') or ''
  local one = { Id = result.Id, State = code == '' and 'ok' or 'error', Status = result.Status, Code = code }
  return withBody(setmetatable(one, lateText), type(body) == 'table' and body or {})
end

function readers.Results(result)
  local list = {}
  for index, body in ipairs(listIn(result, 'results')) do list[index] = partOf(result, body) end
  return list
end

--- Counted from 1, so that it is the place in the script's own list.
function readers.FailedIndex(result)
  if result.State == 'ok' then return nil end
  local problem = bodyOf(result).error
  local index = type(problem) == 'table' and problem.index or nil
  return math.type(index) == 'integer' and index + 1 or nil
end

function readers.ErrorMessage(result)
  if result.State == 'ok' then return '' end
  local problem = bodyOf(result).error
  local message = type(problem) == 'table' and problem.message or nil
  return type(message) == 'string' and message ~= '' and result.Code .. ': ' .. message or result.Code
end

--- The result of a page, which tells whether the sidecar's cap cut it short. Without a limit there is nothing to cut.
local function pageResult(result, limit)
  local isCapped = math.type(limit) ~= nil and readers.HasMore(result) and #readers.Rows(result) < limit
  return with(result, { Capped = isCapped })
end

return { pageResult = pageResult, readers = readers, bodyOf = bodyOf, withBody = withBody, errorResult = errorResult, okResult = okResult, with = with }
