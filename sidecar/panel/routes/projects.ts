import * as z from 'zod';
import { type Caller, callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import { ROLLBACK } from '../installs/create-installs.ts';
import type { Installs } from '../installs/installs.ts';
import { checkPutFields } from '../installs/put-fields.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { HostPolicy } from '../network/host-policy.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Permission } from '../shapes/permissions.ts';
import { readBranch, readBuild, readProjectName, readRoot, readUrl } from '../sources/project-inputs.ts';
import type { ProjectStore } from '../sources/project-store.ts';
import type { ProjectTrash } from '../sources/project-trash.ts';
import type { Projects } from '../sources/projects.ts';
import type { SourceAccounts } from '../sources/source-accounts.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface ProjectServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly projects: Projects;
  readonly projectStore: ProjectStore;
  readonly projectTrash: ProjectTrash;
  readonly sourceAccounts: SourceAccounts;
  readonly sourceHosts: HostPolicy;
  readonly installs: Installs;
}

const BASE = '/api/bundle-tools/projects';
const name = z.string();
const build = z.strictObject({ script: z.string(), output: z.string() }).nullable();
const root = z.string();
const BODIES = {
  named: z.strictObject({ name }),
  create: z.strictObject({ name, bundle: z.string().optional(), root: root.optional(), build: build.optional() }),
  import: z.strictObject({
    ...{ name, url: z.string(), account: z.string().optional(), branch: z.string().optional() },
    ...{ root: root.optional(), build: build.optional() },
  }),
  checkout: z.strictObject({ name, ref: z.string() }),
  build: z.strictObject({
    ...{ name, apply: z.enum(['now', 'later']), install: z.literal(true), build: build.optional() },
    ...{ overwrite: z.boolean().optional(), keep: z.array(z.string()).max(1000).optional() },
    category: z.string().optional(),
  }),
  rollback: z.strictObject({ name, version: z.int().positive().optional() }),
  remove: z.strictObject({ name, confirm: z.string() }),
  restore: z.strictObject({ id: z.string() }),
};

/** Source projects: repositories that bundles are built from. */
export function projectRoutes(services: ProjectServices): PanelRoute[] {
  return [
    ...readingRoutes(services),
    ...sourceRoutes(services),
    ...installRoutes(services),
    ...removalRoutes(services),
  ];
}

function readingRoutes({ settings, projects, projectTrash }: ProjectServices): PanelRoute[] {
  const open = { access: needs('bundles.build'), gate: toolsSwitch(settings) } as const;
  return [
    route({
      ...{ ...open, method: 'GET', path: BASE },
      handle: async () => ({ projects: await projects.list(), removed: projectTrash.list() }),
    }),
    route({
      ...{ ...open, method: 'POST', path: `${BASE}/refs`, body: BODIES.named, audit: 'projects.refs' },
      handle: async ({ body, subject }) => {
        subject(body.name.slice(0, 100));
        return { refs: await projects.refs(body.name) };
      },
    }),
    route({
      ...{ ...open, method: 'POST', path: `${BASE}/checkout`, body: BODIES.checkout, audit: 'projects.checkout' },
      handle: async ({ body, subject }) => {
        subject(`${body.name} ${body.ref}`.slice(0, 200));
        await projects.checkout(body.name, body.ref);
        return { project: await projects.view(body.name) };
      },
    }),
  ];
}

