/** Test files in a process of their own, each group with the reason. Every other file shares a process with files of its project. */
export const ISOLATED_TESTS = [
  // They replace a module with `vi.mock`.
  'test/panel/installs/cancel.test.ts',
  'test/panel/setup/install-standalone.test.ts',
  'test/unit/security/nonce-store.test.ts',
  // They replace functions of `node:fs` for the whole process.
  'test/panel/installs/full-disk.test.ts',
  'test/panel/trash/swapped.test.ts',
  // They change `process.argv`.
  'test/panel/{backups,browser}/backups.test.ts',
  // It changes the umask of the process, and a module remembers that.
  'test/unit/owner-only.test.ts',
  // They change `PATH`, and load so few modules that a process costs 0.1 s.
  'test/house/**/*.test.ts',
];
