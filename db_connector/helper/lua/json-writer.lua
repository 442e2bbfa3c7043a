-- Values as JSON text.

local values = part 'json-values'

local Null, exactNumber, VECTORS, markOf = values.Null, values.exactNumber, values.VECTORS, values.markOf

-- Deeper is a ring of tables, or nothing that the sidecar would take.
local MAX_DEPTH = 128
-- In a list longer than this at least every tenth place must hold something: `{ [76561198000000000] = true }` is no list.
local SPARSE_LENGTH = 1000

local ESCAPES = { ['"'] = '\\"', ['\\'] = '\\\\', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }

---@param char string
---@return string
local function escape(char) return ESCAPES[char] or string.format('\\u%04x', char:byte()) end

---@param text string
---@param path string
---@return string
local function quoted(text, path)
  if not utf8.len(text) then values.refuse(path .. ': text that is no valid UTF-8') end
  if text:find('[%c"\\]') then text = text:gsub('[%c"\\]', escape) end
  return '"' .. text .. '"'
end

--- The fewest digits that read back as the same number.
---@param number number
---@return string
local function floatText(number)
  local first = (number > -2.3e-308 and number < 2.3e-308) and 1 or 15
  for digits = first, 17 do
    local text = string.format('%.' .. digits .. 'g', number)
    if tonumber(text) == number then return text end
  end
  error('no text of ' .. tostring(number))
end

---@param number number
---@param path string
---@return string
local function numberText(number, path)
  if math.type(number) == 'integer' then return string.format('%d', number) end
  if number ~= number or number == math.huge or number == -math.huge then
    values.refuse(path .. ': ' .. tostring(number) .. ' is no number that can be stored')
  end
  if number == math.floor(number) and number > -9e15 and number < 9e15 then return string.format('%d', number) end
  return floatText(number)
end

local write

---@return string
local function writeList(list, length, path, depth)
  local texts = {}
  for index = 1, length do
    local member = list[index]
    texts[index] = member == nil and 'null' or write(member, path, index, depth)
  end
  return '[' .. table.concat(texts, ',') .. ']'
end

---@return string
local function writeObject(object, path, depth, mayNumberKeys)
  local texts, count = {}, 0
  for key, member in pairs(object) do
    if type(key) ~= 'string' then
      if not mayNumberKeys or math.type(key) ~= 'integer' then
        values.refuse(path .. ': a table with both names and numbers as keys, or keys that are neither; Q.Object(…) writes numbers as names')
      end
      key = string.format('%d', key)
    end
    count = count + 1
    texts[count] = quoted(key, path) .. ':' .. write(member, path, key, depth)
  end
  return '{' .. table.concat(texts, ',') .. '}'
end

--- The highest number among the keys of a table that has nothing but numbers from 1; nil where it has others.
---@param given table
---@param path string
---@return integer|nil
local function listLength(given, path)
  local highest, count = 0, 0
  for key in pairs(given) do
    if math.type(key) ~= 'integer' or key < 1 then return nil end
    count = count + 1
    if key > highest then highest = key end
  end
  if highest > SPARSE_LENGTH and highest > count * 10 then
    values.refuse(string.format('%s: a list of %d values that goes up to the number %d; Q.Object(…) makes it a table with names', path, count, highest))
  end
  return highest
end

---@return string
local function writeTable(given, path, depth)
  if depth > MAX_DEPTH then values.refuse(path .. ': too deep, or it contains itself') end
  local mark = markOf(given)
  if mark == 'object' then return writeObject(given, path, depth, true) end
  if given[1] == nil and mark ~= 'array' and type(next(given)) == 'string' then
    return writeObject(given, path, depth, false)
  end
  local length = listLength(given, path)
  if length == nil then return writeObject(given, path, depth, false) end
  return writeList(given, length, path, depth)
end

---@return string
local function writeVector(vector, fields, path, depth)
  local texts = {}
  for index, field in ipairs(fields) do texts[index] = '"' .. field .. '":' .. write(vector[field], path, field, depth) end
  return '{' .. table.concat(texts, ',') .. '}'
end

-- The path of a member is put together only where a message needs it.
local function memberPath(path, key)
  if path == '' then return key end
  return type(key) == 'number' and path .. '[' .. key .. ']' or path .. '.' .. key
end

---@param value any
---@param path string of what holds it
---@param key string|integer
---@param depth integer
---@return string
write = function(value, path, key, depth)
  local kind = type(value)
  if kind == 'string' then
    if utf8.len(value) and not value:find('[%c"\\]') then return '"' .. value .. '"' end
    return quoted(value, memberPath(path, key))
  elseif kind == 'number' then
    return numberText(value, memberPath(path, key))
  elseif kind == 'boolean' then
    return value and 'true' or 'false'
  elseif kind == 'table' then
    if value == Null then return 'null' end
    if getmetatable(value) == exactNumber then return value.text end
    return writeTable(value, memberPath(path, key), depth + 1)
  elseif VECTORS[kind] then
    return writeVector(value, VECTORS[kind], memberPath(path, key), depth)
  elseif json ~= nil and value == json.null then
    return 'null'
  end
  values.refuse(string.format('%s: a %s cannot be stored', memberPath(path, key), kind))
end

--- A value as JSON text. Throws a table with the message as `invalid`, where JSON cannot say what is in it.
---@param value any
---@param path string how messages call the value
---@return string
local function jsonText(value, path)
  if value == nil then values.refuse(path .. ': nil is no value; say Q.Null to store nothing') end
  if type(value) == 'table' and value ~= Null and getmetatable(value) ~= exactNumber then return writeTable(value, path, 1) end
  local wrapped = write(value, '', path, 0)
  return wrapped
end

--- The same for a table whose keys are names, also where it is empty.
---@param value table
---@param path string
---@return string
local function objectJson(value, path)
  if next(value) == nil then return '{}' end
  return writeObject(value, path, 1, markOf(value) == 'object')
end

return { jsonText = jsonText, objectJson = objectJson, quoted = quoted, floatText = floatText }
