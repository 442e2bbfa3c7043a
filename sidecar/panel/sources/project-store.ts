import type { ProjectView } from '../shapes/sources.ts';
import type { PanelStore } from '../store/panel-store.ts';

type StoredField = 'name' | 'origin' | 'account' | 'branch' | 'commit' | 'root' | 'build' | 'workflow';

/** Project as it is stored. */
export interface Project extends Pick<ProjectView, StoredField> {
  /** Epoch milliseconds. */
  readonly fetchedAt: number | null;
}

interface Row {
  readonly name: string;
  readonly record: string;
}

/** Rows of source projects. */
export class ProjectStore {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  list(): Project[] {
    const rows = this.#store.prepare('SELECT name, record FROM source_projects ORDER BY name').all() as Row[];
    return rows.map(projectOf);
  }

  find(name: string): Project | null {
    const row = this.#store.prepare('SELECT name, record FROM source_projects WHERE name = ?').get(name) as
      | Row
      | undefined;
    return row === undefined ? null : projectOf(row);
  }

  save({ name, ...record }: Project): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO source_projects (name, record) VALUES (?, ?)')
      .run(name, JSON.stringify(record));
  }

  /** Changes fields of a project that is still there. */
  change(name: string, changes: Partial<Omit<Project, 'name'>>): void {
    const project = this.find(name);
    if (project !== null) this.save({ ...project, ...changes });
  }

  remove(name: string): void {
    this.#store.prepare('DELETE FROM source_projects WHERE name = ?').run(name);
  }
}

function projectOf({ name, record }: Row): Project {
  return { name, ...(JSON.parse(record) as Omit<Project, 'name'>) };
}
