-- Numbers of JSON texts.

local values = part 'json-values'

local format, match = string.format, string.match
local tonumber = tonumber

-- A double gives back as many digits, away from the ends of its range.
local SAFE_DIGITS = 15

local function refuse(position, message)
  error({ syntax = string.format('%s at position %d', message, position) })
end

--- Significant digits without point, sign, exponent and outer zeros.
---@param token string
---@return string
local function digitsOf(token)
  local digits = token:gsub('[eE].*$', ''):gsub('[-.]', ''):gsub('^0+', ''):gsub('0+$', '')
  return digits
end

--- Whether a double is written with just these digits, so that it stands for them.
---@param token string
---@param double number
---@return boolean
local function isExact(token, double)
  if double == math.huge or double == -math.huge then return false end
  local digits = digitsOf(token)
  if digits == '' then return true end
  if double == 0 then return false end
  local count = #digits
  if count <= SAFE_DIGITS and (double >= 2.3e-308 or double <= -2.3e-308) then return true end
  if count > 17 then return false end
  local same = string.format('%.' .. count - 1 .. 'e', double)
  if digitsOf(same) == digits then return true end
  -- At powers of two the shortest digits may not be the nearest ones.
  return tonumber(same) ~= double and tonumber(string.format('%.' .. math.max(count - 2, 0) .. 'e', double)) ~= double
end

--- Integers of 64 bits as integers, other numbers as floats; where a float would change a digit the digits as text.
---@param token string
---@param position integer
local function numberOf(token, position)
  local whole, fraction = match(token, '^%-?([1-9]%d*)%.(%d+)$')
  local double = tonumber(token)
  if whole ~= nil and (#whole + #fraction <= SAFE_DIGITS or format('%.17g', double) == token or format('%.16g', double) == token) then
    return double
  end
  if not values.isNumberText(token) then refuse(position, 'not a number') end
  if token == '-0' then return 0 end
  if math.type(double) == 'integer' or isExact(token, double) then return double end
  return token
end

return { numberOf = numberOf, refuse = refuse }
