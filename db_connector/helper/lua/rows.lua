-- Rows, orders, numbers digit for digit: Q.Row, Q.Sort, Q.Number and what marks values.

local values = part 'json-values'
local writer = part 'json-writer'
local reader = part 'json-reader'
local places = part 'json-places'

local ROW = 'a table with values by column'
local SORT = 'Q.Sort(…), or { field, dir }'

---@param row DbRowGiven
---@param path string
---@return string
local function rowText(row, path) return places.objectText(row, path, ROW) end

--- Of one row or a list. An empty table is an empty list.
---@return string
local function rowsText(rows)
  if not places.isList(rows) and type(rows) ~= 'string' then return '[' .. rowText(rows, 'rows') .. ']' end
  return places.oneOrMoreText(rows, 'rows', rowText, 'a list of rows')
end

---@return string
local function sortText(sort)
  return places.oneOrMoreText(sort, 'sort', function(term, path) return places.partsText(term, path, SORT, { 'field', 'dir' }) end, 'a list of Q.Sort(…)')
end

local builders = { Null = values.Null }

function builders.Row(row)
  if not places.isObject(row) then places.refuse('Q.Row: expected a table with names, got ' .. values.kindOf(row)) end
  return places.remember(writer.objectJson(row, 'Q.Row'))
end

function builders.Sort(field, dir)
  local name = places.nameText(field, 'Q.Sort')
  return places.remember('{"field":' .. name .. ',"dir":' .. places.nameText(dir or 'asc', 'Q.Sort: dir') .. '}')
end

function builders.Number(digits)
  local text = type(digits) == 'number' and writer.jsonText(digits, 'Q.Number') or digits
  if type(text) ~= 'string' or not values.isNumberText(text) then
    places.refuse("Q.Number: expected digits such as '123.45', got " .. (type(digits) == 'string' and '"' .. digits .. '"' or values.kindOf(digits)))
  end
  return setmetatable({ text = text }, values.exactNumber)
end

local function mark(name, kind)
  return function(given)
    if given == nil then given = {} end
    if type(given) ~= 'table' then places.refuse('Q.' .. name .. ': expected a table, got ' .. values.kindOf(given)) end
    return values.marked(given, kind)
  end
end

builders.Object = mark('Object', values.objectMark)
builders.List = mark('List', values.listMark)

--- The same payload of a write, which does not wait in the write-behind queue; for `Call`. The text itself is kept, digit for digit.
function builders.Immediate(payload)
  local text = places.objectText(payload, 'Q.Immediate', 'the payload of a write')
  local content = reader.tryReadJson(text)
  if type(content) == 'table' and content.durability == 'immediate' then return text end
  local members = text:match('^%s*{%s*(.-)%s*}%s*$')
  return '{' .. members .. (members == '' and '' or ',') .. '"durability":"immediate"}'
end

return { rowText = rowText, rowsText = rowsText, sortText = sortText, builders = builders }
