import { useMemo } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { PageFrame } from '../components/page-frame.tsx';
import { Fault, Loading } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { usePlace } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { CommandForm } from './command-form.tsx';
import { ConsoleHistory } from './console-history.tsx';
import { consoleLink, seqOf } from './line-link.ts';
import { LinesPanel } from './lines-panel.tsx';
import { type LiveLines, useLiveLines } from './use-live-lines.ts';

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
