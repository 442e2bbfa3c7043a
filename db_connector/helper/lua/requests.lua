-- The calls by the method's arguments: operation, what messages call it, and what makes its payload.

local values = part 'json-values'
local places = part 'json-places'
local filters = part 'filters'
local rows = part 'rows'
local aggregates = part 'aggregates'
local schemas = part 'schema'
local writes = part 'writes'
local keys = part 'random-keys'
local results = part 'results'
local names = part 'known-names'

local QUERY = { 'filter', 'fields', 'sort', 'limit', 'offset' }
local AGGREGATE = { 'filter', 'groupBy', 'values', 'sort', 'limit', 'offset' }
local WRITE = { 'idempotencyKey', 'immediate' }
local UPSERT = names.join(WRITE, writes.EXISTING)
local BATCH = names.join(WRITE, { 'atomic' })

---@class DbRequest
---@field operation string
---@field what string names the call in a console line, such as `Find game.characters`
---@field payload fun(): string throws where an argument cannot be sent
---@field complete? fun(result: DbResult): DbResult adds to the answer what follows from the arguments; never throws

local function payload(namespace, ...)
  local members = { 'namespace', places.nameText(namespace, 'namespace') }
  for _, list in ipairs({ ... }) do
    for _, member in ipairs(list) do members[#members + 1] = member end
  end
  return places.objectOf(members)
end

local function durability(options, key)
  local kind = type(options.immediate)
  -- Anything else would be taken for false.
  if kind ~= 'nil' and kind ~= 'boolean' then places.refuse('immediate: expected true or false, got ' .. values.kindOf(options.immediate)) end
  return {
    'durability', options.immediate == true and '"immediate"',
    'idempotencyKey', places.plain(key, 'idempotencyKey'),
  }
end

--- With a key, so that a retry by the connector is the same write.
local function keyed(options) return durability(options, options.idempotencyKey or keys.randomKey()) end

local function tableMember(name) return { 'table', places.nameText(name, 'table') } end

local function filterMember(filter) return { 'filter', places.optional(filter, filters.filterText, 'filter') } end

local function pageMembers(query)
  return {
    'sort', places.optional(query.sort, rows.sortText),
    'limit', places.plain(query.limit, 'limit'),
    'offset', places.plain(query.offset, 'offset'),
  }
end

local function options(given, known) return places.parts(given, 'options', known or WRITE) end

local function dryRun(given) return { 'dryRun', places.plain(options(given, { 'dryRun' }).dryRun, 'dryRun') } end

local requests = {}

requests.QUERY, requests.WRITE, requests.BATCH = QUERY, WRITE, BATCH

--- @param operation string
--- @param what string
--- @param make fun(): string
local function request(operation, what, make) return { operation = operation, what = what, payload = make } end

--- A request for rows, whose result tells whether the sidecar's cap cut the page short.
local function page(operation, what, query, make)
  local made = request(operation, what, make)
  made.complete = function(result) return results.pageResult(result, type(query) == 'table' and query.limit or nil) end
  return made
end

local function on(name, namespace, tableName) return name .. ' ' .. tostring(namespace) .. '.' .. tostring(tableName) end

function requests.Call(operation, given)
  return request(operation, tostring(operation), function()
    return type(given) == 'string' and given or places.objectText(given, 'payload', 'a table')
  end)
end

function requests.Sync(namespace, schema, given)
  return request('schema.sync', 'Sync ' .. tostring(namespace), function()
    return payload(namespace, dryRun(given), { 'schema', schemas.schemaText(schema) })
  end)
end

function requests.Extend(namespace, partName, schema, given)
  return request('schema.extend', 'Extend ' .. tostring(namespace) .. ' ' .. tostring(partName), function()
    return payload(namespace, { 'part', places.nameText(partName, 'part') }, dryRun(given), { 'schema', schemas.schemaText(schema) })
  end)
end

function requests.Describe(namespace, partName)
  return request('schema.describe', 'Describe ' .. tostring(namespace), function()
    return payload(namespace, { 'part', places.plain(partName, 'part') })
  end)
end

function requests.Insert(namespace, tableName, given, opts)
  return request('insert', on('Insert', namespace, tableName), function()
    return payload(namespace, writes.members.insert(tableName, given), keyed(options(opts)))
  end)
end

function requests.Find(namespace, tableName, query)
  return page('find', on('Find', namespace, tableName), query, function()
    local given = places.parts(query, 'query', QUERY)
    return payload(namespace, tableMember(tableName), filterMember(given.filter), { 'fields', places.namesText(given.fields, 'fields') }, pageMembers(given))
  end)
end

function requests.Aggregate(namespace, tableName, query)
  return page('aggregate', on('Aggregate', namespace, tableName), query, function()
    local given = places.parts(query, 'query', AGGREGATE)
    local groupBy = type(given.groupBy) == 'string' and { given.groupBy } or given.groupBy
    return payload(namespace, tableMember(tableName), filterMember(given.filter), {
      'groupBy', places.namesText(groupBy, 'groupBy'),
      'values', places.optional(given.values, aggregates.valuesText),
    }, pageMembers(given))
  end)
end

function requests.Count(namespace, tableName, filter)
  return request('count', on('Count', namespace, tableName), function()
    return payload(namespace, tableMember(tableName), filterMember(filter))
  end)
end

--- What only sets may happen twice; what adds must not, so it gets a key.
function requests.Update(namespace, tableName, change, opts)
  return request('update', on('Update', namespace, tableName), function()
    local given = options(opts)
    local checked = places.parts(change, 'change', writes.CHANGE)
    return payload(namespace, writes.members.update(tableName, checked), checked.inc ~= nil and keyed(given) or durability(given, given.idempotencyKey))
  end)
end

function requests.Upsert(namespace, tableName, row, keyColumns, opts)
  return request('upsert', on('Upsert', namespace, tableName), function()
    local given = options(opts, UPSERT)
    return payload(namespace, writes.members.upsert(tableName, row, keyColumns, given), keyed(given))
  end)
end

---@param batch { key: string, atomic: boolean } the key if the options hold none
function requests.UpsertRows(namespace, tableName, list, keyColumns, opts, batch)
  return request('batch', on('Upsert', namespace, tableName), function()
    local given = options(opts, UPSERT)
    return payload(namespace, {
      'operations', writes.upsertsText(tableName, list, keyColumns, given),
      'atomic', tostring(batch.atomic),
    }, durability(given, given.idempotencyKey or batch.key))
  end)
end

function requests.Delete(namespace, tableName, selection, opts)
  return request('delete', on('Delete', namespace, tableName), function()
    local given = options(opts)
    return payload(namespace, writes.members.delete(tableName, selection), durability(given, given.idempotencyKey))
  end)
end

function requests.Batch(namespace, operations, opts)
  return request('batch', 'Batch ' .. tostring(namespace), function()
    local given = options(opts, BATCH)
    return payload(namespace, {
      'operations', places.listText(operations, 'operations', writes.operationText, 'a list of Q.Op.Insert(…) and others'),
      'atomic', places.plain(given.atomic, 'atomic'),
    }, keyed(given))
  end)
end

function requests.Flush(namespace)
  return request('flush', 'Flush ' .. tostring(namespace), function() return payload(namespace) end)
end

function requests.Health()
  return request('health', 'Health', function() return '{}' end)
end

return requests
