-- A page of rows with the rows of other tables that belong to them: one find, and one `in` find for each relation.

local values = part 'json-values'
local places = part 'json-places'
local requests = part 'requests'
local results = part 'results'
local findAll = part 'find-all'

local RELATION = { 'as', 'table', 'from', 'to', 'many', 'filter', 'fields', 'sort', 'max' }

-- A filter's list holds no more.
local MAX_VALUES = 1000

local function checked(relations)
  local list = places.isList(relations) and relations or { relations }
  for index = 1, places.lengthOf(list) do
    local relation = list[index]
    for _, name in ipairs({ 'as', 'table', 'from', 'to' }) do
      if type(relation) ~= 'table' or type(relation[name]) ~= 'string' then
        places.refuse('relation ' .. index .. ': ' .. name .. ': expected a name; a relation is { as, table, from, to, many }')
      end
    end
    -- Before anything is sent: a mistake here must not cost a find first.
    local path = 'relation ' .. index
    places.parts(relation, path, RELATION)
    findAll.checkParts(relation, path .. ': ')
  end
  return list
end

local function includes(list, name)
  for _, member in ipairs(list) do if member == name then return true end end
  return false
end

--- The fields to ask for, and those of them that the script has not asked for.
local function fieldsWith(fields, names)
  if fields == nil then return nil, {} end
  local all, extra = { table.unpack(fields) }, {}
  for _, name in ipairs(names) do
    if not includes(all, name) then
      all[#all + 1] = name
      extra[#extra + 1] = name
    end
  end
  return all, extra
end

--- Each value once, in lists that a filter takes.
local function listsOf(keys, from)
  local lists, seen = {}, {}
  for _, key in ipairs(keys) do
    local value = key[from]
    if value ~= nil and not seen[value] then
      seen[value] = true
      local list = lists[#lists]
      if list == nil or #list == MAX_VALUES then
        list = setmetatable({}, values.listMark)
        lists[#lists + 1] = list
      end
      list[#list + 1] = value
    end
  end
  return lists
end

--- Puts the rows of one relation into `rows`.
local function relate(send, namespace, rows, keys, relation)
  local fields, extra = fieldsWith(relation.fields, { relation.to })
  local found = {}
  for _, list in ipairs(listsOf(keys, relation.from)) do
    local filter = { field = relation.to, op = 'in', value = list }
    if relation.filter ~= nil then filter = { ['and'] = { relation.filter, filter } } end
    local result = findAll.all(send, namespace, relation.table, { sort = relation.sort, max = relation.max, fields = fields, filter = filter })
    if result.State ~= 'ok' then error({ result = result }) end
    for _, other in ipairs(results.readers.Rows(result)) do
      local value = other[relation.to]
      for _, name in ipairs(extra) do other[name] = nil end
      found[value] = found[value] or {}
      table.insert(found[value], other)
    end
  end
  for index, row in ipairs(rows) do
    local value = keys[index][relation.from]
    local others = value ~= nil and found[value] or {}
    if relation.many then row[relation.as] = others else row[relation.as] = others[1] end
  end
end

---@return DbResult
local function findWith(send, namespace, tableName, query, relations)
  local list, names, asked = checked(relations), {}, {}
  for index, relation in ipairs(list) do names[index] = relation.from end
  for name, value in pairs(places.parts(query, 'query', requests.QUERY)) do asked[name] = value end
  places.namesText(asked.fields, 'fields')
  local fields, extra = fieldsWith(asked.fields, names)
  asked.fields = fields
  local page = send(requests.Find(namespace, tableName, asked))
  if page.State ~= 'ok' then return page end
  local rows, keys = results.readers.Rows(page), {}
  for index, row in ipairs(rows) do
    keys[index] = {}
    for _, name in ipairs(names) do keys[index][name] = row[name] end
  end
  for _, relation in ipairs(list) do relate(send, namespace, rows, keys, relation) end
  for _, row in ipairs(rows) do
    for _, name in ipairs(extra) do row[name] = nil end
  end
  return results.okResult({ rows = rows, hasMore = results.readers.HasMore(page) }, { Capped = page.Capped })
end

return { findWith = findWith }
