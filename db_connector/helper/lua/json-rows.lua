-- Rows of plain values, each read in one step: columns come in the same order in each row of an answer.

local values = part 'json-values'
local numbers = part 'json-numbers'

local byte, concat, find = string.byte, table.concat, string.find
local mathType, tonumber = math.type, tonumber
local numberOf, refuse = numbers.numberOf, numbers.refuse

-- Kinds of plain values, as patterns; a column is taken to hold what it holds in the row before.
local TEXT = '"([^"\\\0-\31]*)"'
local UNQUOTED = '([%w.+-]+)'
-- As many values a pattern can take out.
local MAX_COLUMNS = 30
-- Readers that were made, by their patterns.
local MAX_READERS = 256
local readers, readerCount = {}, 0

local WORDS = { ['true'] = true, ['false'] = false }

--- A number, true, false, or nil for null. Most are short integers.
local function unquoted(token, position)
  local value = tonumber(token)
  if mathType(value) == 'integer' and (byte(token) > 48 or #token == 1) then return value end
  if token == 'null' then return nil end
  local word = WORDS[token]
  if word ~= nil then return word end
  if not find(token, '^%-?%d') then refuse(position, 'unexpected character') end
  return numberOf(token, position)
end

-- A table that is made with its fields has room for them from the start; so the code that makes it names them. The names have
-- letters, digits and underscores alone.
local CODE = [[
local find, setmetatable, unquoted, mark, pattern = ...
return function(text, position)
  local _, last, %s = find(text, pattern, position)
  if last == nil then return nil, position end
  return setmetatable({ %s }, mark), last + 1
end
]]

local function makeReader(names, areTexts, pattern)
  local variables, fields = {}, {}
  for index, name in ipairs(names) do
    local variable = 'v' .. index
    variables[index] = variable
    fields[index] = '["' .. name .. '"] = ' .. (areTexts[index] and variable or 'unquoted(' .. variable .. ', position)')
  end
  local make = load(CODE:format(concat(variables, ', '), concat(fields, ', ')), '=row reader', 't', {})
  return make(find, setmetatable, unquoted, values.objectMark, pattern)
end

--- What reads a row like the one at this position: its next one in the text, or nil where a row is another. nil where its values are
--- not all plain, or too many.
---@return (fun(text: string, position: integer): table|nil, integer)|nil
local function rowReaderAt(text, position)
  local names, areTexts, pattern = {}, {}, {}
  repeat
    position = position + 1
    local _, last, name = find(text, '^"([%w_]+)":', position)
    if last == nil or #names == MAX_COLUMNS then return nil end
    local _, valueEnd = find(text, '^' .. UNQUOTED, last + 1)
    local isText = valueEnd == nil
    if isText then
      _, valueEnd = find(text, '^' .. TEXT, last + 1)
    end
    if valueEnd == nil then return nil end
    names[#names + 1] = name
    areTexts[#names] = isText
    pattern[#pattern + 1] = '"' .. name .. '":' .. (isText and TEXT or UNQUOTED)
    position = valueEnd + 1
    local after = byte(text, position)
    if after ~= 44 and after ~= 125 then return nil end
  until after == 125
  local whole = '^{' .. concat(pattern, ',') .. '}'
  if readers[whole] == nil then
    if readerCount == MAX_READERS then readers, readerCount = {}, 0 end
    readers[whole] = makeReader(names, areTexts, whole)
    readerCount = readerCount + 1
  end
  return readers[whole]
end

return rowReaderAt
