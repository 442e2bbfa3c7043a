import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import type { RemovedProject } from '../shapes/sources.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { Project } from './project-store.ts';
import type { Projects } from './projects.ts';

interface Row {
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly record: string;
}

export interface ProjectTrashParts {
  readonly store: PanelStore;
  readonly projects: Projects;
  /** `data/bundle-tools/sources`: renaming is enough. */
  readonly folder: string;
  readonly trashDays: () => number;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;

/** Removed projects, with the way back. A row is written before the folder moves, and deleted after it. */
export class ProjectTrash {
  readonly #parts: ProjectTrashParts;

  constructor(parts: ProjectTrashParts) {
    this.#parts = parts;
  }

  list(): RemovedProject[] {
    return this.#rows().map(({ id, at, by, record }) => ({
      ...{ id, by, name: (JSON.parse(record) as Project).name },
      ...{ at: new Date(at).toISOString(), until: new Date(this.#untilOf(at)).toISOString() },
    }));
  }

  put(project: Project, by: string): void {
    const { store, projects, now } = this.#parts;
    this.sweep();
    const id = randomBytes(12).toString('hex');
    const { folder } = projects.repository(project);
    mkdirSync(this.#trashFolder, { recursive: true, mode: 0o700 });
    store.transaction(() => {
      const row = { id, at: now(), by, record: JSON.stringify(project) };
      store.prepare('INSERT INTO source_trash (id, at, by, record) VALUES (@id, @at, @by, @record)').run(row);
      store.prepare('DELETE FROM source_projects WHERE name = ?').run(project.name);
    })();
    if (existsSync(folder)) renameSync(folder, this.#folderOf(id));
  }

  /** @throws PanelError `bundleTools.unknown`, `bundleTools.exists` */
  restore(id: string): Project {
    const { store, projects } = this.#parts;
    const row = this.#rows().find((each) => each.id === id);
    if (row === undefined) throw new PanelError('bundleTools.unknown', { field: 'id' });
    const project = JSON.parse(row.record) as Project;
    projects.checkFree(project.name);
    const { folder } = projects.repository(project);
    if (existsSync(this.#folderOf(id))) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(this.#folderOf(id), folder);
    }
    const { name, ...record } = project;
    store.transaction(() => {
      store.prepare('INSERT INTO source_projects (name, record) VALUES (?, ?)').run(name, JSON.stringify(record));
      store.prepare('DELETE FROM source_trash WHERE id = ?').run(id);
    })();
    return project;
  }

  /** Removes for good what is too old. */
  sweep(): void {
    const { store, now } = this.#parts;
    for (const { id, at } of this.#rows()) {
      if (this.#untilOf(at) > now()) continue;
      rmSync(this.#folderOf(id), { recursive: true, force: true });
      store.prepare('DELETE FROM source_trash WHERE id = ?').run(id);
    }
  }

  #rows(): Row[] {
    return this.#parts.store.prepare('SELECT * FROM source_trash ORDER BY at DESC, id').all() as Row[];
  }

  #untilOf(at: number): number {
    return at + this.#parts.trashDays() * DAY_MS;
  }

  get #trashFolder(): string {
    return join(this.#parts.folder, 'trash');
  }

  #folderOf(id: string): string {
    return join(this.#trashFolder, `${id}.git`);
  }
}
