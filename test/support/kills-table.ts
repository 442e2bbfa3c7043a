/** Table of the tests that back up and restore: a name a row. */
export const KILLS = {
  name: 'kills',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'who', type: 'string', nullable: true },
  ],
};
