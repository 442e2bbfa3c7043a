-- Exports of connectors: lists of calls and of ids. A list of one goes by the export for one record, and so do lists to a connector
-- that has no exports for lists: an older one may run until its resource starts again.

local results = part 'results'

local link = { MAX_RECORDS = 512 }

-- Characters of results after which a connector hands out no more in one list.
local MAX_TAKEN_CHARS = 256000

local withoutLists = {}

local function ask(connector, name, question)
  local resource = exports[connector]
  return resource[name](resource, question)
end

--- Whether the database did what was asked is not known then.
function link.lost(id, why)
  return results.errorResult('bundle_unavailable', why .. '; the outcome of the call is unknown', id)
end

function link.refused(code, message) return { Id = '', Accepted = false, Error = code .. ': ' .. message } end

local function firstLine(problem)
  local text = tostring(problem):gsub('%^%d', '')
  return text:match('No such export[^\n]*') or text:match('[^\n]+') or text
end

--- The server says so where the resource does not run, and where it has no export of this name.
local function isMissing(problem) return tostring(problem):find('No such export', 1, true) ~= nil end

local function unavailable(connector, problem)
  return link.refused('bundle_unavailable', connector .. ' is not running (' .. firstLine(problem) .. ')')
end

local function stopped(connector, id, problem) return link.lost(id, connector .. ' has stopped (' .. firstLine(problem) .. ')') end

local function forgotten(connector, id) return link.lost(id, connector .. ' no longer knows the call; was it restarted?') end

local function ticketIn(given)
  if type(given) == 'table' and type(given.Id) == 'string' and type(given.Error) == 'string' then return given end
  return link.refused('internal', 'the connector answered with no ticket')
end

--- false while it is not there.
local function resultIn(connector, id, taken)
  local state = type(taken) == 'table' and taken.State or nil
  if state == 'pending' then return false end
  if (state == 'ok' or state == 'error') and type(taken.Code) == 'string' and type(taken.Json) == 'string' then return taken end
  return forgotten(connector, id)
end

--- The answers to questions one by one; once one fails, `failed` makes the others.
local function askEach(connector, name, questions, answerIn, failed)
  local answers = {}
  for index, question in ipairs(questions) do
    local isFine, answer = pcall(ask, connector, name, question)
    if not isFine then
      for rest = index, #questions do answers[rest] = failed(rest, answer) end
      return answers
    end
    answers[index] = answerIn(index, answer)
  end
  if #questions > 1 then withoutLists[connector] = true end
  return answers
end

--- The resource has started or stopped: the next one may have other exports.
function link.forget(connector) withoutLists[connector] = nil end

--- A ticket for each call, in order; at most MAX_RECORDS. Never throws.
function link.send(connector, calls)
  local records = {}
  for index, call in ipairs(calls) do records[index] = { Operation = call.operation, Json = call.json } end
  if #calls > 1 and not withoutLists[connector] then
    local isFine, given = pcall(ask, connector, 'CallMany', records)
    if isFine or not isMissing(given) then
      local tickets = {}
      for index = 1, #calls do
        tickets[index] = isFine and ticketIn(type(given) == 'table' and given[index]) or unavailable(connector, given)
      end
      return tickets
    end
  end
  return askEach(connector, 'Call', records,
    function(_, ticket) return ticketIn(ticket) end,
    function(_, problem) return unavailable(connector, problem) end)
end

--- A result for each id, in order, at most MAX_RECORDS; false while it is not there, nil from the place on from which none was asked
--- for, as the results before it were enough for one copy. Never throws.
function link.take(connector, ids)
  if #ids > 1 and not withoutLists[connector] then
    local isFine, given = pcall(ask, connector, 'TakeMany', ids)
    if isFine or not isMissing(given) then
      local taken, chars = {}, 0
      for index, id in ipairs(ids) do
        local result = isFine and resultIn(connector, id, type(given) == 'table' and given[index])
        if not isFine then result = stopped(connector, id, given) end
        if result then chars = chars + #result.Json elseif chars >= MAX_TAKEN_CHARS then return taken end
        taken[index] = result
      end
      return taken
    end
  end
  local questions = {}
  for index, id in ipairs(ids) do questions[index] = { Id = id } end
  return askEach(connector, 'TakeResult', questions,
    function(index, taken) return resultIn(connector, ids[index], taken) end,
    function(index, problem) return stopped(connector, ids[index], problem) end)
end

return link
