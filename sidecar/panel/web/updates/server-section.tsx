import { useEffect } from 'preact/hooks';
import type { ServerCandidate, ServerUpdates, ServerUpdatesAnswer } from '#panel/shapes/server-updates.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t, textFor } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { UpdateJob } from './update-job.tsx';

const BASE = '/api/server-updates';

/** Versions of the game server: the inbox, the choice, its trial and the way back. */
export function ServerSection() {
  const loaded = useLoaded<ServerUpdatesAnswer>(BASE);
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  // A trial ends by the server's own doing.
  useEffect(() => onEvent('status', () => loaded.reload()), []);
  return (
    <Section title={t('server-updates.title')}>
      <Ready of={loaded}>
        {({ updates, status }) =>
          updates.refusal === 'serverUpdates.shipped' || updates.refusal === 'server.elsewhere' ? (
            <p class="soft">{textFor(`errors.${updates.refusal}`)}</p>
          ) : (
            <>
              <Facts updates={updates} />
              {updates.refusal !== null && <Notice kind="warn">{textFor(`errors.${updates.refusal}`)}</Notice>}
              <LastChange updates={updates} />
              <UpdateJob status={status} />
              <Actions updates={updates} canCancel={status?.canCancel === true} onDone={loaded.reload} />
              <Candidates updates={updates} onDone={loaded.reload} />
            </>
          )
        }
      </Ready>
    </Section>
  );
}

function Facts({ updates: { current, pending, previous, isOnTrial } }: { updates: ServerUpdates }) {
  return (
    <dl class="facts">
      <div>
        <dt>{t('updates.runs')}</dt>
        <dd class="words">
          <span class="long">{current ?? '–'}</span>
          {isOnTrial && <Badge tone="warn">{t('server-updates.trial')}</Badge>}
        </dd>
      </div>
      <div>
        <dt>{t('server-updates.pending')}</dt>
        <dd class="long">{pending ?? '–'}</dd>
      </div>
      <div>
        <dt>{t('server-updates.previous')}</dt>
        <dd class="long">{previous ?? '–'}</dd>
      </div>
    </dl>
  );
}

function LastChange({ updates: { last, current } }: { updates: ServerUpdates }) {
  if (last === null) return null;
  if (last.outcome === 'kept') {
    return (
      <p class="row">
        <Badge tone="good">{t('server-updates.kept')}</Badge>
        <span class="long">{last.target}</span>
        <span class="soft">
          <Time iso={last.at} />
        </span>
      </p>
    );
  }
  return (
    <Notice kind="bad">
      <p>
        {t('server-updates.takenBack', { target: last.target, current: current ?? '?' })} <Time iso={last.at} />
      </p>
      {last.reason !== '' && <p class="soft">{last.reason}</p>}
    </Notice>
  );
}

interface ActionsProps {
  readonly updates: ServerUpdates;
  readonly canCancel: boolean;
  readonly onDone: () => void;
}

function Actions({ updates: { pending }, canCancel, onDone }: ActionsProps) {
  const [act, isBusy] = useAction(async (action: 'check' | 'cancel') => {
    await api.post(`${BASE}/${action}`);
    onDone();
  });
  return (
    <p class="row project-actions">
      <Button icon="restart" busy={isBusy} onClick={() => act('check')}>
        {t('server-updates.check')}
      </Button>
      {(canCancel || pending !== null) && (
        <Button icon="close" busy={isBusy} onClick={() => act('cancel')}>
          {t(canCancel ? 'common.cancel' : 'server-updates.cancel')}
        </Button>
      )}
    </p>
  );
}

function Candidates({ updates, onDone }: { updates: ServerUpdates; onDone: () => void }) {
  const can = useCan();
  const { candidates } = updates;
  if (candidates.length === 0) return <p class="soft">{t('server-updates.none')}</p>;
  const columns: Column<ServerCandidate>[] = [
    { title: t('tools.version'), cell: ({ target }) => <span class="long">{target}</span> },
    { title: t('jobs.state'), cell: (candidate) => <CandidateState candidate={candidate} updates={updates} /> },
  ];
  const actions: Column<ServerCandidate> = {
    ...{ title: t('bundles.actions'), isActions: true },
    cell: (candidate) => <CandidateActions candidate={candidate} updates={updates} onDone={onDone} />,
  };
  return (
    <DataTable
      label={t('server-updates.title')}
      columns={can('users.manage') ? [...columns, actions] : columns}
      rows={candidates}
      keyOf={({ target }) => target}
    />
  );
}

function CandidateState({ candidate: { target, isStaged }, updates }: CandidateProps) {
  if (target === updates.current) return <Badge tone="good">{t('server-updates.is-current')}</Badge>;
  if (target === updates.pending) return <Badge tone="info">{t('server-updates.is-pending')}</Badge>;
  if (isStaged) return <Badge tone="info">{t('server-updates.is-staged')}</Badge>;
  return <Badge tone="idle">{t('server-updates.is-inbox')}</Badge>;
}

interface CandidateProps {
  readonly candidate: ServerCandidate;
  readonly updates: ServerUpdates;
}

function CandidateActions({ candidate, updates, onDone }: CandidateProps & { readonly onDone: () => void }) {
  const { target, isStaged } = candidate;
  const [act, isBusy] = useAction(async (action: 'download' | 'apply', when?: 'now' | 'later') => {
    if (action === 'apply' && !(await isMeant(target, when === 'now'))) return;
    await api.post(`${BASE}/${action}`, when === undefined ? { target } : { target, when });
    onDone();
  });
  if (target === updates.current) return null;
  const mayApply = isStaged && updates.refusal === null && target !== updates.pending;
  return (
    <span class="row-actions">
      {!isStaged && (
        <Button kind="quiet" icon="download" busy={isBusy} onClick={() => act('download')}>
          {t('server-updates.download')}
        </Button>
      )}
      {mayApply && (
        <Button kind="quiet" busy={isBusy} onClick={() => act('apply', 'later')}>
          {t('server-updates.later')}
        </Button>
      )}
      {mayApply && (
        <Button kind="quiet" icon="restart" busy={isBusy} onClick={() => act('apply', 'now')}>
          {t('server-updates.now')}
        </Button>
      )}
    </span>
  );
}

function isMeant(target: string, isNow: boolean): Promise<boolean> {
  return confirmed({
    title: t('server-updates.ask', { target }),
    text: `${t(isNow ? 'server-updates.nowText' : 'server-updates.laterText')} ${t('server-updates.gateText')}`,
    action: t(isNow ? 'server-updates.now' : 'server-updates.later'),
  });
}
