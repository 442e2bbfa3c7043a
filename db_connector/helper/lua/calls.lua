-- One call: its payload made, sent, and a mistake in it told like any other answer.

local deliveries = part 'deliveries'
local poller = part 'ticket-poller'

local calls = { connector = 'db_connector' }

--- @param request DbRequest
--- @param deliver fun(result: DbResult) never throws
--- @return DbTicket
function calls.send(request, deliver)
  local isMade, json = pcall(request.payload)
  if request.complete then
    local hand = deliver
    deliver = function(result) hand(request.complete(result)) end
  end
  if isMade then return poller.call(calls.connector, request.operation, json, deliver) end
  deliveries.tellIfFault(request.what, json)
  return poller.refuse('invalid_request', type(json) == 'table' and json.invalid or tostring(json), deliver)
end

return calls
