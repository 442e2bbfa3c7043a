-- What Lua has no values of its own for: NULL, numbers digit for digit, and whether an empty table is a list or an object.

--- Stands for NULL and for null in JSON, where a plain nil would leave the column out.
---@class DbNull
local Null = setmetatable({}, {
  __tostring = function() return 'null' end,
  __newindex = function() error('Q.Null holds nothing', 2) end,
})

---@class DbExactNumber
---@field text string digits, as JSON writes them
local exactNumber = { __tostring = function(number) return number.text end }

-- The field by which the server's own `json` library knows the two, so that its marks count here, and these there.
local objectMark = { __jsontype = 'object' }
local listMark = { __jsontype = 'array' }

local VECTORS = {
  vector2 = { 'x', 'y' },
  vector3 = { 'x', 'y', 'z' },
  vector4 = { 'x', 'y', 'z', 'w' },
  quat = { 'x', 'y', 'z', 'w' },
}

--- nil where nothing marks the table.
---@param value table
---@return 'object'|'array'|nil
local function markOf(value)
  local mark = getmetatable(value)
  return type(mark) == 'table' and mark.__jsontype or nil
end

---@param given table
---@param mark table
---@return table copy of the outermost level
local function marked(given, mark)
  local copy = {}
  for key, value in pairs(given) do copy[key] = value end
  return setmetatable(copy, mark)
end

--- A number that needs no digits changed: "-?digits[.digits][e±digits]" without leading zeros.
---@param text string
---@return boolean
local function isNumberText(text)
  local whole, rest = text:match('^%-?(%d+)(.*)$')
  if whole == nil or whole:find('^0%d') then return false end
  rest = rest:gsub('^%.%d+', '', 1)
  return rest == '' or rest:find('^[eE][+-]?%d+$') ~= nil
end

--- What a message calls a value.
---@param value any
---@return string
local function kindOf(value)
  if value == nil then return 'nil' end
  if value == Null then return 'Q.Null' end
  local kind = type(value)
  if kind ~= 'table' then return 'a ' .. kind end
  return (markOf(value) == 'array' or value[1] ~= nil) and 'a list' or 'a table'
end

local invalid = { __tostring = function(problem) return problem.invalid end }

--- A mistake of the script: a call answers it as `invalid_request`, a builder throws it.
---@param message string
---@param isFault? boolean the console hears of it too: it is never what a script expects
local function refuse(message, isFault) error(setmetatable({ invalid = message, isFault = isFault }, invalid)) end

return {
  refuse = refuse,
  Null = Null,
  exactNumber = exactNumber,
  objectMark = objectMark,
  listMark = listMark,
  VECTORS = VECTORS,
  markOf = markOf,
  marked = marked,
  isNumberText = isNumberText,
  kindOf = kindOf,
}
