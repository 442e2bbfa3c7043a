-- A list of rows, upserted in one batch: all or none. A database without transactions refuses that before it writes anything; there
-- the rows are written one by one, and the result is an error if one of them failed.

local keys = part 'random-keys'
local requests = part 'requests'
local results = part 'results'
local values = part 'json-values'

--- Where a row failed: its error, as that of the whole.
local function failureOf(failed, index, each)
  local written = 0
  for _, one in ipairs(each) do if one.State == 'ok' then written = written + 1 end end
  local reason = results.readers.ErrorMessage(failed):sub(#failed.Code + 3)
  local message = string.format('rows[%d]: %s (%d of %d rows are written)', index, reason, written, #each)
  local result = results.errorResult(failed.Code, message, failed.Id)
  -- As the sidecar does: places count from 0 in the answer.
  return results.withBody(results.with(result, { Status = failed.Status }), {
    error = { code = failed.Code, message = message, index = index - 1 },
  })
end

--- The answer to the batch as that of one upsert: rows written in all, and `Results` by row.
local function summed(result)
  local each, affected = results.readers.Results(result), 0
  if #each == 0 then return result end
  for index, one in ipairs(each) do
    if one.State ~= 'ok' then return failureOf(one, index, each) end
    affected = affected + results.readers.Number(one)
  end
  return results.okResult({ affected = affected, results = results.bodyOf(result).results }, { Id = result.Id, Status = result.Status })
end

---@return DbResult
local function upsertRows(send, namespace, tableName, rows, keyColumns, options)
  -- Both attempts share a key: a call that was refused as a whole is not remembered under it.
  local key = keys.randomKey()
  local result = send(requests.UpsertRows(namespace, tableName, rows, keyColumns, options, { key = key, atomic = true }))
  if result.Code == 'unsupported_operation' then
    result = send(requests.UpsertRows(namespace, tableName, rows, keyColumns, options, { key = key, atomic = false }))
  end
  return summed(result)
end

--- Whether an `Upsert` was given a list; an empty table with no mark is a row.
local function isListOfRows(given)
  return type(given) == 'table' and given ~= values.Null and values.markOf(given) ~= 'object'
    and (given[1] ~= nil or values.markOf(given) == 'array')
end

return { upsertRows = upsertRows, isListOfRows = isListOfRows }
