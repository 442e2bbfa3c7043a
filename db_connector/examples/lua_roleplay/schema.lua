-- The namespace must be listed in database.json where there is one. Its schema has one owner: the resource that calls Sync.
NAMESPACE = 'game'

local function money(name) return Q.Decimal(name, { precision = 18, scale = 2, default = 0 }) end

-- Declared as a whole at every start; the sidecar changes only the difference. To rename a column and keep its data, write
-- { renamedFrom = 'old_name' }.
SCHEMA = Q.Schema(
  Q.Table('characters', {
    Q.Int64('id', { autoIncrement = true }),
    Q.Text('license', { length = 60, unique = true }),
    Q.Text('name', { length = 80 }),
    Q.Text('job', { length = 30, default = 'unemployed' }),
    money('money'),
    Q.Json('position', { nullable = true }),
    Q.Json('inventory', { nullable = true }),
    -- The hour (since 1970) of the last paycheck. It makes payday safe to repeat.
    Q.Int32('last_paycheck', { default = 0 }),
    Q.DateTime('last_seen', { default = 'now', onUpdate = 'now' }),
  }, { primaryKey = { 'id' }, indexes = { Q.Index('by_job', { 'job', 'last_paycheck' }) } }),

  Q.Table('bank_log', {
    Q.Int64('id', { autoIncrement = true }),
    Q.Int64('from_id'),
    Q.Int64('to_id'),
    Q.Decimal('amount', { precision = 18, scale = 2 }),
    Q.DateTime('at', { default = 'now' }),
  }, { primaryKey = { 'id' }, indexes = { Q.Index('by_sender', { 'from_id', 'at' }) } })
)
