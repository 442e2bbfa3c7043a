import { Button, IconButton } from '../components/button.tsx';
import { Moment } from '../components/time.tsx';
import { tellDone, tellTrouble } from '../components/toast.tsx';
import { t } from '../core/i18n.ts';
import type { Entry } from './entry.ts';

interface LineDetailProps {
  readonly entry: Entry;
  readonly link: string;
  readonly onClose: () => void;
}

/** The line that somebody picked: all of its text, its number, and its address for others. */
export function LineDetail({ entry, link, onClose }: LineDetailProps) {
  const address = new URL(link, location.href).href;
  return (
    <section class="line-detail" aria-label={t('console.line', { seq: String(entry.seq) })}>
      <header>
        <strong>{t('console.line', { seq: String(entry.seq) })}</strong>
        <span>{t(`console.stream-${entry.stream}`)}</span>
        <Moment iso={entry.time} />
        <div class="line-detail-actions">
          <Button kind="quiet" icon="link" onClick={() => void copyText(address)}>
            {t('console.copyLink')}
          </Button>
          <Button kind="quiet" onClick={() => void copyText(entry.plain)}>
            {t('console.copyText')}
          </Button>
          <IconButton icon="close" label={t('common.close')} onClick={onClose} />
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, and must be reached with the keyboard */}
      <p class="line-whole" tabIndex={0}>
        {entry.plain}
      </p>
    </section>
  );
}

/** Browsers have a clipboard only for pages of https and of this machine; elsewhere the old way may still do. */
async function copyText(text: string): Promise<void> {
  if (await copied(text)) tellDone(t('console.copied'));
  else tellTrouble(t('console.copyFailed'));
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}
