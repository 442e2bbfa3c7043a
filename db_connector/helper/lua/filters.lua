-- Which rows: Q.Eq and the others.

local values = part 'json-values'
local writer = part 'json-writer'
local places = part 'json-places'
local names = part 'known-names'

local NAMES = { 'field', 'op', 'value', 'and', 'or', 'not' }
local HINT = 'a filter such as Q.Eq(…), or a table'

local filterText

local function membersText(filters, path)
  return places.listText(filters, path, filterText)
end

--- Texts and tables may be mixed.
---@param filter DbFilter
---@param path string
---@return string
filterText = function(filter, path)
  if not places.isObject(filter) then return places.objectText(filter, path, HINT) end
  names.checkNames(filter, NAMES, path)
  local group = filter['and'] or filter['or'] or filter['not']
  if group == nil then return places.objectText(filter, path, HINT) end
  local members = {}
  for name, member in pairs(filter) do
    members[#members + 1] = name
    if name == 'and' or name == 'or' then members[#members + 1] = membersText(member, path .. '.' .. name)
    elseif name == 'not' then members[#members + 1] = filterText(member, path .. '.not')
    else members[#members + 1] = writer.jsonText(member, path .. '.' .. tostring(name)) end
  end
  return places.objectOf(members)
end

local function condition(builder, op, field, value)
  local path = 'Q.' .. builder
  local name = places.nameText(field, path)
  return places.remember('{"field":' .. name .. ',"op":"' .. op .. '","value":' .. writer.jsonText(value, path .. ': ' .. field) .. '}')
end

local function comparison(builder, op)
  return function(field, value) return condition(builder, op, field, value) end
end

local function listed(builder, op)
  return function(field, list)
    if not places.isList(list) then places.refuse('Q.' .. builder .. ': ' .. tostring(field) .. ': expected a list of values, got ' .. values.kindOf(list)) end
    return condition(builder, op, field, values.marked(list, values.listMark))
  end
end

--- A list does as well as several arguments.
local function group(builder, name)
  return function(...)
    local texts = {}
    places.eachOf(table.pack(...), function(filter)
      texts[#texts + 1] = filterText(filter, 'Q.' .. builder .. ': filter ' .. #texts + 1)
    end)
    return places.remember('{"' .. name .. '":[' .. table.concat(texts, ',') .. ']}')
  end
end

local builders = {
  Eq = comparison('Eq', 'eq'),
  Ne = comparison('Ne', 'ne'),
  Gt = comparison('Gt', 'gt'),
  Gte = comparison('Gte', 'gte'),
  Lt = comparison('Lt', 'lt'),
  Lte = comparison('Lte', 'lte'),
  In = listed('In', 'in'),
  NotIn = listed('NotIn', 'nin'),
  IsNull = function(field, isNull) return condition('IsNull', 'isNull', field, isNull == nil or isNull) end,
  StartsWith = comparison('StartsWith', 'startsWith'),
  Contains = comparison('Contains', 'contains'),
  And = group('And', 'and'),
  Or = group('Or', 'or'),
  Not = function(filter) return places.remember('{"not":' .. filterText(filter, 'Q.Not') .. '}') end,
}

return { filterText = filterText, builders = builders }
