import { describe, expect, it } from 'vitest';
import type { UploadedBundle } from '#panel/shapes/uploads.ts';
import { installBody, startDrafts } from '#panel/web/tools/install-draft.ts';

const bundle = (name: string, more: Partial<UploadedBundle> = {}): UploadedBundle => ({
  ...{ from: `all/${name}`, name, version: '2.0.0', files: 3, bytes: 900, dependencies: [], missing: [] },
  ...{ installed: '1.0.0', added: 0, changed: 0, removed: 0, edited: [], warnings: [] },
  ...more,
});
const upload = (...bundles: UploadedBundle[]) => ({ id: 'u1', expiresAt: '', ignored: 0, bundles });
const CHOICE = { apply: 'now', overwrite: false } as const;

describe('the dry run of an upload', () => {
  it('leaves out bundles that are the same, unless all are', () => {
    const drafts = startDrafts(upload(bundle('a'), bundle('b', { changed: 1 }), bundle('c', { installed: null })));
    expect(drafts.map(({ isChosen }) => isChosen)).toEqual([false, true, true]);
    expect(startDrafts(upload(bundle('a'))).map(({ isChosen }) => isChosen)).toEqual([true]);
  });

  it('keeps edited files, and overwrites chosen ones alone', () => {
    const archive = upload(bundle('shop', { changed: 2, edited: ['config.lua', 'prices.lua'] }), bundle('same'));
    const [shop, same] = startDrafts(archive);
    if (shop === undefined || same === undefined) throw new Error('expected two drafts');
    expect(installBody(archive, [shop, same], CHOICE)).toEqual({
      ...{ upload: 'u1', apply: 'now', overwrite: false },
      bundles: [{ from: 'all/shop', name: 'shop', keep: ['config.lua', 'prices.lua'] }],
    });
    expect(installBody(archive, [{ ...shop, overwritten: ['prices.lua'] }], CHOICE)).toMatchObject({
      ...{ overwrite: true, bundles: [{ keep: ['config.lua'] }] },
    });
  });

  it('keeps no files of a bundle that gets another name, and names a category', () => {
    const archive = upload(bundle('shop', { edited: ['config.lua'] }));
    const drafts = startDrafts(archive).map((draft) => ({ ...draft, name: 'shop2', category: 'jobs' }));
    expect(installBody(archive, drafts, { apply: 'later', overwrite: true })).toEqual({
      ...{ upload: 'u1', apply: 'later', overwrite: true },
      bundles: [{ from: 'all/shop', name: 'shop2', keep: [], category: 'jobs' }],
    });
  });
});
