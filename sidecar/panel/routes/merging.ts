import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { compareCommits } from '../merging/compare.ts';
import { MERGE_ACCESS, type MergeInput, type MergeWork } from '../merging/merge-work.ts';
import { resolveHead, resolveRef } from '../merging/resolve-ref.ts';
import type { Reviews } from '../merging/reviews.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import { isBranchName } from '../sources/git/repository.ts';
import type { Project, ProjectStore } from '../sources/project-store.ts';
import type { Projects } from '../sources/projects.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface MergingServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly projects: Projects;
  readonly projectStore: ProjectStore;
  readonly reviews: Reviews;
  readonly mergeWork: MergeWork;
  /** The bundle as it lies on the server, as a commit on top of `parent` that no ref names. */
  readonly commitInstalled: (project: Project, parent: string, signal: AbortSignal) => Promise<string>;
}

const BASE = '/api/bundle-tools/projects';
const INSTALLED = 'installed';
const text = z.string();
const pair = { project: text, base: text, head: text, baseCommit: text, headCommit: text };
const BODIES = {
  workflow: z.strictObject({
    project: text,
    workflow: text,
    branch: text.optional(),
    approvals: z.number().optional(),
  }),
  compare: z.strictObject({ project: text, base: text, head: text, path: text.optional() }),
  merge: z.strictObject({
    ...{ ...pair, message: text, review: z.number().optional() },
    resolutions: z
      .array(z.strictObject({ path: text, take: z.enum(['base', 'head']) }))
      .max(1000)
      .default([]),
  }),
  review: z.strictObject({
    ...{ project: text, action: text, id: z.unknown().optional(), title: text.optional(), comment: text.optional() },
    ...{ base: text.optional(), head: text.optional(), baseCommit: text.optional(), headCommit: text.optional() },
  }),
};

/** Comparing, merging and reviewing branches of source projects. */
export function mergingRoutes(services: MergingServices): PanelRoute[] {
  return [...readingRoutes(services), ...changingRoutes(services)];
}

function readingRoutes({ settings, projects, reviews, commitInstalled }: MergingServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  return [
    route({
      ...{ method: 'POST', path: `${BASE}/compare`, access: needs('bundles.build', 'bundles.accounts.use'), gate },
      ...{ body: BODIES.compare, audit: 'projects.compare' },
      handle: async ({ body, subject, signal }) => {
        subject(`${body.project} ${body.base} ${body.head}`.slice(0, 200));
        const project = projects.find(body.project);
        const repository = projects.repository(project);
        const base = await resolveRef(repository, body.base, 'base');
        const head =
          body.head === INSTALLED
            ? await commitInstalled(project, base, signal)
            : await resolveHead(repository, body.head, base);
        return { compare: await compareCommits(repository, { base, head, path: body.path ?? null }) };
      },
    }),
    route({
      ...{ method: 'GET', path: `${BASE}/reviews`, access: needs('bundles.build'), gate },
      handle: ({ query }) => ({ reviews: reviews.list(query.get('project') ?? '') }),
    }),
  ];
}

function changingRoutes({ settings, jobs, projects, projectStore, reviews, mergeWork }: MergingServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  const review = needs('bundles.build', 'bundles.git-write', 'bundles.accounts.use', 'bundles.review');
  return [
    route({
      ...{ method: 'POST', path: `${BASE}/workflow`, access: needs('bundles.settings'), gate },
      ...{ body: BODIES.workflow, audit: 'projects.workflow' },
      handle: async ({ body, subject }) => {
        subject(`${body.project} ${body.workflow}`.slice(0, 200));
        const project = projects.find(body.project);
        const { workflow, approvals = 1, branch = project.workflow.branch } = body;
        if (workflow !== 'direct' && workflow !== 'review') throw refusal('workflowKind', 'workflow');
        if (approvals !== 1) throw refusal('approvals');
        const isThere = isBranchName(branch) && (await projects.repository(project).commitOf(`refs/heads/${branch}`));
        if (!isThere) throw refusal('branch');
        projectStore.change(project.name, { workflow: { workflow, branch, approvals } });
        return { project: await projects.view(project.name) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/merge`, access: MERGE_ACCESS, gate },
      ...{ body: BODIES.merge, audit: 'projects.merge' },
      handle: async (request) => {
        const { review: _matched, ...input } = request.body;
        request.subject(`${input.project} ${input.head} ${input.base}`.slice(0, 200));
        checkText(input.message, 'message', 1, 4000);
        await mergeWork.check(input);
        return { status: jobs.start(mergeWork.job.kind, input satisfies MergeInput, callerOf(request)) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/review`, access: review, gate },
      ...{ body: BODIES.review, audit: 'projects.review' },
      handle: async (request) => {
        const { body, subject } = request;
        const { username } = callerOf(request);
        subject(`${body.project} ${body.action}`.slice(0, 200));
        const project = projects.find(body.project);
        const { base = '', head = '', baseCommit = '', headCommit = '', title = '', comment = '' } = body;
        checkText(comment, 'comment', 0, 4000);
        switch (body.action) {
          case 'open': {
            checkText(title, 'title', 1, 200);
            const document = { base, head, baseCommit, headCommit, title, comment };
            return { review: await reviews.open(project, document, username) };
          }
          case 'approve':
            return { review: await reviews.approve(project, body.id, { baseCommit, headCommit }, username, comment) };
          case 'reject':
          case 'close':
            return { review: reviews.end(project, body.id, body.action, username, comment) };
          default:
            throw refusal('action');
        }
      },
    }),
  ];
}

type Refused = 'workflowKind' | 'approvals' | 'branch' | 'action' | 'message' | 'comment' | 'title';

function refusal(key: Refused, field: string = key, detail?: string): PanelError {
  return new PanelError(`bundleTools.${key}` satisfies ErrorKey, {
    field,
    ...(detail === undefined ? {} : { detail }),
  });
}

/** Texts stand in commits and pages: lines are welcome, other control characters are not. */
function checkText(given: string, field: 'message' | 'comment' | 'title', least: number, most: number): void {
  const length = given.trim().length;
  const isPlain = given.isWellFormed() && !/[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/u.test(given);
  if (length < least || length > most || !isPlain)
    throw refusal(field, field, `expected ${least} to ${most} characters`);
}
