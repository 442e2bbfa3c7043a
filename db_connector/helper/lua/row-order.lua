-- The order of a `Find`, and what comes after a row in it.

local values = part 'json-values'
local reader = part 'json-reader'
local places = part 'json-places'

local order = {}

---@class DbOrderedBy
---@field field string
---@field dir 'asc'|'desc'

--- A term is text from Q.Sort, which may hold a list, or a table.
local function addTerms(terms, given)
  local term = given
  if type(given) == 'string' then term = reader.tryReadJson(given) end
  if places.isList(term) then
    for _, one in ipairs(term) do addTerms(terms, one) end
    return
  end
  if type(term) ~= 'table' or type(term.field) ~= 'string' then
    places.refuse('sort: expected Q.Sort(…), or { field, dir }, got ' .. values.kindOf(term))
  end
  terms[#terms + 1] = { field = term.field, dir = term.dir == 'desc' and 'desc' or 'asc' }
end

--- The sort, and then the key, which makes it total (contract section 5).
---@param sort any
---@param key string[]
---@return DbOrderedBy[]
function order.total(sort, key)
  local terms, isNamed = {}, {}
  if sort ~= nil then addTerms(terms, sort) end
  for _, term in ipairs(terms) do isNamed[term.field] = true end
  for _, field in ipairs(key) do
    if not isNamed[field] then terms[#terms + 1] = { field = field, dir = 'asc' } end
  end
  return terms
end

local function orNull(field, filter)
  local isNull = { field = field, op = 'isNull', value = true }
  return filter == nil and isNull or { ['or'] = { filter, isNull } }
end

--- NULL comes first ascending and last descending (contract section 4).
local function valuesAfter(field, dir, value)
  local isAscending = dir == 'asc'
  if value == nil then return isAscending and { field = field, op = 'isNull', value = false } or nil end
  local after
  if type(value) == 'boolean' then
    -- Truth values know no greater and less.
    after = value ~= isAscending and { field = field, op = 'eq', value = isAscending } or nil
  else
    after = { field = field, op = isAscending and 'gt' or 'lt', value = value }
  end
  if isAscending then return after end
  return orNull(field, after)
end

--- A filter for the rows that come after one: those that are greater in the first column, or equal in it and greater in the second,
--- and so on. nil where no row can come after it.
---@param row table
---@param terms DbOrderedBy[]
---@return table|nil
function order.after(row, terms)
  local alternatives, equal = {}, {}
  for _, term in ipairs(terms) do
    local value = row[term.field]
    local beyond = valuesAfter(term.field, term.dir, value)
    if beyond ~= nil then
      if #equal > 0 then beyond = { ['and'] = table.move(equal, 1, #equal, 1, { [#equal + 1] = beyond }) } end
      alternatives[#alternatives + 1] = beyond
    end
    if value == nil then value = values.Null end
    equal[#equal + 1] = { field = term.field, op = 'eq', value = value }
  end
  if #alternatives == 0 then return nil end
  return { ['or'] = alternatives }
end

return order
