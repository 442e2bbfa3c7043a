-- Declarations of tables: Q.Schema and below.

local values = part 'json-values'
local writer = part 'json-writer'
local places = part 'json-places'
local names = part 'known-names'

local COLUMN = {
  'name', 'type', 'nullable', 'default', 'unique', 'renamedFrom', 'length', 'precision', 'scale', 'autoIncrement', 'oneOf',
  'onUpdate', 'derived',
}
local DERIVATION = { 'from', 'path', 'fold' }
local INDEX = { 'name', 'columns', 'unique' }
local TABLE = { 'name', 'columns', 'primaryKey', 'indexes', 'renamedFrom' }

-- Options that are lists of names, of tables, columns and indexes; elsewhere `{}` has no place in a schema.
local LISTS = { primaryKey = true, columns = true, oneOf = true }

--- The text of an object: first what is given by name and text, then the options.
local function declaration(path, first, options)
  local members = first
  for name, value in pairs(options) do
    local memberPath = path .. '.' .. tostring(name)
    members[#members + 1] = name
    members[#members + 1] = LISTS[name] and places.namesText(value, memberPath) or writer.jsonText(value, memberPath)
  end
  return places.objectOf(members)
end

local function checkColumn(column, path)
  names.checkNames(column, COLUMN, path)
  if places.isObject(column.derived) then names.checkNames(column.derived, DERIVATION, path .. '.derived') end
end

local function columnText(column, path)
  if places.isObject(column) then checkColumn(column, path) end
  return places.objectText(column, path, 'a column such as Q.Int32(…)')
end

local function indexText(index, path) return places.partsText(index, path, 'an index such as Q.Index(…)', INDEX) end

local function without(given, ...)
  local rest = {}
  for name, value in pairs(given) do rest[name] = value end
  for _, name in ipairs({ ... }) do rest[name] = nil end
  return rest
end

local function tableText(declared, path)
  if not places.isObject(declared) then return places.objectText(declared, path, 'a table such as Q.Table(…)') end
  names.checkNames(declared, TABLE, path)
  return declaration(path, {
    'columns', places.optional(declared.columns, function(columns) return places.listText(columns, path .. '.columns', columnText) end),
    'indexes', places.optional(declared.indexes, function(indexes) return places.listText(indexes, path .. '.indexes', indexText) end),
  }, without(declared, 'columns', 'indexes'))
end

--- Of a schema, as text or a table.
---@param schema DbSchema
---@return string
local function schemaText(schema)
  if not places.isObject(schema) then return places.objectText(schema, 'schema', 'a schema such as Q.Schema(…)') end
  names.checkNames(schema, { 'tables' }, 'schema')
  return '{"tables":' .. places.listText(schema.tables, 'schema.tables', tableText) .. '}'
end

local function column(builder, name, kind, options)
  local path = 'Q.' .. builder
  local place = path .. ': ' .. tostring(name)
  local given = places.parts(options, place, COLUMN)
  checkColumn(given, place)
  return places.remember(declaration(place, {
    'name', places.nameText(name, path),
    'type', places.nameText(kind, path .. ': type'),
  }, given))
end

local function ofType(builder, kind)
  return function(name, options) return column(builder, name, kind, options) end
end

local builders = {
  Int32 = ofType('Int32', 'int32'),
  Int64 = ofType('Int64', 'int64'),
  Text = ofType('Text', 'string'),
  LongText = ofType('LongText', 'text'),
  Bool = ofType('Bool', 'bool'),
  Decimal = ofType('Decimal', 'decimal'),
  Double = ofType('Double', 'float64'),
  Json = ofType('Json', 'json'),
  DateTime = ofType('DateTime', 'datetime'),
  Date = ofType('Date', 'date'),
  Uuid = ofType('Uuid', 'uuid'),
  Bytes = ofType('Bytes', 'bytes'),
  Column = function(name, kind, options) return column('Column', name, kind, options) end,
}

function builders.Schema(...)
  local tables = {}
  places.eachOf(table.pack(...), function(one)
    -- A table that is left out of a schema is taken away.
    if one == nil then places.refuse('Q.Schema: table ' .. #tables + 1 .. ': expected a table such as Q.Table(…), got nil') end
    tables[#tables + 1] = one
  end)
  return places.remember(schemaText({ tables = tables }))
end

function builders.Table(name, columns, options)
  local path = 'Q.Table: ' .. tostring(name)
  local declared = without(places.parts(options, path, TABLE))
  declared.name, declared.columns = name, columns
  places.nameText(name, 'Q.Table')
  return places.remember(tableText(declared, path))
end

function builders.Index(name, columns, options)
  local path = 'Q.Index: ' .. tostring(name)
  return places.remember(declaration(path, {
    'name', places.nameText(name, 'Q.Index'),
    'columns', places.namesText(columns, path .. '.columns'),
  }, places.parts(options, path, INDEX)))
end

--- `path` counts places of a list from 0, as the sidecar does: it is a path in JSON.
function builders.Derived(name, kind, options)
  local given = places.parts(options, 'Q.Derived: ' .. tostring(name), names.join(DERIVATION, COLUMN))
  local rest = without(given, 'from', 'path', 'fold')
  rest.derived = setmetatable({ from = given.from, path = given.path, fold = given.fold }, values.objectMark)
  return column('Derived', name, kind, rest)
end

return { schemaText = schemaText, builders = builders }
