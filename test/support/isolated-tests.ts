/** Tests that replace modules, or change the process or modules that others share. */
export const ISOLATED_TESTS = [
  'test/panel/installs/{cancel,full-disk}.test.ts',
  'test/panel/trash/swapped.test.ts',
  'test/house/**/*.test.ts',
  'test/unit/{connector,helper,sample}/**/*.test.ts',
  'test/unit/owner-only.test.ts',
  'test/unit/security/nonce-store.test.ts',
  'test/panel/setup/install-standalone.test.ts',
  'test/panel/{backups,browser}/backups.test.ts',
];
