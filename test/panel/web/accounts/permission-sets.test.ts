import { describe, expect, it } from 'vitest';
import { PERMISSIONS, PRESETS } from '#panel/shapes/permissions.ts';
import { newPassword } from '#panel/web/accounts/new-password.ts';
import {
  beyond,
  GROUP_NAMES,
  grantable,
  listed,
  PERMISSION_GROUPS,
  presetOf,
  shareOf,
} from '#panel/web/accounts/permission-sets.ts';

describe('the matrix of permissions', () => {
  it('shows each permission exactly once', () => {
    const shown = GROUP_NAMES.flatMap((name) => [...PERMISSION_GROUPS[name]]);
    expect(shown.toSorted()).toEqual([...PERMISSIONS].toSorted());
  });

  it('gives nothing that the manager lacks', () => {
    const own = new Set(['users.manage', 'console.read', 'logs.read']);
    expect([...grantable('owner', own)]).toEqual(['console.read', 'logs.read', 'users.manage']);
    expect([...grantable('viewer', new Set())]).toEqual([]);
    expect(beyond(['console.read', 'database.write'], own)).toEqual(['database.write']);
  });

  it('names a preset only where it fits to the letter', () => {
    expect(presetOf(new Set(PRESETS.moderator))).toBe('moderator');
    expect(presetOf(new Set([...PRESETS.moderator, 'settings.write']))).toBeNull();
    expect(presetOf(new Set())).toBeNull();
  });

  it('tells how much of a group is held', () => {
    const database = ['database.read', 'database.write', 'backups.read', 'backups.make', 'backups.restore'];
    const held = new Set(['console.read', ...database]);
    expect(GROUP_NAMES.map((name) => shareOf(name, held))).toEqual(['none', 'some', 'none', 'all', 'none', 'none']);
    expect(listed(held)).toEqual(['console.read', ...database]);
  });
});

describe('a suggested password', () => {
  it('is long enough, has no letters that look alike, and is another each time', () => {
    expect(newPassword()).toMatch(/^([a-hjkmnp-zA-HJ-NP-Z2-9]{5}-){3}[a-hjkmnp-zA-HJ-NP-Z2-9]{5}$/);
    expect(newPassword()).not.toBe(newPassword());
  });

  it('drops bytes that would make some letters likelier', () => {
    const bytes = [255, 0, 254, 1];
    const password = newPassword((target) => target.fill(bytes.shift() ?? 2));
    expect(password).toBe(`abccc-${'c'.repeat(5)}-${'c'.repeat(5)}-${'c'.repeat(5)}`);
  });
});
