-- DB: the methods, each with a callback and as `.await`.

local calls = part 'calls'
local deliveries = part 'deliveries'
local findAll = part 'find-all'
local findWith = part 'find-with'
local readiness = part 'readiness'
local requests = part 'requests'
local results = part 'results'
local places = part 'json-places'
local threads = part 'threads'
local upsert = part 'upsert-rows'
local writeAll = part 'write-all'

local UNNAMED_TICKET = { Id = '', Accepted = true, Error = '' }

local database = {}
local DB = setmetatable({}, {
  __index = function(_, name)
    if name == 'connector' then return calls.connector end
    return database[name]
  end,
  __newindex = function(_, name, value)
    if name ~= 'connector' then error('DB.' .. tostring(name) .. ': only DB.connector can be set', 2) end
    calls.connector = value
  end,
})

--- The arguments, of which the last one may be a callback wherever it stands behind the required ones.
---@param required integer
local function split(required, ...)
  local given = table.pack(...)
  -- `DB:Find(…)` does as well.
  if given[1] == DB then given = table.pack(select(2, ...)) end
  for index = required + 1, given.n do
    if type(given[index]) == 'function' then
      local callback = given[index]
      given.n = index - 1
      return given, callback
    end
  end
  return given, nil
end

--- A method whose work is begun by `begin(arguments, deliver)`, which returns the ticket.
---@param required integer arguments that no callback can stand in place of
local function method(name, required, what, begin)
  local callable = {
    await = function(...)
      local given = split(required, ...)
      return threads.await('DB.' .. name, function(resume) begin(given, resume) end)
    end,
  }
  database[name] = setmetatable(callable, {
    __call = function(_, ...)
      local given, callback = split(required, ...)
      return begin(given, deliveries.to(what(given), callback))
    end,
  })
end

--- One call.
local function single(name, required)
  local make = requests[name]
  method(name, required, function(given) return make(table.unpack(given, 1, given.n)).what end, function(given, deliver)
    return calls.send(make(table.unpack(given, 1, given.n)), deliver)
  end)
end

--- Names a call in a console line.
local function namer(name)
  return function(given)
    local tableName = type(given[2]) == 'string' and '.' .. given[2] or ''
    return name .. ' ' .. tostring(given[1]) .. tableName
  end
end

--- Begins the steps of several calls, of which the script hears once.
local function stepsOf(what, run)
  return function(given, deliver)
    local hasReturned = false
    threads.steps(function(wait)
      local function send(request)
        return wait(function(resume) calls.send(request, resume) end)
      end
      local isFine, result = pcall(run, send, table.unpack(given, 1, given.n))
      if not isFine then
        deliveries.tellIfFault(what(given), result)
        result = findAll.failureOf(result)
      end
      if hasReturned then deliver(result) else threads.after(0, function() deliver(result) end) end
    end)
    hasReturned = true
    return UNNAMED_TICKET
  end
end

--- A method of several calls.
local function composed(name, required, run)
  local what = namer(name)
  method(name, required, what, stepsOf(what, run))
end

for name, required in pairs({
  Call = 2, Sync = 2, Extend = 3, Describe = 1, Insert = 3, Find = 2, Aggregate = 3, Count = 2, Update = 3, Delete = 3,
  Batch = 2, Flush = 1, Health = 0,
}) do
  single(name, required)
end

--- A `Find` of one row, with more on its result.
local function findOne(send, namespace, tableName, query, more)
  local asked = {}
  for name, value in pairs(query) do asked[name] = value end
  asked.limit = 1
  local result = send(requests.Find(namespace, tableName, asked))
  return results.with(result, more(results.readers.Rows(result)[1]))
end

composed('First', 2, function(send, namespace, tableName, query)
  return findOne(send, namespace, tableName, places.parts(query, 'query', requests.QUERY), function(row) return { Row = row } end)
end)

composed('Value', 3, function(send, namespace, tableName, field, query)
  local asked = {}
  for name, value in pairs(places.parts(query, 'query', requests.QUERY)) do asked[name] = value end
  asked.fields = { field }
  return findOne(send, namespace, tableName, asked, function(row) return { Value = row and row[field] } end)
end)

composed('FindAll', 2, findAll.all)
composed('FindWith', 4, findWith.findWith)
composed('InsertAll', 3, writeAll.insert)
composed('BatchAll', 2, writeAll.batch)

do
  local what = namer('Upsert')
  local several = stepsOf(what, upsert.upsertRows)
  method('Upsert', 4, what, function(given, deliver)
    if upsert.isListOfRows(given[3]) then return several(given, deliver) end
    return calls.send(requests.Upsert(table.unpack(given, 1, given.n)), deliver)
  end)
end

method('Ready', 0, function() return 'Ready' end, function(_, deliver)
  readiness.awaitSidecar(deliver)
  return UNNAMED_TICKET
end)

--- All rows of a query, one after the other, read page by page as they are used. This alone throws, a table with the result as
--- `result`, since a loop has no other way to end badly.
function database.FindEach(...)
  local namespace, tableName, query = table.unpack(split(2, ...), 1, 3)
  local function send(request)
    return threads.await('DB.FindEach', function(resume) calls.send(request, resume) end)
  end
  local failed = { __tostring = function(problem) return results.readers.ErrorMessage(problem.result) end }
  local rows, at = {}, 0
  local nextRows = findAll.pages(send, namespace, tableName, query)
  return function()
    at = at + 1
    while rows ~= nil and rows[at] == nil do
      local isFine, page = pcall(nextRows)
      if not isFine then deliveries.tellIfFault('FindEach ' .. tostring(namespace) .. '.' .. tostring(tableName), page) end
      if not isFine then error(setmetatable({ result = findAll.failureOf(page) }, failed)) end
      rows, at = page, 1
    end
    return rows and rows[at]
  end
end

for name, read in pairs(results.readers) do
  database[name] = function(first, second) return read(first == DB and second or first) end
end

return DB
