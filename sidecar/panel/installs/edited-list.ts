import { PanelError } from '../panel-error.ts';
import type { EditedFiles } from '../shapes/installs.ts';
import type { BundlePlaces } from './bundle-places.ts';
import { editedFiles } from './install-plan.ts';
import type { InstallStore } from './install-store.ts';

const MAX_FILES = 1000;

/** Files of installed bundles that were edited by hand, for their pages. A bundle that is read already is not read twice. */
export class EditedList {
  readonly #parts: { readonly store: InstallStore; readonly places: BundlePlaces };
  readonly #underWay = new Map<string, Promise<EditedFiles>>();

  constructor(parts: { readonly store: InstallStore; readonly places: BundlePlaces }) {
    this.#parts = parts;
  }

  /** @throws PanelError `bundles.unknown`, `bundles.linked`, `bundles.unavailable` */
  async read(name: string): Promise<EditedFiles> {
    const { places } = this.#parts;
    const found = places.find(places.root(), name);
    if (found === null) throw new PanelError('bundles.unknown', { field: 'name' });
    const reading = this.#underWay.get(found.path) ?? this.#read(name).finally(() => this.#underWay.delete(found.path));
    this.#underWay.set(found.path, reading);
    return reading;
  }

  async #read(name: string): Promise<EditedFiles> {
    const { store, places } = this.#parts;
    const current = store.current(name);
    const isManaged = current !== null && store.files(name, current.number) !== null;
    const files = await editedFiles(places.root(), { name }, { places, store });
    return { isManaged, files: files.slice(0, MAX_FILES), more: files.length > MAX_FILES, kept: current?.keep ?? [] };
  }
}
