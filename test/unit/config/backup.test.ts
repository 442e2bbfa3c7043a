import { expect, it } from 'vitest';
import { loadConfigText } from '#sidecar/config/load-config.ts';
import { mergedConfig, withoutSecrets } from '#sidecar/config/portable-config.ts';

const KEY = { kid: 'local', secret: 'x'.repeat(43), operations: ['*'], namespaces: ['*'] };
const S3 = { type: 's3', bucket: 'bb', accessKeyEnv: 'A', secretKeyEnv: 'S' };
const RECIPIENT = 'age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq';

function backupOf(backup: object, more: object = {}) {
  return loadConfigText(JSON.stringify({ keys: [KEY], backup, ...more }), '/srv/sidecar.json', {}).backup;
}

it('a place off the machine has its defaults, and its paths are absolute', () => {
  expect(backupOf({ remote: { ...S3, prefix: 'town/a' } }).remote).toEqual({
    ...{ type: 's3', endpoint: null, region: 'us-east-1', bucket: 'bb', prefix: 'town/a/', pathStyle: false },
    ...{ accessKey: { variable: 'A' }, secretKey: { variable: 'S' }, keep: { daily: 14, weekly: 8, monthly: 12 } },
  });
  expect(backupOf({ remote: { type: 'folder', path: 'disk' } }).remote).toMatchObject({ path: '/srv/disk' });
});

it.each([
  [{ remote: { ...S3, endpoint: 'http://s3.example.org' } }, 'backup.remote.endpoint: expected https://'],
  [{ remote: { ...S3, endpoint: 'https://a:b@s3.example.org' } }, 'backup.remote.endpoint'],
  [{ remote: { ...S3, prefix: 'a/../b' } }, 'backup.remote.prefix'],
  [{ remote: { ...S3, path: 'x' } }, 'backup.remote.path: is not used by type s3'],
  [{ remote: { type: 'folder', path: 'x', bucket: 'bb' } }, 'backup.remote.bucket: is not used by type folder'],
  [{ remote: { type: 'folder' } }, 'backup.remote.path: expected a value'],
  [{ remote: { ...S3, accessKeyFile: 'f' } }, 'exactly one of accessKeyFile and accessKeyEnv, got both'],
  [{ remote: { ...S3, secretKeyEnv: undefined } }, 'exactly one of secretKeyFile and secretKeyEnv, got none'],
  [{ encryptTo: ['ssh-ed25519 AAAA'] }, 'backup.encryptTo'],
  [{ secrets: true }, 'backup.secrets: expected backup.encryptTo'],
  [{ drill: {} }, 'backup.drill: expected backup.remote'],
  [{ continuous: {} }, 'backup.continuous: expected backup.remote'],
  [{ remote: S3, encryptTo: [RECIPIENT], continuous: {} }, 'Litestream does not encrypt'],
])('%j is refused with the field named', (backup, line) => {
  expect(() => backupOf(backup)).toThrow(line);
});

it('continuous backups are for SQLite, and leave its checkpoints to Litestream', () => {
  const backup = { remote: S3, encryptTo: [RECIPIENT], continuous: { allowClear: true } };
  const text = (more: object) => JSON.stringify({ keys: [KEY], backup, ...more });
  expect(loadConfigText(text({}), '/srv/s.json', {}).database).toMatchObject({ leavesCheckpoints: true });
  const server = { database: { provider: 'postgres', url: 'postgres://u:p@h/d' } };
  expect(() => loadConfigText(text(server), '/srv/s.json', {})).toThrow('backup.continuous: is for SQLite');
});

it('a configuration leaves without its secrets', () => {
  const text = JSON.stringify({ keys: [KEY, { ...KEY, kid: 'b' }], database: { url: 'mysql://u:pass@h/d' } });
  const bare = withoutSecrets(text);
  expect(bare).not.toMatch(/xxxx|pass/);
  expect(JSON.parse(bare)).toMatchObject({ keys: [{ kid: 'local' }, { kid: 'b' }], database: {} });
  expect(withoutSecrets(JSON.stringify({ database: { url: 'mongodb://127.0.0.1/d' } }))).toContain('127.0.0.1');
});

it('what an owner gives counts before the backup, and for settings that exclude each other', () => {
  const given = { database: { urlEnv: 'U' }, backup: { at: '01:00', remote: { type: 'folder' } }, keys: [1] };
  const backup = {
    ...{ database: { provider: 'mysql', url: 'x', poolSize: 3 }, keys: [2, 3], api: { port: 1 } },
    backup: { everyHours: 1, keep: 9, remote: { type: 's3', bucket: 'bb' } },
  };
  expect(mergedConfig(given, backup)).toEqual({
    ...{ database: { urlEnv: 'U', provider: 'mysql', poolSize: 3 }, keys: [1], api: { port: 1 } },
    backup: { at: '01:00', keep: 9, remote: { type: 'folder' } },
  });
});
