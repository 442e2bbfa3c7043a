-- Idempotency keys: 128 bits that nobody has used before. They need not be secret, since a write with somebody's key is signed
-- with somebody's secret anyway; they must differ between resources, servers and starts.
--
-- `math.random` alone is not enough: many scripts seed it with the second in which they start, and then two of them draw the
-- same numbers. So it is one source among others, and what is drawn comes out of a permutation of 2^64 that no script can set back.

local MULTIPLIERS = { 0xBF58476D1CE4E5B9, 0x94D049BB133111EB }
local STEP = 0x9E3779B97F4A7C15

--- The finalizer of splitmix64: a permutation, so that a counter never gives the same twice.
local function mix(value)
  value = (value ~ (value >> 30)) * MULTIPLIERS[1]
  value = (value ~ (value >> 27)) * MULTIPLIERS[2]
  return value ~ (value >> 31)
end

local function hash(text, seed)
  for index = 1, #text do seed = mix(seed ~ text:byte(index)) + STEP end
  return seed
end

-- Clocks, the places where this state's tables and functions lie in memory, and the state's own generator.
local function sources()
  local found = { tostring({}), tostring(print), tostring(hash), tostring(coroutine.create(print)) }
  for _, clock in ipairs({ os.time, os.clock, os.microtime or false, os.nanotime or false, GetGameTimer or false }) do
    if clock then found[#found + 1] = tostring(clock()) end
  end
  for _ = 1, 4 do found[#found + 1] = tostring(math.random(0)) end
  if GetCurrentResourceName then found[#found + 1] = GetCurrentResourceName() end
  return table.concat(found, ' ')
end

local seeds = sources()
local high, low = hash(seeds, 1), hash(seeds, 2)

---@return string 32 hexadecimal digits
local function randomKey()
  high, low = high + STEP, low + STEP
  return string.format('%016x%016x', mix(high), mix(low))
end

return { randomKey = randomKey }
