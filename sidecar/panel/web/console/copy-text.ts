import { tellDone, tellTrouble } from '../components/toast.tsx';
import { t } from '../core/i18n.ts';

/** Browsers have a clipboard only for pages of https and of this machine; elsewhere the old way may still do. */
export async function copyText(text: string): Promise<void> {
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
