-- JSON text as values: RFC 8259 and nothing beside it. null becomes nil.

local values = part 'json-values'
local numbers = part 'json-numbers'
local rowReaderAt = part 'json-rows'

local objectMark = values.objectMark
local numberOf, refuse = numbers.numberOf, numbers.refuse
local byte, find, sub = string.byte, string.find, string.sub
local tonumber, setmetatable = tonumber, setmetatable

local MAX_DEPTH = 200

local UNESCAPED = {
  ['"'] = '"', ['\\'] = '\\', ['/'] = '/', b = '\b', f = '\f', n = '\n', r = '\r', t = '\t',
}

---@param hex string
---@param position integer
---@return integer
local function unitOf(hex, position)
  return find(hex, '^%x%x%x%x$') and tonumber(hex, 16) or refuse(position, 'an escape that is none')
end

---@param raw string between its quotes
---@param position integer
---@return string
local function unescape(raw, position)
  local parts, from = {}, 1
  while true do
    local at = find(raw, '\\', from, true)
    if at == nil then break end
    parts[#parts + 1] = sub(raw, from, at - 1)
    local char = sub(raw, at + 1, at + 1)
    if char ~= 'u' then
      parts[#parts + 1] = UNESCAPED[char] or refuse(position, 'an escape that is none')
      from = at + 2
    else
      local unit = unitOf(sub(raw, at + 2, at + 5), position)
      from = at + 6
      if unit >= 0xD800 and unit <= 0xDFFF then
        local low = sub(raw, from, from + 1) == '\\u' and unitOf(sub(raw, from + 2, from + 5), position) or 0
        if unit > 0xDBFF or low < 0xDC00 or low > 0xDFFF then refuse(position, 'half of a character') end
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        from = from + 6
      end
      parts[#parts + 1] = utf8.char(unit)
    end
  end
  return table.concat(parts) .. sub(raw, from)
end

--- From the opening quote.
---@return string, integer behind the closing quote
local function readString(text, position)
  local last = find(text, '["\\]', position + 1)
  if last == nil then refuse(position, 'text without an end') end
  if byte(text, last) == 34 then
    local plain = sub(text, position + 1, last - 1)
    if find(plain, '[\0-\31]') then refuse(position, 'a control character in a text') end
    return plain, last + 1
  end
  repeat
    if byte(text, last) == 92 then last = last + 1 end
    last = find(text, '["\\]', last + 1)
    if last == nil then refuse(position, 'text without an end') end
  until byte(text, last) == 34
  local raw = sub(text, position + 1, last - 1)
  if find(raw, '[\0-\31]') then refuse(position, 'a control character in a text') end
  return unescape(raw, position), last + 1
end

local readValue

local function skipSpace(text, position) return find(text, '[^ \t\r\n]', position) or #text + 1 end

local function readNumber(text, position)
  -- Most numbers are short integers.
  local _, last = find(text, '^%-?%d+', position)
  if last ~= nil and last - position < 18 then
    local after = byte(text, last + 1)
    if after ~= 46 and after ~= 101 and after ~= 69 and byte(text, position) ~= 48 and byte(text, position) ~= 45 then
      return tonumber(sub(text, position, last)), last + 1
    end
  end
  _, last = find(text, '^[-+.eE%d]+', position)
  if last == nil then refuse(position, position > #text and 'unexpected end' or 'unexpected character') end
  return numberOf(sub(text, position, last), position), last + 1
end

local function readObject(text, position, depth)
  if depth > MAX_DEPTH then refuse(position, 'too deep') end
  local object = setmetatable({}, objectMark)
  position = position + 1
  if byte(text, position) ~= 34 then
    position = skipSpace(text, position)
    if byte(text, position) == 125 then return object, position + 1 end
  end
  while true do
    if byte(text, position) ~= 34 then refuse(position, 'expected a name') end
    local _, last, name = find(text, '^([^"\\\0-\31]*)":', position + 1)
    if last ~= nil then
      position = last + 1
    else
      name, position = readString(text, position)
      position = skipSpace(text, position)
      if byte(text, position) ~= 58 then refuse(position, 'expected a colon') end
      position = position + 1
    end
    object[name], position = readValue(text, position, depth)
    local after = byte(text, position)
    if after ~= 44 and after ~= 125 then
      position = skipSpace(text, position)
      after = byte(text, position)
    end
    if after == 125 then return object, position + 1 end
    if after ~= 44 then refuse(position, 'expected a comma or the end of an object') end
    position = position + 1
    if byte(text, position) ~= 34 then position = skipSpace(text, position) end
  end
end

local function readList(text, position, depth)
  if depth > MAX_DEPTH then refuse(position, 'too deep') end
  local list, count, readRow = {}, 0, nil
  position = skipSpace(text, position + 1)
  if byte(text, position) == 93 then return list, position + 1 end
  while true do
    count = count + 1
    local row, after = nil, position
    if byte(text, position) == 123 then
      if readRow then row, after = readRow(text, position) end
      -- Worth it from the second row on.
      if row == nil and count > 1 and readRow ~= false then
        readRow = rowReaderAt(text, position) or false
        if readRow then row, after = readRow(text, position) end
      end
    end
    if row == nil then row, after = readValue(text, position, depth) end
    list[count] = row
    position = after
    local last = byte(text, position)
    if last ~= 44 and last ~= 93 then
      position = skipSpace(text, position)
      last = byte(text, position)
    end
    if last == 93 then return list, position + 1 end
    if last ~= 44 then refuse(position, 'expected a comma or the end of a list') end
    position = position + 1
  end
end

readValue = function(text, position, depth)
  local first = byte(text, position)
  if first == 32 or first == 9 or first == 10 or first == 13 then
    position = skipSpace(text, position)
    first = byte(text, position)
  end
  if first == 34 then
    return readString(text, position)
  elseif first == 123 then
    return readObject(text, position, depth + 1)
  elseif first == 91 then
    return readList(text, position, depth + 1)
  elseif first == 116 and sub(text, position, position + 3) == 'true' then
    return true, position + 4
  elseif first == 102 and sub(text, position, position + 4) == 'false' then
    return false, position + 5
  elseif first == 110 and sub(text, position, position + 3) == 'null' then
    return nil, position + 4
  end
  return readNumber(text, position)
end

--- Throws a table with the message as `syntax` where the text is no JSON.
---@param text string
---@return any
local function readJson(text)
  if not utf8.len(text) then error({ syntax = 'text that is no valid UTF-8' }) end
  local value, position = readValue(text, 1, 0)
  position = skipSpace(text, position)
  if position <= #text then refuse(position, 'something behind the end') end
  return value
end

--- nil and the reason where the text is no JSON.
---@param text string
---@return any, string|nil
local function tryReadJson(text)
  local isRead, value = pcall(readJson, text)
  if isRead then return value, nil end
  return nil, type(value) == 'table' and value.syntax or tostring(value)
end

return { readJson = readJson, tryReadJson = tryReadJson }
