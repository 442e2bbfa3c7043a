import { t, textFor } from '../core/i18n.ts';

/** `database.row` → "Change a row". An action without words of its own is a permission, such as `server.start`. */
export function actionWords(action: string): string {
  return textFor(`accounts.did-${action}`) ?? textFor(`permissions.${action}`) ?? action;
}

const SAVED: Readonly<Record<string, () => string>> = {
  '(new)': () => t('accounts.save-new'),
  '(password)': () => t('accounts.save-password'),
  '(enabled)': () => t('accounts.enabled'),
  '(disabled)': () => t('accounts.disabled'),
};

/** Changes of a saved account, permissions by their names: `anna (password) +logs.read` → "anna: new password, + Read logs". */
export function subjectWords(action: string, subject: string): string {
  if (action !== 'users.save') return subject;
  const [name = '', ...changes] = subject.split(' ');
  if (changes.length === 0) return name;
  const words = changes.map((change) => {
    const permission = textFor(`permissions.${change.slice(1)}`);
    return SAVED[change]?.() ?? (permission === null ? change : `${change[0] === '-' ? '−' : '+'} ${permission}`);
  });
  return `${name}: ${words.join(', ')}`;
}

export function resultWords(result: string): string {
  return result === 'ok' ? t('accounts.done') : (textFor(`errors.${result}`) ?? result);
}
