import { type Access, needs } from '../http/route.ts';
import type { JobKind } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { ProjectBuilder } from './project-builder.ts';
import type { BuildInput, CreateInput, ImportInput, NameInput } from './project-inputs.ts';
import type { ProjectTrash } from './project-trash.ts';
import type { ProjectWork } from './project-work.ts';
import type { Projects } from './projects.ts';

export interface ProjectJobsParts {
  readonly jobs: Jobs;
  readonly projects: Projects;
  readonly work: ProjectWork;
  readonly builder: ProjectBuilder;
  readonly trash: ProjectTrash;
}

const BUILD = needs('bundles.build');
const REMOVE = needs('bundles.build', 'bundles.sources.delete');

/** Jobs of source projects. Each holds its project; a build holds the bundle too. */
export function defineProjectJobs({ jobs, projects, work, builder, trash }: ProjectJobsParts): void {
  const accountOf = ({ name }: NameInput) => rightsFor(projects.has(name) ? projects.find(name).account : null);
  const base = { lane: 'work', access: BUILD, subjects: subjectsOf } as const;
  jobs.define<ImportInput>({
    ...{ ...base, kind: 'projects.import', run: (job) => work.import(job) },
    needs: ({ account }) => rightsFor(account ?? null),
  });
  jobs.define<CreateInput>({ ...base, kind: 'projects.create', run: (job) => work.create(job) });
  jobs.define<NameInput>({
    ...base,
    kind: 'projects.pull',
    needs: accountOf,
    run: async (job) => ({ ...(await work.pull(job)) }),
  });
  jobs.define<NameInput>({
    ...base,
    kind: 'projects.check',
    needs: accountOf,
    run: async (job) => ({ ...(await work.check(job)) }),
  });
  jobs.define<NameInput>(removal(REMOVE, projects, trash));
  jobs.define<BuildInput>({
    ...{ ...base, kind: 'projects.build' },
    subjects: ({ name }) => [`project:${name}`, `bundle:${name}`],
    run: async (job) => ({ ...(await builder.build(job)) }),
    resume: async (job) => ({ ...(await builder.resume(job)) }),
  });
}

function removal(access: Access, projects: Projects, trash: ProjectTrash): JobKind<NameInput> {
  return {
    ...{ kind: 'projects.remove', lane: 'work', access, subjects: subjectsOf },
    run: async (job) => {
      const project = projects.find(job.input.name);
      job.commit();
      trash.put(project, job.by.username);
      job.log(`${project.name} is in the trash; the bundle stays`);
      return { name: project.name };
    },
  };
}

function subjectsOf({ name }: NameInput): string[] {
  return [`project:${name}`];
}

function rightsFor(account: string | null): Permission[] {
  return account === null ? [] : ['bundles.accounts.use'];
}
