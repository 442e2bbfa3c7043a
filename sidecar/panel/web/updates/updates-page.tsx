import { useEffect } from 'preact/hooks';
import type { PanelUpdates, PanelUpdatesAnswer, ReleaseOffer, UpdateRecord } from '#panel/shapes/updates.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { FileDrop } from '../components/file-drop.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { FileUpload } from '../core/file-upload.ts';
import { t, textFor } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { type Loaded, useLoaded } from '../core/use-loaded.ts';
import { ConnectorNotice } from './connector-notice.tsx';
import { ServerSection } from './server-section.tsx';
import { UpdateJob } from './update-job.tsx';

/** While a release is put in place, the panel is away for seconds. */
const READ_MS = 2000;

/** Releases of the panel: what runs, what could, and how the last changes ended. */
export function UpdatesPage() {
  const loaded = useLoaded<PanelUpdatesAnswer>('/api/updates');
  const isBusy = loaded.data?.updates.isApplying === true || isUnderWay(loaded.data);
  useEffect(() => onEvent('job', () => loaded.reload()), []);
  useEffect(() => {
    if (!isBusy) return;
    const timer = setInterval(loaded.reload, READ_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  return (
    <PageFrame title={t('updates.title')} width="text">
      <Ready of={loaded}>
        {({ updates, status }) => (
          <>
            <Section title={t('updates.panel')}>
              <Facts updates={updates} />
              {updates.refusal !== null && <Notice kind="warn">{textFor(`errors.${updates.refusal}`)}</Notice>}
              {updates.isApplying && <Notice>{t('updates.applying')}</Notice>}
              <ConnectorNotice key={updates.version} />
              <UpdateJob status={status} />
              {updates.newest === null && updates.staged === null && !isBusy && <p>{t('updates.nothingNewer')}</p>}
              <Actions updates={updates} isBusy={isBusy} loaded={loaded} />
              <Refused updates={updates} />
              <Upload onDone={loaded.reload} />
              <h3 class="below above">{t('updates.history')}</h3>
              <History records={updates.history} />
            </Section>
          </>
        )}
      </Ready>
      <ServerSection />
    </PageFrame>
  );
}

function isUnderWay(answer: PanelUpdatesAnswer | null): boolean {
  const state = answer?.status?.state;
  return state === 'queued' || state === 'running';
}

function Facts({ updates: { version, channel, checkedAt, newest, staged } }: { updates: PanelUpdates }) {
  return (
    <dl class="facts">
      <div>
        <dt>{t('updates.runs')}</dt>
        <dd>{version}</dd>
      </div>
      <div>
        <dt>{t('updates.channel')}</dt>
        <dd>{channel}</dd>
      </div>
      <div>
        <dt>{t('updates.checked')}</dt>
        <dd>{checkedAt === null ? '–' : <Time iso={checkedAt} />}</dd>
      </div>
      <Offer title={t('updates.newest')} offer={newest} />
      <Offer title={t('updates.staged')} offer={staged} />
    </dl>
  );
}

function Offer({ title, offer }: { title: string; offer: ReleaseOffer | null }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="words">
        {offer === null ? '–' : `${offer.version} · ${offer.date}`}
        {offer !== null && !offer.isSigned && <Badge tone="warn">{t('updates.unsigned')}</Badge>}
        {offer !== null && offer.raises.length > 0 && <Badge tone="warn">{t('updates.raises')}</Badge>}
      </dd>
      {offer?.fault && <dd class="soft">{offer.fault}</dd>}
    </div>
  );
}

const upload = new FileUpload<{ readonly release: ReleaseOffer }>('/api/updates/upload');

/** A release from this browser; it lies in the inbox afterwards. */
function Upload({ onDone }: { onDone: () => void }) {
  const can = useCan();
  const release = useStore(upload.store, ({ answer }) => answer?.release ?? null);
  useEffect(() => {
    if (release === null) return;
    tellDone(t('updates.uploaded', { version: release.version }));
    upload.cancel();
    onDone();
  }, [release]);
  if (!can('users.manage')) return null;
  return <FileDrop label={t('updates.upload')} hint={t('updates.uploadHint')} accept=".zip" upload={upload} />;
}

interface ActionsProps {
  readonly updates: PanelUpdates;
  readonly isBusy: boolean;
  readonly loaded: Loaded<PanelUpdatesAnswer>;
}

function Actions({ updates: { newest, staged, previous, refusal }, isBusy, loaded }: ActionsProps) {
  const can = useCan();
  const [act, isSending] = useAction(async (action: 'check' | 'download' | 'cancel' | 'apply' | 'rollback') => {
    const version = action === 'apply' ? staged?.version : previous;
    const isChange = action === 'apply' || action === 'rollback';
    if (isChange && !(await isMeant(version ?? '', staged, action))) return;
    const target = action === 'download' ? newest?.version : action === 'apply' ? staged?.version : undefined;
    await api.post(`/api/updates/${action}`, target === undefined ? {} : { target });
    loaded.reload();
  });
  const mayChange = can('users.manage') && refusal === null;
  // From its acceptance on, an update refuses each POST: that of a cancel too.
  const mayCancel = isBusy && loaded.data?.status?.canCancel === true && !loaded.data.updates.isApplying;
  return (
    <p class="row project-actions">
      <Button icon="restart" busy={isSending} disabled={isBusy} onClick={() => act('check')}>
        {t('updates.check')}
      </Button>
      {can('users.manage') && newest !== null && newest.version !== staged?.version && (
        <Button
          icon="download"
          busy={isSending}
          disabled={isBusy || newest.fault !== null}
          onClick={() => act('download')}
        >
          {t('updates.verify', { version: newest.version })}
        </Button>
      )}
      {mayChange && staged !== null && (
        <Button kind="primary" busy={isSending} disabled={isBusy || staged.fault !== null} onClick={() => act('apply')}>
          {t('updates.apply', { version: staged.version })}
        </Button>
      )}
      {mayChange && previous !== null && (
        <Button icon="undo" busy={isSending} disabled={isBusy} onClick={() => act('rollback')}>
          {t('updates.back', { version: previous })}
        </Button>
      )}
      {mayCancel && (
        <Button icon="close" busy={isSending} onClick={() => act('cancel')}>
          {t('common.cancel')}
        </Button>
      )}
    </p>
  );
}

function isMeant(version: string, staged: ReleaseOffer | null, action: 'apply' | 'rollback'): Promise<boolean> {
  const isRaising = action === 'apply' && (staged?.raises.length ?? 0) > 0;
  return confirmed({
    title: t(action === 'apply' ? 'updates.askApply' : 'updates.askBack', { version }),
    text: `${t('updates.applyText')}${isRaising ? ` ${t('updates.raisesText')}` : ''}`,
    action: t(action === 'apply' ? 'updates.apply' : 'updates.back', { version }),
  });
}

function Refused({ updates: { refused } }: { updates: PanelUpdates }) {
  if (refused.length === 0) return null;
  return (
    <ul class="plain-list">
      {refused.map(({ file, error, detail }) => (
        <li key={file}>
          <Notice kind="warn">
            <p>
              {file}: {textFor(`errors.${error}`) ?? error}
            </p>
            {detail !== '' && <p class="soft">{detail}</p>}
          </Notice>
        </li>
      ))}
    </ul>
  );
}

function History({ records }: { records: readonly UpdateRecord[] }) {
  if (records.length === 0) return <p class="soft">{t('updates.noHistory')}</p>;
  return (
    <ul class="plain-list">
      {records.map(({ id, at, from, to, outcome, reason, lines }) => (
        <li key={id}>
          <p class="row">
            <Badge tone={outcome === 'committed' ? 'good' : 'bad'}>{t(`updates.was-${outcome}`)}</Badge>
            <span>
              {from} → {to}
            </span>
            <span class="soft">
              <Time iso={at} />
            </span>
          </p>
          {reason !== '' && <p>{reason}</p>}
          {lines.length > 0 && <pre class="job-log">{lines.join('\n')}</pre>}
        </li>
      ))}
    </ul>
  );
}
