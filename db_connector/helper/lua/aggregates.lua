-- Sums and counts: Q.CountRows and the others.

local places = part 'json-places'

---@return string
local function valuesText(given)
  return places.oneOrMoreText(given, 'values', function(value, path)
    return places.partsText(value, path, 'a value such as Q.Sum(…)', { 'as', 'fn', 'field' })
  end, 'a list of Q.Sum(…)')
end

local function value(builder, fn, field, as)
  local path = 'Q.' .. builder
  return places.remember(places.objectOf({
    'as', places.nameText(as, path),
    'fn', '"' .. fn .. '"',
    'field', field ~= nil and places.nameText(field, path),
  }))
end

local function ofField(builder, fn)
  return function(field, as)
    if field == nil then places.refuse('Q.' .. builder .. ': expected a name, got nil') end
    return value(builder, fn, field, as)
  end
end

local builders = {
  CountRows = function(as) return value('CountRows', 'count', nil, as) end,
  CountOf = ofField('CountOf', 'count'),
  CountDistinct = ofField('CountDistinct', 'countDistinct'),
  Sum = ofField('Sum', 'sum'),
  Min = ofField('Min', 'min'),
  Max = ofField('Max', 'max'),
}

return { valuesText = valuesText, builders = builders }
