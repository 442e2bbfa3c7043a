import { useMemo } from 'preact/hooks';
import { Notice, Ready } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { LineBuffer } from './line-buffer.ts';
import { consoleLink } from './line-link.ts';
import { LinesPanel } from './lines-panel.tsx';
import type { LinesReply } from './use-live-lines.ts';

/** Around a line that the live console does not have. */
export function ConsoleHistory({ seq }: { seq: number }) {
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
