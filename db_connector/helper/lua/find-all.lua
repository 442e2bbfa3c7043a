-- All rows of a query, a page after the other, by key.

local values = part 'json-values'
local places = part 'json-places'
local requests = part 'requests'
local results = part 'results'
local order = part 'row-order'
local filters = part 'filters'
local rowsPart = part 'rows'

local ALL = { 'filter', 'fields', 'sort', 'max', 'limit', 'offset' }

-- More rows than this are refused where a script has not said how many it can bear.
local DEFAULT_MAX = 100000
local HINT = 'give a filter, a larger max, or walk through them with FindEach'

local findAll = {}

--- Ends the pages with a result that is no page.
local function must(result)
  if result.State ~= 'ok' then error({ result = result }) end
  return result
end

--- The result that an error of these steps stands for.
function findAll.failureOf(problem)
  if type(problem) == 'table' and problem.result then return problem.result end
  if type(problem) == 'table' and problem.invalid then
    return results.with(results.errorResult('invalid_request', problem.invalid), problem.more or {})
  end
  return results.errorResult('internal', tostring(problem))
end

local function contains(list, value)
  for _, member in ipairs(list) do if member == value then return true end end
  return false
end

--- nil where the table has no key, or is not there, which the next page tells better.
local function keyOf(described, tableName)
  local schema = results.bodyOf(described).schema
  for _, declared in ipairs(schema and schema.tables or {}) do
    if declared.name == tableName then return declared.primaryKey end
  end
  return nil
end

--- Where the table has no key the order is empty. `extra`: what is asked for only to go on, and is taken away again.
local function planOf(send, namespace, tableName, query)
  local key = keyOf(must(send(requests.Describe(namespace))), tableName)
  local terms = key and order.total(query.sort, key) or {}
  if query.fields == nil then return { order = terms, extra = {} } end
  local fields, extra = { table.unpack(query.fields) }, {}
  for _, term in ipairs(terms) do
    if not contains(fields, term.field) then
      fields[#fields + 1] = term.field
      extra[#extra + 1] = term.field
    end
  end
  return { order = terms, extra = extra, fields = fields }
end

--- A table without a key is read by offset. Each page begins with the last row of the one before: where another one stands there,
--- rows have come or gone in front of it, and the next ones would be missed or come twice.
local function pageByOffset(send, namespace, tableName, query, last, offset)
  local page = must(send(requests.Find(namespace, tableName, {
    filter = query.filter, sort = query.sort, fields = query.fields, offset = offset - 1,
  })))
  local rows = results.readers.Rows(page)
  local first = table.remove(rows, 1)
  if first == nil or not findAll.isSame(first, last) then
    local message = 'rows of ' .. tableName .. ' came or went while it was read, and it has no primary key; ask again'
    error({ result = results.errorResult('conflict_retry', message) })
  end
  return rows, results.readers.HasMore(page)
end

--- Whether two values that were read are the same, member by member.
function findAll.isSame(one, other)
  if type(one) ~= 'table' or type(other) ~= 'table' then return one == other end
  for name, value in pairs(one) do if not findAll.isSame(value, other[name]) then return false end end
  for name in pairs(other) do if one[name] == nil then return false end end
  return true
end

---@param place string what messages put before the name of a part
function findAll.checkParts(given, place)
  local max = given.max
  places.optional(given.filter, filters.filterText, place .. 'filter')
  places.optional(given.sort, rowsPart.sortText)
  places.namesText(given.fields, place .. 'fields')
  if max ~= nil and (type(max) ~= 'number' or max ~= max) then
    places.refuse(place .. 'max: expected a number of rows, got ' .. (max ~= max and 'NaN' or values.kindOf(max)))
  end
end

local function checked(query)
  local given = places.parts(query, 'query', ALL)
  for _, name in ipairs({ 'limit', 'offset' }) do
    if given[name] ~= nil then
      places.refuse(name .. ': all rows are asked for; use Find for a part of them, or max for an upper bound')
    end
  end
  findAll.checkParts(given, '')
  return given
end

--- Of all that is in a row too: the script may change it.
local function copyOf(value)
  if type(value) ~= 'table' then return value end
  local copy = {}
  for name, member in pairs(value) do copy[name] = copyOf(member) end
  return copy
end

local function nextPage(send, namespace, tableName, query, plan, last, offset)
  if #plan.order == 0 then
    local asked = { filter = query.filter, sort = query.sort, fields = plan.fields }
    return pageByOffset(send, namespace, tableName, asked, last, offset)
  end
  local after = order.after(last, plan.order)
  if after == nil then return nil end
  local both = query.filter == nil and after or { ['and'] = { query.filter, after } }
  local page = must(send(requests.Find(namespace, tableName, { filter = both, sort = query.sort, fields = plan.fields })))
  return results.readers.Rows(page), results.readers.HasMore(page)
end

--- Pages one after the other: a function that gives the rows of the next one, and nil behind the last. It throws what `failureOf` reads.
---@param send fun(request: DbRequest): DbResult waits for the answer
---@return fun(): table[]|nil
function findAll.pages(send, namespace, tableName, query)
  local plan, last, goesOn
  local given, offset = nil, 0

  local function firstPage()
    given = checked(query)
    -- A short table is one call: its key matters only where it goes on, or where columns have to be asked for.
    plan = given.fields and planOf(send, namespace, tableName, given) or nil
    local asked = { filter = given.filter, sort = given.sort, fields = plan and plan.fields }
    local page = must(send(requests.Find(namespace, tableName, asked)))
    return results.readers.Rows(page), results.readers.HasMore(page)
  end

  return function()
    local rows, hasMore
    if given == nil then
      rows, hasMore = firstPage()
    elseif goesOn then
      rows, hasMore = nextPage(send, namespace, tableName, given, plan, last, offset)
    end
    if rows == nil then return nil end
    goesOn = hasMore and #rows > 0
    -- A copy, since what is asked for only to go on is taken out of the rows.
    last = goesOn and copyOf(rows[#rows]) or nil
    offset = offset + #rows
    if goesOn and plan == nil then plan = planOf(send, namespace, tableName, given) end
    for _, field in ipairs(plan and plan.extra or {}) do
      for _, row in ipairs(rows) do row[field] = nil end
    end
    return rows
  end
end

--- All rows in one result, at most `max`.
---@return DbResult
function findAll.all(send, namespace, tableName, query)
  local max, all = type(query) == 'table' and query.max or DEFAULT_MAX, {}
  for rows in findAll.pages(send, namespace, tableName, query) do
    table.move(rows, 1, #rows, #all + 1, all)
    if #all > max then
      return results.errorResult('too_many_rows', string.format('%s has more than %s such rows; %s', tableName, tostring(max), HINT))
    end
  end
  return results.okResult({ rows = all, hasMore = false })
end

return findAll
