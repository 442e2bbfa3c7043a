-- What stands where an object or a list is expected: JSON text, as the builders return it, or a table.

local values = part 'json-values'
local writer = part 'json-writer'
local reader = part 'json-reader'
local names = part 'known-names'

local kindOf, markOf, refuse = values.kindOf, values.markOf, values.refuse


-- Texts that were made here need not be read again; of two generations, so that they do not pile up.
local GENERATION = 4096
local known, knownBefore, knownCount = {}, {}, 0

--- Notes that the text is that of an object.
---@param text string
---@return string text
local function remember(text)
  if knownCount >= GENERATION then
    known, knownBefore, knownCount = {}, known, 0
  end
  knownCount = knownCount + 1
  known[text] = true
  return text
end

---@param value any
---@return boolean
local function isObject(value)
  return type(value) == 'table' and value ~= values.Null and getmetatable(value) ~= values.exactNumber
    and markOf(value) ~= 'array' and value[1] == nil
end

---@param value any
---@return boolean
local function isList(value)
  if type(value) ~= 'table' or value == values.Null or markOf(value) == 'object' then return false end
  return value[1] ~= nil or next(value) == nil
end

--- The highest place of a list; the operator for lengths may stop at any hole.
---@param list table
---@return integer
local function lengthOf(list)
  local length = #list
  for key in pairs(list) do
    if math.type(key) == 'integer' and key > length then length = key end
  end
  return length
end

--- Calls `add` with each argument, and with each item of a list among them; a hole is nil.
---@param given table as of `table.pack`
local function eachOf(given, add)
  for index = 1, given.n do
    local one = given[index]
    if not isList(one) then add(one) else
      for at = 1, lengthOf(one) do add(one[at]) end
    end
  end
end

--- JSON text of an object, and nothing beside it: no text ever leaks out of its place.
local function checkText(text, path, hint, isRight)
  local value, problem = reader.tryReadJson(text)
  if problem then refuse(path .. ': expected ' .. hint .. ', got text that is no JSON') end
  if not isRight(text, value) then refuse(path .. ': expected ' .. hint .. ', got other JSON text') end
end

local function isObjectText(text) return text:find('^%s*{') ~= nil end
local function isListText(text) return text:find('^%s*%[') ~= nil end

--- A string is the text of an object itself, a table the object.
---@param value string|table
---@param path string how messages call it
---@param hint string what is expected, in words
---@return string
local function objectText(value, path, hint)
  if type(value) == 'string' then
    if not known[value] and not knownBefore[value] then checkText(value, path, hint, isObjectText) end
    return value
  end
  if not isObject(value) then refuse(path .. ': expected ' .. hint .. ', got ' .. kindOf(value)) end
  return writer.objectJson(value, path)
end

--- The same for a table whose names are known beforehand.
---@param known string[]
---@return string
local function partsText(value, path, hint, known)
  if isObject(value) then names.checkNames(value, known, path) end
  return objectText(value, path, hint)
end

--- A list, each member by its own rule.
---@param items table
---@param path string
---@param itemText fun(item: any, path: string): string
---@param hint? string
---@return string
local function listText(items, path, itemText, hint)
  if not isList(items) then refuse(path .. ': expected ' .. (hint or 'a list') .. ', got ' .. kindOf(items)) end
  local texts = {}
  for index = 1, lengthOf(items) do texts[index] = itemText(items[index], path .. '[' .. index .. ']') end
  return '[' .. table.concat(texts, ',') .. ']'
end

--- One, or a list of them, or text of either.
---@return string of a list
local function oneOrMoreText(given, path, itemText, hint)
  if isList(given) then return listText(given, path, itemText) end
  if type(given) == 'string' and isListText(given) then
    checkText(given, path, hint, isListText)
    return given
  end
  return '[' .. itemText(given, path) .. ']'
end

--- A table that holds parts with these names; anything else is a mistake of the script.
---@param value table|nil
---@param path string
---@param known string[]
---@return table
local function parts(value, path, known)
  if value == nil then return {} end
  if not isObject(value) then refuse(path .. ': expected a table with names, got ' .. kindOf(value)) end
  names.checkNames(value, known, path)
  return value
end

--- The text of an object, its members in this order: name, text, name, text; those without a text are left out.
---@param members table
---@return string
local function objectOf(members)
  local texts = {}
  for index = 1, members.n or #members, 2 do
    local text = members[index + 1]
    if text then texts[#texts + 1] = '"' .. members[index] .. '":' .. text end
  end
  return '{' .. table.concat(texts, ',') .. '}'
end

--- false where there is no value, so that lists of members have no holes.
---@return string|false
local function optional(value, textOf, path)
  if value == nil then return false end
  return textOf(value, path)
end

---@return string|false
local function plain(value, path) return optional(value, writer.jsonText, path) end

---@param name any
---@param path string
---@return string
local function nameText(name, path)
  if type(name) ~= 'string' then refuse(path .. ': expected a name, got ' .. kindOf(name)) end
  return writer.quoted(name, path)
end

--- A list of names; an empty one too.
---@return string|false
local function namesText(list, path)
  return optional(list, function(given) return listText(given, path, nameText) end)
end

return {
  refuse = refuse,
  remember = remember,
  isObject = isObject,
  isList = isList,
  lengthOf = lengthOf,
  eachOf = eachOf,
  objectText = objectText,
  partsText = partsText,
  listText = listText,
  oneOrMoreText = oneOrMoreText,
  parts = parts,
  objectOf = objectOf,
  optional = optional,
  plain = plain,
  nameText = nameText,
  namesText = namesText,
}
