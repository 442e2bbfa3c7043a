import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BundleToolsAnswer } from '#panel/shapes/bundle-tools.ts';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { Review } from '#panel/shapes/merging.ts';
import type { InstalledProject, ProjectRef, ProjectView } from '#panel/shapes/sources.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Checkbox } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { RefusedTokens } from './accounts-view.tsx';
import { BuildForm } from './build-form.tsx';
import { CheckoutForm } from './checkout-form.tsx';
import { CompareForm } from './compare-form.tsx';
import { headWords } from './compared-pair.ts';
import { ProjectRemoval } from './project-removal.tsx';
import { Distance } from './sources-view.tsx';

/** `#/tools/sources/NAME`: one source project. */
export function ProjectPage({ name }: { name: string }) {
  const loaded = useLoaded<{ projects: readonly ProjectView[] }>('/api/bundle-tools/projects');
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  return (
    <article>
      <p class="log-actions">
        <a href={linkTo('tools', ['sources'])}>{t('sources.all')}</a>
      </p>
      <Ready of={loaded}>
        {({ projects }) => {
          const project = projects.find((one) => one.name === name);
          return project === undefined ? (
            <Empty title={t('errors.bundleTools.unknown')} />
          ) : (
            <Project project={project} onChange={loaded.reload} />
          );
        }}
      </Ready>
    </article>
  );
}

function Project({ project, onChange }: { project: ProjectView; onChange: () => void }) {
  const can = useCan();
  const { name, origin, branch, commit, installed, fetchedAt } = project;
  const refs = useRefs(name, `${branch} ${commit} ${fetchedAt}`);
  return (
    <>
      <h2 class="project-name">{name}</h2>
      <dl class="facts">
        <Fact title={t('sources.remote')}>{origin ?? t('sources.local')}</Fact>
        <Fact title={t('sources.branch')}>
          {branch} · {commit.slice(0, 12)}
        </Fact>
        <Fact title={t('sources.installed')}>
          {installed === null ? '–' : <Installed name={name} installed={installed} />}
        </Fact>
        <Fact title={t('sources.fetched')}>{fetchedAt === null ? '–' : <Time iso={fetchedAt} />}</Fact>
      </dl>
      <RefusedAccount account={project.account} />
      <p class="row project-actions">
        {origin !== null && <Distance project={project} />}
        {origin !== null && <Start action="check" body={{ name }} label={t('sources.check')} />}
        {origin !== null && <Start action="pull" body={{ name }} label={t('sources.pull')} />}
        <a class="button" href={linkTo('tools', ['sources', name, 'packages'])}>
          {t('packages.title')}
        </a>
        {installed !== null && <Start action="create" body={{ name }} label={t('sources.commitInstalled')} />}
      </p>
      {refs.length > 0 && <CheckoutForm key={branch} project={project} refs={refs} onChange={onChange} />}
      <BuildForm project={project} />
      {can('bundles.accounts.use') && <CompareForm project={project} refs={refs} />}
      <Reviews name={name} />
      {can('bundles.settings') && <Workflow project={project} onChange={onChange} />}
      {can('bundles.sources.delete') && <ProjectRemoval name={name} />}
    </>
  );
}

/** Version on the server, and the commit that it was built from. */
function Installed({ name, installed: { version, commit } }: { name: string; installed: InstalledProject }) {
  return (
    <>
      <a href={linkTo('bundles', [name])}>{version === '' ? name : version}</a>
      {commit !== null && ` · ${commit}`}
    </>
  );
}

/** Read again when the project has moved. */
function useRefs(name: string, state: string): readonly ProjectRef[] {
  const [refs, setRefs] = useState<readonly ProjectRef[]>([]);
  useEffect(() => {
    api.post<{ refs: readonly ProjectRef[] }>('/api/bundle-tools/projects/refs', { name }).then(
      (answer) => setRefs(answer.refs),
      () => setRefs([]),
    );
  }, [name, state]);
  return refs;
}

/** At night the question is why nothing new arrives. */
function RefusedAccount({ account }: { account: string | null }) {
  const can = useCan();
  const isSeen = account !== null && (can('bundles.accounts.use') || can('bundles.accounts.manage'));
  const loaded = useLoaded<BundleToolsAnswer>(isSeen ? '/api/bundle-tools' : null);
  return <RefusedTokens accounts={(loaded.data?.accounts ?? []).filter(({ name }) => name === account)} />;
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="hash">{children}</dd>
    </div>
  );
}

interface StartProps {
  readonly action: string;
  readonly body: object;
  readonly label: string;
}

/** Starts a job of the project, and goes to it. */
function Start({ action, body, label }: StartProps) {
  const [start, isBusy] = useAction(async () => {
    const { status } = await api.post<{ status: JobStatus }>(`/api/bundle-tools/projects/${action}`, body);
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  return (
    <Button busy={isBusy} onClick={() => start()}>
      {label}
    </Button>
  );
}

const TONES = { open: 'info', rejected: 'bad', closed: 'idle', merged: 'good' } as const;

function Reviews({ name }: { name: string }) {
  const loaded = useLoaded<{ reviews: readonly Review[] }>('/api/bundle-tools/projects/reviews', { project: name });
  if (loaded.data?.reviews.length === 0) return null;
  return (
    <Section title={t('sources.reviews')}>
      <Ready of={loaded}>
        {({ reviews }) => (
          <ul class="plain-list">
            {reviews.slice(0, 50).map(({ id, title, state, base, head, openedBy }) => (
              <li key={id} class="row">
                <Badge tone={TONES[state]}>{t(`merge.review-${state}`)}</Badge>
                <a href={linkTo('tools', ['sources', name, 'compare'], { base, head })}>{title}</a>
                <span class="soft">
                  {headWords(head)} → {base} · {openedBy}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Ready>
    </Section>
  );
}

function Workflow({ project: { name, workflow }, onChange }: { project: ProjectView; onChange: () => void }) {
  const [save] = useAction(async (isReviewed: boolean) => {
    const body = { project: name, workflow: isReviewed ? 'review' : 'direct', branch: workflow.branch, approvals: 1 };
    await api.post('/api/bundle-tools/projects/workflow', body);
    tellDone(t('common.saved'));
    onChange();
  });
  return (
    <Section title={t('merge.workflow')}>
      <Checkbox
        label={t('merge.needsReview', { branch: workflow.branch })}
        hint={t('merge.needsReviewHint')}
        checked={workflow.workflow === 'review'}
        onChange={save}
      />
    </Section>
  );
}
