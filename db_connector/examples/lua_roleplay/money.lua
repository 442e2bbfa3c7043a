-- Money: the database calculates, and its guards decide. Amounts are digits, never floats.

--- Moves money, all of it or nothing: 'done', 'refused', or nil and the reason. `amount` is text such as '12.50'.
function Transfer(from, to, amount)
  if from == to or not amount:match('^%d+%.?%d?%d?$') or not amount:find('[1-9]') then return 'refused' end
  local result = DB.Batch.await(NAMESPACE, {
    Q.Op.Update('characters', { filter = Q.And(Q.Eq('id', from), Q.Gte('money', Q.Number(amount))), inc = { money = Q.Number('-' .. amount) } }, { expect = 1 }),
    Q.Op.Update('characters', { filter = Q.Eq('id', to), inc = { money = Q.Number(amount) } }, { expect = 1 }),
    Q.Op.Insert('bank_log', { from_id = from, to_id = to, amount = Q.Number(amount) }),
  })
  if result.Code == 'expectation_failed' then return 'refused' end
  if result.State ~= 'ok' then return nil, DB.ErrorMessage(result) end
  return 'done'
end

local WAGES = { police = '62.50', medic = '64.00', unemployed = '10.00' }

--- Pays everybody for an hour, one call a job. The same update notes the hour, and its filter asks for those where an earlier one
--- stands: an hour is paid once, whoever calls it and how often. How many were paid.
function Payday(hour)
  local paid = 0
  for job, wage in pairs(WAGES) do
    local result = DB.Update.await(NAMESPACE, 'characters', {
      filter = Q.And(Q.Eq('job', job), Q.Lt('last_paycheck', hour)),
      set = { last_paycheck = hour },
      inc = { money = Q.Number(wage) },
    })
    if result.State ~= 'ok' then print('payday of ' .. job .. ': ' .. DB.ErrorMessage(result)) end
    paid = paid + DB.Number(result)
  end
  return paid
end
