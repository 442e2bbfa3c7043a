import { createConnection } from 'mysql2/promise';
import { freshDatabase } from '../support/databases.ts';

/** Tables as frameworks and resources of game servers make them, with what such databases hold after some years. */
const STATEMENTS = [
  // ESX
  `CREATE TABLE users (
    identifier VARCHAR(60) NOT NULL PRIMARY KEY, accounts LONGTEXT NULL, \`group\` VARCHAR(50) DEFAULT 'user',
    inventory LONGTEXT NULL, loadout LONGTEXT NULL, position VARCHAR(255) NULL, firstname VARCHAR(16), dateofbirth DATE,
    height INT UNSIGNED NOT NULL DEFAULT 180, is_dead TINYINT(1) DEFAULT 0, sex ENUM('m','f') NOT NULL DEFAULT 'm',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, last_seen DATETIME DEFAULT NULL
      ON UPDATE CURRENT_TIMESTAMP, metadata LONGTEXT CHECK (JSON_VALID(metadata)))
    CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  `INSERT INTO users VALUES
    ('steam:110000101', '{"bank":5000,"money":250}', 'admin', '[{"name":"bread","count":3}]', '[]', '{"x":1.5,"y":-2}',
     'Zoë', '1990-02-28', 182, 0, 'f', '2024-03-01 10:00:00', '2024-07-01 12:30:00', '{"hunger":12.50}'),
    ('STEAM:1100002', '{"bank":0}', 'user', '', '[]', NULL, 'Ann ', '0000-00-00', 175, 1, 'm', '2024-03-02 10:00:00',
     '0000-00-00 00:00:00', NULL)`,
  `CREATE TABLE owned_vehicles (
    owner VARCHAR(60) NOT NULL, plate VARCHAR(12) NOT NULL, vehicle LONGTEXT, type VARCHAR(20) NOT NULL DEFAULT 'car',
    \`stored\` TINYINT(4) NOT NULL DEFAULT 0, mileage FLOAT DEFAULT 0, parking BIT(1) DEFAULT b'0', PRIMARY KEY (plate),
    KEY owner (owner), KEY vehicle (vehicle(20)),
    CONSTRAINT fk_owner FOREIGN KEY (owner) REFERENCES users (identifier) ON DELETE CASCADE ON UPDATE CASCADE)
    CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  `INSERT INTO owned_vehicles VALUES
    ('steam:110000101', 'ABC 123', '{"model":-344943009,"plate":"ABC 123"}', 'car', 1, 12.3, b'1'),
    ('STEAM:110000101', 'XYZ 999', '{"model":11251904}', 'car', 0, 16777216, b'0')`,
  // QBCore
  `CREATE TABLE player_vehicles (
    id INT(11) NOT NULL AUTO_INCREMENT, license VARCHAR(50), citizenid VARCHAR(11), hash VARCHAR(50),
    mods TEXT, plate VARCHAR(8) NOT NULL, fakeplate VARCHAR(8), garage VARCHAR(50), fuel INT DEFAULT 100,
    engine FLOAT DEFAULT 1000, depotprice INT NOT NULL DEFAULT 0, drivingdistance INT, status TEXT,
    PRIMARY KEY (id), UNIQUE KEY UK_playervehicles_plate (plate), KEY citizenid (citizenid)) AUTO_INCREMENT=90`,
  `INSERT INTO player_vehicles (license, citizenid, hash, mods, plate, garage, engine, status) VALUES
    ('license:a', 'QWE12345', '-1216765807', '{"modEngine":3}', '8AB123CD', 'motelgarage', 950.25, '{"fuel":100}'),
    ('license:a', 'QWE12345', '11251904', '{"modEngine":-1}', '9ZZ000AA', NULL, 1000, 'broken {')`,
  `CREATE TABLE players (
    id INT NOT NULL AUTO_INCREMENT, citizenid VARCHAR(50) NOT NULL, cid INT, license VARCHAR(255) NOT NULL,
    money TEXT NOT NULL, charinfo TEXT, last_updated TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
      ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (citizenid), KEY id (id), KEY last_updated (last_updated))`,
  `INSERT INTO players (citizenid, cid, license, money, last_updated) VALUES
    ('QWE12345', 1, 'license:a', '{"cash":500,"bank":5000}', '2024-01-01 00:00:00'),
    ('RTY67890', 1, 'license:b', '{"cash":1,"bank":0}', '2024-06-01 00:00:00')`,
  // A phone, written by somebody who likes other names
  `CREATE TABLE \`phoneMessages\` (
    \`messageID\` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, \`senderNumber\` VARCHAR(20) NOT NULL,
    \`Sender Name\` VARCHAR(50), body MEDIUMTEXT, sentAt TIME, flags SET('read','starred') NOT NULL DEFAULT '',
    price DECIMAL(38,2) DEFAULT 0.00, picture BLOB, body_length INT GENERATED ALWAYS AS (CHAR_LENGTH(body)) STORED,
    FULLTEXT KEY body (body))`,
  `INSERT INTO \`phoneMessages\` (\`messageID\`, \`senderNumber\`, \`Sender Name\`, body, sentAt, flags, price, picture) VALUES
    (7, '555-0100', 'Ann', 'hi 😀', '23:59:00', 'read,starred', 12.50, x'00ff10')`,
  'CREATE TABLE log_lines (line VARCHAR(100), level INT(5) ZEROFILL)',
  "INSERT INTO log_lines VALUES ('third', 3), ('first', 1), ('third', 3)",
  'CREATE VIEW rich AS SELECT identifier FROM users',
  `CREATE TRIGGER keep_log AFTER DELETE ON users FOR EACH ROW INSERT INTO log_lines VALUES (OLD.identifier, 1)`,
];

export interface GameDatabase {
  readonly url: string;
  run(...statements: string[]): Promise<void>;
  drop(): Promise<void>;
}

export async function gameDatabase(): Promise<GameDatabase> {
  const serverUrl = process.env.TEST_MYSQL_URL;
  if (serverUrl === undefined) throw new Error('TEST_MYSQL_URL is not set');
  const { url, drop } = await freshDatabase('mysql', serverUrl);
  const run = async (...statements: string[]): Promise<void> => {
    const connection = await createConnection({ uri: url, charset: 'utf8mb4' });
    try {
      await connection.query(
        "SET autocommit = 1, sql_mode = '', auto_increment_increment = 1, time_zone = '+00:00', character_set_database = utf8mb4",
      );
      for (const statement of statements) await connection.query(statement);
    } finally {
      await connection.end();
    }
  };
  await run('ALTER DATABASE CHARACTER SET utf8mb4', ...STATEMENTS);
  return { url, run, drop };
}
