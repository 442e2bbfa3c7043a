import type { Upload, UploadedBundle } from '#panel/shapes/uploads.ts';

/** Choices for one bundle of an inspected archive. */
export interface BundleDraft {
  readonly from: string;
  readonly isChosen: boolean;
  readonly name: string;
  /** FXServer: folder in brackets for a new bundle, without the brackets; empty: none. */
  readonly category: string;
  /** Edited files that the new version replaces; all others are kept. */
  readonly overwritten: readonly string[];
}

export type BundleChange = 'new' | 'changed' | 'same';

export function changeOf({ installed, added, changed, removed }: UploadedBundle): BundleChange {
  if (installed === null) return 'new';
  return added + changed + removed === 0 ? 'same' : 'changed';
}

/** All that brings something; of an archive that brings nothing new, all. Edited files are kept until their reader says otherwise. */
export function startDrafts({ bundles }: Pick<Upload, 'bundles'>): BundleDraft[] {
  const isAllSame = bundles.every((bundle) => changeOf(bundle) === 'same');
  return bundles.map((bundle) => ({
    ...{ from: bundle.from, name: bundle.name, category: '', overwritten: [] },
    isChosen: isAllSame || changeOf(bundle) !== 'same',
  }));
}

interface InstallChoice {
  readonly apply: 'now' | 'later';
  /** Replace files that were edited since the dry run, or in a bundle of another name. */
  readonly overwrite: boolean;
}

/** Body of `POST /api/bundle-tools/upload/install`. */
export function installBody({ id, bundles }: Upload, drafts: readonly BundleDraft[], choice: InstallChoice) {
  const chosen = drafts.filter(({ isChosen }) => isChosen);
  const isOverwriting = choice.overwrite || chosen.some(({ overwritten }) => overwritten.length > 0);
  return {
    ...{ upload: id, apply: choice.apply, overwrite: isOverwriting },
    bundles: chosen.map((draft) => {
      const bundle = bundles.find(({ from }) => from === draft.from);
      const isSameName = bundle?.name === draft.name;
      const keep = isSameName ? bundle.edited.filter((path) => !draft.overwritten.includes(path)) : [];
      return {
        ...{ from: draft.from, name: draft.name, keep },
        ...(draft.category === '' ? {} : { category: draft.category }),
      };
    }),
  };
}
