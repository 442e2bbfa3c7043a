-- Lists of any length, in as many calls as it takes, one after the other: InsertAll and BatchAll. They end with the first call that
-- fails and tell how far they came; with the same `idempotencyKey` the same list may be sent again, and nothing is done twice.

local values = part 'json-values'
local places = part 'json-places'
local keys = part 'random-keys'
local requests = part 'requests'
local results = part 'results'
local rowsPart = part 'rows'
local writes = part 'writes'

-- What the sidecar takes in one call, unless its owner said otherwise.
local MAX_MEMBERS = 1000
-- A payload holds 1,000,000 characters; the rest is for the names and the key.
local MAX_CHARS = 990000

local function textsOf(list, path, textOf)
  if not places.isList(list) then places.refuse(path .. ': expected a list, got ' .. values.kindOf(list)) end
  local texts = {}
  for index = 1, places.lengthOf(list) do texts[index] = textOf(list[index], path .. '[' .. index .. ']') end
  return texts
end

--- Runs `read` and returns its values. After a mistake of the script the result says that nothing is done.
local function beforeSending(read)
  local isFine, first, second = pcall(read)
  if isFine then return first, second end
  if type(first) == 'table' then first.more = { Done = 0, Failed = 0 } end
  error(first, 0)
end

--- As many as one payload holds; one that is too long by itself goes alone and is refused by its name.
local function partLength(texts, from, maxMembers)
  local chars, count = 0, 0
  while count < maxMembers and from + count <= #texts do
    chars = chars + #texts[from + count] + 1
    if chars > MAX_CHARS and count > 0 then break end
    count = count + 1
  end
  return count
end

--- @param call fun(listText: string, options: table): DbResult
--- @param note fun(result: DbResult, count: integer)
--- @return DbResult|nil failure nil where all are done
local function inParts(texts, options, call, note)
  local key = options.idempotencyKey or keys.randomKey()
  local done, maxMembers = 0, MAX_MEMBERS
  while done < #texts do
    local count = partLength(texts, done + 1, maxMembers)
    local partOptions = {}
    for name, value in pairs(options) do partOptions[name] = value end
    partOptions.idempotencyKey = string.format('%s:%d-%d', key, done, done + count)
    local result = call(table.move(texts, done + 1, done + count, 1, {}), partOptions)
    if result.Code == 'too_many_rows' and count > 1 then
      maxMembers = (count + 1) // 2
    elseif result.State ~= 'ok' then
      return results.with(result, { Done = done, Failed = count })
    else
      done = done + count
      note(result, count)
    end
  end
  return nil
end

local all = {}

function all.insert(send, namespace, tableName, rows, options)
  local texts, given = beforeSending(function()
    return textsOf(rows, 'rows', rowsPart.rowText), places.parts(options, 'options', requests.WRITE)
  end)
  local ids, isQueued = {}, false
  local failure = inParts(texts, given, function(list, partOptions)
    return send(requests.Insert(namespace, tableName, '[' .. table.concat(list, ',') .. ']', partOptions))
  end, function(result)
    isQueued = isQueued or results.readers.IsQueued(result)
    local made = results.readers.InsertedIds(result)
    table.move(made, 1, #made, #ids + 1, ids)
  end)
  if failure then return failure end
  return results.okResult(isQueued and { queued = true } or { inserted = #texts, ids = ids }, { Done = #texts, Failed = 0 })
end

--- Each operation for itself: what belongs together is one `Batch`.
function all.batch(send, namespace, operations, options)
  local texts, given = beforeSending(function()
    local checked = places.parts(options, 'options', requests.BATCH)
    if checked.atomic then places.refuse('atomic: BatchAll makes several calls; all or nothing is one Batch') end
    return textsOf(operations, 'operations', writes.operationText), checked
  end)
  local each, isQueued, partOptions = {}, false, { idempotencyKey = given.idempotencyKey, immediate = given.immediate, atomic = false }
  local failure = inParts(texts, partOptions, function(list, opts) return send(requests.Batch(namespace, list, opts)) end, function(result)
    isQueued = isQueued or results.readers.IsQueued(result)
    local bodies = results.bodyOf(result).results or {}
    table.move(bodies, 1, #bodies, #each + 1, each)
  end)
  if failure then return failure end
  return results.okResult(isQueued and { queued = true } or { results = each }, { Done = #texts, Failed = 0 })
end

return all
