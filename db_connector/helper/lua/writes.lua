-- Writes: the members of their payloads, and Q.Op, the same as operations of a batch.

local values = part 'json-values'
local places = part 'json-places'
local filters = part 'filters'
local rows = part 'rows'
local names = part 'known-names'

local CHANGE = { 'filter', 'set', 'inc', 'all' }
local EXISTING = { 'update', 'inc' }
local EXPECTATION = { 'expect' }
-- Names that an operation as a table may have.
local OPERATION = {
  insert = { 'op', 'table', 'rows', 'expect' },
  update = { 'op', 'table', 'filter', 'set', 'inc', 'all', 'expect' },
  upsert = { 'op', 'table', 'row', 'keys', 'update', 'inc', 'expect' },
  delete = { 'op', 'table', 'filter', 'all', 'expect' },
}

local function tableText(name) return places.nameText(name, 'table') end
local function filterMember(filter) return places.optional(filter, filters.filterText, 'filter') end
local function incMember(inc)
  return places.optional(inc, function(given) return places.objectText(given, 'inc', 'a table with numbers by column') end)
end

local members = {}

function members.insert(tableName, given) return { 'table', tableText(tableName), 'rows', rows.rowsText(given) } end

function members.update(tableName, given)
  return {
    'table', tableText(tableName),
    'filter', filterMember(given.filter),
    'set', places.optional(given.set, rows.rowText, 'set'),
    'inc', incMember(given.inc),
    'all', places.plain(given.all, 'all'),
  }
end

function members.upsert(tableName, row, keys, existing, path)
  return {
    'table', tableText(tableName),
    'row', rows.rowText(row, path or 'row'),
    'keys', places.namesText(keys, 'keys'),
    'update', places.namesText(existing.update, 'update'),
    'inc', incMember(existing.inc),
  }
end

--- A table with neither `filter` nor `all` is taken for a filter, so that a mistake is refused and deletes nothing.
function members.delete(tableName, selection)
  local given = { filter = selection }
  if places.isObject(selection) and (selection.filter ~= nil or selection.all ~= nil) then
    given = places.parts(selection, 'selection', { 'filter', 'all' })
  end
  return { 'table', tableText(tableName), 'filter', filterMember(given.filter), 'all', places.plain(given.all, 'all') }
end

local function operation(op, list, given)
  local expect = given.expect
  if type(expect) == 'number' then expect = { affected = expect } end
  local whole = { 'op', '"' .. op .. '"' }
  for _, member in ipairs(list) do whole[#whole + 1] = member end
  whole[#whole + 1] = 'expect'
  whole[#whole + 1] = places.optional(expect, function(value) return places.partsText(value, 'expect', 'a number of rows', { 'affected' }) end)
  return places.remember(places.objectOf(whole))
end

--- Operations that upsert a list of rows, one for each.
---@return string
local function upsertsText(tableName, list, keys, existing)
  return places.listText(list, 'rows', function(row, path)
    return operation('upsert', members.upsert(tableName, row, keys, existing, path), {})
  end)
end

local fromTable = {
  insert = function(given) return members.insert(given.table, given.rows) end,
  update = function(given) return members.update(given.table, given) end,
  upsert = function(given) return members.upsert(given.table, given.row, given.keys, given) end,
  delete = function(given) return members.delete(given.table, { filter = given.filter, all = given.all }) end,
}

--- One operation of a batch, as text of Q.Op or a table.
---@return string
local function operationText(given, path)
  if not places.isObject(given) then return places.objectText(given, path, 'an operation such as Q.Op.Insert(…)') end
  local make = fromTable[given.op]
  if make == nil then places.refuse(path .. '.op: expected insert, update, upsert or delete, got ' .. tostring(given.op)) end
  local isMade, text = pcall(function()
    names.checkNames(given, OPERATION[given.op], given.op)
    return operation(given.op, make(given), given)
  end)
  if isMade then return text end
  if type(text) == 'table' and text.invalid then values.refuse(path .. ': ' .. text.invalid, text.isFault) end
  error(text, 0)
end

local Op = {
  Insert = function(tableName, given, options)
    return operation('insert', members.insert(tableName, given), places.parts(options, 'options', EXPECTATION))
  end,
  Update = function(tableName, change, options)
    return operation('update', members.update(tableName, places.parts(change, 'change', CHANGE)), places.parts(options, 'options', EXPECTATION))
  end,
  Upsert = function(tableName, row, keys, options)
    local given = places.parts(options, 'options', names.join(EXPECTATION, EXISTING))
    return operation('upsert', members.upsert(tableName, row, keys, given), given)
  end,
  Delete = function(tableName, selection, options)
    return operation('delete', members.delete(tableName, selection), places.parts(options, 'options', EXPECTATION))
  end,
}

--- Operations and rows count from 1, as lists in Lua do; on the wire from 0.
local function Result(operationIndex, row)
  row = row or 1
  for _, place in ipairs({ operationIndex, row }) do
    if math.type(place) ~= 'integer' or place < 1 then places.refuse('Q.Result: expected places from 1, got ' .. tostring(place)) end
  end
  return setmetatable({ ['$result'] = { operationIndex - 1, row - 1 } }, values.objectMark)
end

return { CHANGE = CHANGE, EXISTING = EXISTING, members = members, operationText = operationText, upsertsText = upsertsText, builders = { Op = Op, Result = Result } }
