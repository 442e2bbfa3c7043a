-- Q: the builders, by the names of the specification.

local Q = {}

for _, name in ipairs({ 'filters', 'rows', 'aggregates', 'schema', 'writes', 'clock' }) do
  for builder, build in pairs(part(name).builders) do Q[builder] = build end
end

return setmetatable({}, {
  __index = function(_, name)
    return Q[name] or error('Q.' .. tostring(name) .. ' is no builder', 2)
  end,
  __newindex = function() error('Q holds the builders alone', 2) end,
})
