-- Who is here, in memory, and what of it is saved.

--- The characters of the players that are here, by id.
Online = {}

--- The character of a license, made where there is none. nil and the reason where the database does not answer.
function Login(license, name)
  -- Inserts if missing, and leaves the row alone where it is there: two logins at once make one character.
  local made = DB.Upsert.await(NAMESPACE, 'characters', { license = license, name = name, inventory = Q.List() }, { 'license' }, { update = {} })
  if made.State ~= 'ok' then return nil, DB.ErrorMessage(made) end
  local found = DB.First.await(NAMESPACE, 'characters', { filter = Q.Eq('license', license) })
  if found.State ~= 'ok' then return nil, DB.ErrorMessage(found) end
  Online[found.Row.id] = found.Row
  return found.Row
end

local function saveOf(character)
  return Q.Op.Update('characters', {
    filter = Q.Eq('id', character.id),
    -- Money is not among them: the database alone calculates with it.
    set = { position = character.position or Q.Null, inventory = Q.List(character.inventory) },
  })
end

--- Saves everybody, however many they are: a thousand in a call, each for itself. How many were saved, and what went wrong.
function SaveAll()
  local saves, saved = {}, 0
  for _, character in pairs(Online) do saves[#saves + 1] = saveOf(character) end
  local result = DB.BatchAll.await(NAMESPACE, saves)
  for _, one in ipairs(DB.Results(result)) do
    if one.State == 'ok' then saved = saved + 1 else print('a character was not saved: ' .. DB.ErrorMessage(one)) end
  end
  return saved, DB.ErrorMessage(result)
end