function sourceRoutes(services: ProjectServices): PanelRoute[] {
  const { settings, jobs, projects, sourceAccounts, sourceHosts } = services;
  const open = { method: 'POST', access: needs('bundles.build'), gate: toolsSwitch(settings) } as const;
  return [
    route({
      ...{ ...open, path: `${BASE}/create`, body: BODIES.create, audit: 'projects.create' },
      handle: (request) => {
        const { body, subject } = request;
        subject(body.name.slice(0, 100));
        const input = {
          ...body,
          name: readProjectName(body.name),
          ...(body.root === undefined ? {} : { root: readRoot(body.root) }),
          ...(body.build === undefined ? {} : { build: readBuild(body.build) }),
        };
        if (!projects.has(input.name)) projects.checkFree(input.name);
        return { status: jobs.start('projects.create', input, callerOf(request)) };
      },
    }),
    route({
      ...{ ...open, path: `${BASE}/import`, body: BODIES.import, audit: 'projects.import' },
      handle: (request) => {
        const { body, subject } = request;
        const caller = callerOf(request);
        checkAccountRight(body.account ?? null, caller);
        projects.checkFree(readProjectName(body.name));
        const url = readUrl(body.url);
        subject(`${body.name} ${url.href}`.slice(0, 200));
        sourceHosts.checkGitHost(url);
        if (body.account !== undefined) sourceAccounts.openFor(body.account, url);
        const input = {
          ...{ ...body, url: url.href, root: readRoot(body.root ?? ''), build: readBuild(body.build ?? null) },
          ...(body.branch === undefined ? {} : { branch: readBranch(body.branch) }),
        };
        return { status: jobs.start('projects.import', input, caller) };
      },
    }),
    ...(['pull', 'check'] as const).map((action) =>
      route({
        ...{ ...open, path: `${BASE}/${action}`, body: BODIES.named, audit: `projects.${action}` },
        handle: (request) => {
          const { body, subject } = request;
          subject(body.name.slice(0, 100));
          const project = projects.find(body.name);
          checkAccountRight(project.account, callerOf(request));
          sourceHosts.checkGitHost(projects.remoteOf(project).url);
          return { status: jobs.start(`projects.${action}`, { name: project.name }, callerOf(request)) };
        },
      }),
    ),
  ];
}

function installRoutes({ settings, jobs, projects, projectStore, installs }: ProjectServices): PanelRoute[] {
  const open = { method: 'POST', access: needs('bundles.build'), gate: toolsSwitch(settings) } as const;
  return [
    route({
      ...{ ...open, path: `${BASE}/build`, body: BODIES.build, audit: 'projects.build' },
      handle: (request) => {
        const { name: given, build: chosen, install: _always, ...rest } = request.body;
        request.subject(given.slice(0, 100));
        const project = projects.find(given);
        const build = readBuild(chosen ?? null);
        checkPutFields(rest, installs.places.root().backend);
        const status = jobs.start('projects.build', { name: project.name, ...rest }, callerOf(request));
        // The job begins after this answer, and reads it.
        if (chosen !== undefined) projectStore.change(project.name, { build });
        return { status };
      },
    }),
    route({
      ...{ ...open, path: `${BASE}/rollback`, body: BODIES.rollback, audit: 'projects.rollback' },
      handle: (request) => {
        const { name: given, version } = request.body;
        request.subject(given.slice(0, 100));
        const project = projects.find(given);
        installs.checkRollback(project.name, version);
        return { status: jobs.start(ROLLBACK, { name: project.name, version }, callerOf(request)) };
      },
    }),
  ];
}

function removalRoutes({ settings, jobs, projects, projectTrash }: ProjectServices): PanelRoute[] {
  const access = needs('bundles.build', 'bundles.sources.delete');
  const open = { method: 'POST', access, gate: toolsSwitch(settings) } as const;
  return [
    route({
      ...{ ...open, path: `${BASE}/remove`, body: BODIES.remove, audit: 'projects.remove' },
      handle: (request) => {
        const { body, subject } = request;
        subject(body.name.slice(0, 100));
        const project = projects.find(body.name);
        if (body.confirm !== project.name) throw new PanelError('bundleTools.confirm', { field: 'confirm' });
        return { status: jobs.start('projects.remove', { name: project.name }, callerOf(request)) };
      },
    }),
    route({
      ...{ ...open, path: `${BASE}/restore`, body: BODIES.restore, audit: 'projects.restore' },
      handle: async ({ body, subject }) => {
        const project = projectTrash.restore(body.id);
        subject(project.name);
        return { project: await projects.view(project.name) };
      },
    }),
  ];
}

/** Rights that the account makes necessary are judged before the fields. */
function checkAccountRight(account: string | null, caller: Caller): void {
  const needed: Permission = 'bundles.accounts.use';
  if (account !== null && !caller.permissions.has(needed)) throw new PanelError('permission.missing');
}
