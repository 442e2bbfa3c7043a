import { useMemo } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Fault, Loading, Notice, Ready } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { usePlace } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { CommandForm } from './command-form.tsx';
import { LineBuffer } from './line-buffer.ts';
import { consoleLink, seqOf } from './line-link.ts';
import { LinesPanel } from './lines-panel.tsx';
import { type LinesReply, type LiveLines, useLiveLines } from './use-live-lines.ts';

export function ConsolePage() {
  const lines = useLiveLines();
  const { query } = usePlace();
  const target = seqOf(query.get('line'));
  // Decided when the address changes: a line that falls out while somebody looks at it does not take the page away.
  const isElsewhere = useMemo(() => target !== null && !hasLine(lines, target), [target, lines.isLoading]);
  return (
    <PageFrame title={t('console.title')}>
      <div class="console">
        {lines.error !== null && <Fault error={lines.error} onRetry={lines.reload} />}
        {lines.isLoading ? (
          <Loading />
        ) : isElsewhere && target !== null ? (
          <ConsoleHistory seq={target} />
        ) : (
          <LinesPanel
            buffer={lines.buffer}
            version={lines.version}
            label={t('console.output')}
            linkOf={consoleLink}
            target={target}
            isLive
            empty={t('console.empty')}
            before={<Older lines={lines} />}
          />
        )}
        <CommandForm />
      </div>
    </PageFrame>
  );
}

function hasLine({ buffer: { entries } }: LiveLines, seq: number): boolean {
  return entries.at(entries.search((entry) => entry.seq >= seq))?.seq === seq;
}

function Older({ lines }: { lines: LiveLines }) {
  const [load, isBusy] = useAction(async () => {
    await lines.loadOlder?.();
    // The button goes away now, and the focus must not go with it.
    document.querySelector<HTMLElement>('.lines')?.focus({ preventScroll: true });
  });
  if (lines.loadOlder === null) return null;
  return (
    <div class="lines-older">
      <Button kind="quiet" busy={isBusy} onClick={load}>
        {t('console.older')}
      </Button>
    </div>
  );
}

/** Around a line that the live console does not have. */
function ConsoleHistory({ seq }: { seq: number }) {
  const loaded = useLoaded<LinesReply>('/api/console', { around: seq, limit: 2_000 });
  const isGone = loaded.error instanceof PanelFault && loaded.error.key === 'logs.unknown';
  const text = isGone ? t('console.lineGone', { seq: String(seq) }) : t('console.history', { seq: String(seq) });
  return (
    <>
      <Notice
        kind={isGone ? 'warn' : 'info'}
        icon={isGone ? 'warning' : 'logs'}
        action={<a href="#/console">{t('console.backToLive')}</a>}
      >
        {text}
      </Notice>
      {!isGone && <Ready of={loaded}>{(reply) => <HistoryLines reply={reply} seq={seq} />}</Ready>}
    </>
  );
}

function HistoryLines({ reply, seq }: { reply: LinesReply; seq: number }) {
  const buffer = useMemo(() => {
    const made = new LineBuffer();
    made.add(reply.lines);
    return made;
  }, [reply]);
  return (
    <LinesPanel
      buffer={buffer}
      version={0}
      label={t('console.output')}
      linkOf={consoleLink}
      target={seq}
      isLive={false}
      empty={t('console.lineGone', { seq: String(seq) })}
    />
  );
}
