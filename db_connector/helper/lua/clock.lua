-- Q.Now: moments by the sidecar's clock, which all game servers share.

local places = part 'json-places'
local threads = part 'threads'
local calls = part 'calls'

-- Asked once in a second at most: a list may be built of a thousand moments.
local KEPT_MS = 1000
local DAY_MS = 86400000

local offsetMs, askedAt = 0, nil

--- The last one that was known, where the connector is away; 0 before the first.
local function offset()
  local now = threads.elapsedMs()
  if askedAt == nil or now - askedAt >= KEPT_MS then
    askedAt = now
    local isFine, known = pcall(function()
      local resource = exports[calls.connector]
      return resource:ClockOffset()
    end)
    if isFine and type(known) == 'number' and known == known then offsetMs = known end
  end
  return offsetMs
end

--- The server's own clock. Lua itself knows whole seconds alone; the server's Lua has microseconds too.
local function wallMs()
  local seconds = os.time()
  local fine = os.microtime and os.microtime() / 1000 or nil
  if fine and math.abs(fine - seconds * 1000) < 5000 then return math.floor(fine) end
  return seconds * 1000
end

--- Year, month and day of days since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms": civil_from_days);
--- `os.date` knows no years before 1970 on Windows.
local function civil(days)
  local shifted = days + 719468
  local era = shifted // 146097
  local dayOfEra = shifted - era * 146097
  local yearOfEra = (dayOfEra - dayOfEra // 1460 + dayOfEra // 36524 - dayOfEra // 146096) // 365
  local dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra // 4 - yearOfEra // 100)
  local shiftedMonth = (5 * dayOfYear + 2) // 153
  local month = shiftedMonth < 10 and shiftedMonth + 3 or shiftedMonth - 9
  local year = yearOfEra + era * 400 + (month <= 2 and 1 or 0)
  return year, month, dayOfYear - (153 * shiftedMonth + 2) // 5 + 1
end

local builders = {}

function builders.Now(seconds)
  seconds = seconds or 0
  if type(seconds) ~= 'number' then places.refuse('Q.Now: expected seconds, got a ' .. type(seconds)) end
  local moment = wallMs() + offset() + seconds * 1000
  if moment ~= moment or moment < -62135596800000 or moment >= 253402300800000 then
    places.refuse('Q.Now: ' .. tostring(seconds) .. ' seconds from now is no moment to store')
  end
  local whole = math.floor(moment)
  local year, month, day = civil(whole // DAY_MS)
  local rest = whole % DAY_MS
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, rest // 3600000, rest // 60000 % 60, rest // 1000 % 60, rest % 1000)
end

return { builders = builders }
