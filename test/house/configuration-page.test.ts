import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withMeanings } from '#scripts/configuration/field.ts';
import { CONFIGURATION_FILE, configurationText } from '#scripts/configuration.ts';

describe('docs/configuration.md', () => {
  it('is what the schemas give; `node scripts/configuration.ts` writes it', () => {
    expect(readFileSync(CONFIGURATION_FILE, 'utf8')).toBe(configurationText());
  });

  it('cannot be made without a meaning for every field, or with a meaning of no field', () => {
    const fields = [{ path: 'api.port', expected: 'an integer', defaultValue: 20771 }];
    expect(withMeanings(fields, { 'api.port': 'port' })).toMatchObject([{ meaning: 'port' }]);
    expect(() => withMeanings(fields, {})).toThrow('missing api.port; unknown none');
    expect(() => withMeanings(fields, { 'api.port': 'port', 'api.prot': 'port' })).toThrow('unknown api.prot');
  });
});
