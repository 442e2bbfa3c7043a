-- Names of properties in arguments: an unknown one would do nothing, so it is a fault of the script.

local values = part 'json-values'

-- Words of SQL and of other libraries, and the name that each has here.
local OTHER_WORDS = {
  where = { 'filter' },
  order = { 'sort' },
  orderBy = { 'sort' },
  columns = { 'fields' },
  select = { 'fields' },
  max = { 'limit' },
  group = { 'groupBy' },
  values = { 'set', 'rows', 'row' },
  data = { 'set', 'rows', 'row' },
  increment = { 'inc' },
  durability = { 'immediate' },
  key = { 'idempotencyKey', 'primaryKey' },
  required = { 'nullable' },
  notNull = { 'nullable' },
  alias = { 'as' },
}
-- Longest name that is compared with others.
local MAX_LENGTH = 64

local function includes(list, name)
  for _, member in ipairs(list) do if member == name then return true end end
  return false
end

--- A short name admits few faults: otherwise almost every name would be near to it.
local function mostFaults(length)
  if length < 2 then return 0 end
  if length < 6 then return 1 end
  return length < 10 and 2 or 3
end

--- Insertions, deletions, replacements and exchanges of neighbours that lead from one text to the other.
local function countFaults(left, right)
  local before, above = {}, {}
  for column = 0, #right do above[column] = column end
  for row = 1, #left do
    local current = { [0] = row }
    for column = 1, #right do
      local isSame = left:byte(row) == right:byte(column)
      local best = math.min(above[column - 1] + (isSame and 0 or 1), above[column] + 1, current[column - 1] + 1)
      local isExchange = row > 1 and column > 1
        and left:byte(row) == right:byte(column - 1) and left:byte(row - 1) == right:byte(column)
      current[column] = isExchange and math.min(best, before[column - 2] + 1) or best
    end
    before, above = above, current
  end
  return above[#right]
end

--- The name of the list that a mistyped one most likely means. Case does not count.
---@return string|nil
local function nearestName(name, names)
  if #name > MAX_LENGTH then return nil end
  local nearest, fewest = nil, mostFaults(#name) + 1
  for _, candidate in ipairs(names) do
    local faults = countFaults(name:lower(), candidate:lower())
    if faults < fewest then nearest, fewest = candidate, faults end
  end
  return nearest
end

local function adviceFor(name, names)
  local meant = nil
  for _, word in ipairs(OTHER_WORDS[name] or {}) do
    if meant == nil and includes(names, word) then meant = word end
  end
  meant = meant or nearestName(name, names)
  return meant and 'Did you mean ' .. meant .. '?' or 'Known names: ' .. table.concat(names, ', ')
end

--- Refuses names that are not in the list.
---@param given table
---@param names string[]
---@param path string how messages call the table
local function checkNames(given, names, path)
  for key in pairs(given) do
    local name = tostring(key)
    if not includes(names, key) then
      values.refuse(path .. '.' .. name .. ': unknown name. ' .. adviceFor(name, names), true)
    end
  end
end

--- The members of several lists of names.
local function join(...)
  local all = {}
  for _, list in ipairs({ ... }) do table.move(list, 1, #list, #all + 1, all) end
  return all
end

return { checkNames = checkNames, join = join }
