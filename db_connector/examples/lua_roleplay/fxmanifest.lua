fx_version 'cerulean'
game 'common'
lua54 'yes'

name 'lua_roleplay'
description 'An example: characters that log in, are saved, move money and are paid'

dependency 'db_connector'

server_scripts {
  '@db_connector/helper.lua',
  'schema.lua',
  'characters.lua',
  'money.lua',
  'server.lua',
}
