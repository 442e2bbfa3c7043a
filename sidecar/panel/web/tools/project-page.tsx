import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { Review } from '#panel/shapes/merging.ts';
import type { ProjectRef, ProjectView } from '#panel/shapes/sources.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Checkbox, SelectField } from '../components/field.tsx';
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
  return (
    <>
      <h2 class="project-name">{name}</h2>
      <dl class="facts">
        <Fact title={t('sources.remote')}>{origin ?? t('sources.local')}</Fact>
        <Fact title={t('sources.branch')}>
          {branch} · {commit.slice(0, 12)}
        </Fact>
        <Fact title={t('sources.installed')}>
          {installed === null ? '–' : `${installed.version} ${installed.commit ?? ''}`}
        </Fact>
        <Fact title={t('sources.fetched')}>{fetchedAt === null ? '–' : <Time iso={fetchedAt} />}</Fact>
      </dl>
      <p class="row project-actions">
        {origin !== null && <Distance project={project} />}
        {origin !== null && <Start action="check" body={{ name }} label={t('sources.check')} />}
        {origin !== null && <Start action="pull" body={{ name }} label={t('sources.pull')} />}
        <Start action="build" body={{ name, apply: 'now', install: true }} label={t('sources.build')} isPrimary />
      </p>
      {can('bundles.accounts.use') && <CompareForm project={project} />}
      <Reviews name={name} />
      {can('bundles.settings') && <Workflow project={project} onChange={onChange} />}
    </>
  );
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
  readonly isPrimary?: boolean;
}

/** Starts a job of the project, and goes to it. */
function Start({ action, body, label, isPrimary = false }: StartProps) {
  const [start, isBusy] = useAction(async () => {
    const { status } = await api.post<{ status: JobStatus }>(`/api/bundle-tools/projects/${action}`, body);
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  return (
    <Button kind={isPrimary ? 'primary' : 'plain'} busy={isBusy} onClick={() => start()}>
      {label}
    </Button>
  );
}

function CompareForm({ project: { name, branch, installed } }: { project: ProjectView }) {
  const [refs, setRefs] = useState<readonly ProjectRef[]>([]);
  const [base, setBase] = useState(branch);
  const [head, setHead] = useState('');
  useEffect(() => {
    api.post<{ refs: readonly ProjectRef[] }>('/api/bundle-tools/projects/refs', { name }).then(
      (answer) => setRefs(answer.refs),
      () => setRefs([]),
    );
  }, [name]);
  const named = refs.map(({ name: ref, kind }) => (kind === 'remote' ? `origin/${ref}` : ref));
  const heads = [...(installed === null ? [] : ['installed']), ...named.filter((ref) => ref !== base)];
  const chosen = heads.includes(head) ? head : (heads[0] ?? '');
  const shown = (ref: string) => [ref, ref === 'installed' ? t('sources.onServer') : ref] as const;
  return (
    <Section title={t('merge.compare')}>
      <div class="toolbar">
        <SelectField
          label={t('merge.into')}
          value={base}
          options={[...new Set([branch, ...named])].map(shown)}
          onChange={setBase}
        />
        <SelectField label={t('merge.from')} value={chosen} options={heads.map(shown)} onChange={setHead} />
        {chosen !== '' && (
          <a class="button" href={linkTo('tools', ['sources', name, 'compare'], { base, head: chosen })}>
            {t('merge.compare')}
          </a>
        )}
      </div>
    </Section>
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
                  {head} → {base} · {openedBy}
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
