-- The start, and commands for the console that show the rest. In a game, events of players stand in their place.

local SAVE_EVERY_MS = 5 * 60 * 1000

CreateThread(function()
  DB.Ready.await()
  local synced = DB.Sync.await(NAMESPACE, SCHEMA)
  print(synced.State == 'ok' and 'the town is open' or 'no schema: ' .. DB.ErrorMessage(synced))
  while true do
    Wait(SAVE_EVERY_MS)
    SaveAll()
  end
end)

RegisterCommand('town-login', function(_, words)
  local character, problem = Login(words[1], words[2])
  if character == nil then return print('login: ' .. problem) end
  print(('%s is number %d and has %s'):format(character.name, character.id, character.money))
end, true)

RegisterCommand('town-walk', function(_, words)
  for _, character in pairs(Online) do
    character.position = { x = tonumber(words[1]) + 0.0, y = 2.25, z = 30.5 }
    character.inventory = { { item = 'bread', count = 2 } }
  end
end, true)

RegisterCommand('town-save', function()
  local saved, problem = SaveAll()
  print(('saved %d %s'):format(saved, problem))
end, true)

RegisterCommand('town-transfer', function(_, words)
  local outcome, problem = Transfer(math.tointeger(tonumber(words[1])), math.tointeger(tonumber(words[2])), words[3])
  print('transfer: ' .. (outcome or problem))
end, true)

RegisterCommand('town-payday', function(_, words)
  print(('paid %d'):format(Payday(math.tointeger(tonumber(words[1])) or os.time() // 3600)))
end, true)
