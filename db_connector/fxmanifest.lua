fx_version 'cerulean'
game 'common'
server_only 'yes'
node_version '22'

name 'db_connector'
version '0.2.0'
description 'Signed access to the database API for the resources of this server'

dependencies { '/server:12913' }

server_script 'server.fx.js'
