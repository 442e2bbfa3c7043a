import type { Permission } from '#panel/shapes/permissions.ts';
import type { FactorState } from '#panel/shapes/second-factor.ts';
import { api, fetchSession, listenToSession, type SessionReply } from './api.ts';
import { isLanguage, LANGUAGES, useLanguage, useTexts } from './i18n.ts';
import { createStore, useStore } from './store.ts';

/** Why the sign-in page is shown to somebody who was signed in. */
export type EndReason = 'logout' | 'account' | 'expired' | 'shutdown' | 'setup';

export interface Session {
  readonly phase: 'loading' | 'failed' | 'setup' | 'anonymous' | 'signed-in';
  readonly username: string;
  readonly permissions: ReadonlySet<string>;
  readonly secondFactor: FactorState;
  readonly ended: EndReason | null;
  /** Steps that setup leaves to do by hand; English. */
  readonly notes: readonly string[];
  readonly dashboardName: string;
  readonly version: string;
}

interface Bootstrap {
  readonly setup: boolean;
  readonly dashboardName: string;
  readonly locale: string;
  readonly version: string;
}

export const session = createStore<Session>({
  phase: 'loading',
  username: '',
  permissions: new Set(),
  secondFactor: 'none',
  ended: null,
  notes: [],
  dashboardName: '',
  version: '',
});

/** A language chosen on the sign-in page; the account's own comes with its settings. */
const CHOSEN = 'panel.locale';

export function chooseLanguage(locale: string): Promise<void> {
  localStorage.setItem(CHOSEN, locale);
  return useLanguage(locale);
}

async function enter(reply: SessionReply): Promise<void> {
  if (!reply.authenticated) {
    session.set({ phase: 'anonymous', username: '', permissions: new Set() });
    return;
  }
  // Without the language the page is usable, so a fault here keeps nobody out.
  const settings = await api.get<{ settings: { locale: string } }>('/api/settings').catch(() => null);
  await useTexts('pages');
  if (settings !== null) await useLanguage(settings.settings.locale);
  session.set({
    phase: 'signed-in',
    username: reply.username,
    permissions: new Set(reply.permissions),
    secondFactor: reply.secondFactor,
    ended: null,
  });
}

/** `de-AT` is content with `de`, and `pt` with `pt-BR`. */
function browserLanguage(): string | null {
  const [short = ''] = navigator.language.split('-');
  const known = Object.keys(LANGUAGES);
  return (
    known.find((name) => name === navigator.language) ?? known.find((name) => name.split('-')[0] === short) ?? null
  );
}

export async function boot(): Promise<void> {
  session.set({ phase: 'loading' });
  await bootQuietly();
}

/** As `boot`, without a change of the page until there is an answer. */
export async function bootQuietly(): Promise<void> {
  try {
    const [reply, bootstrap] = await Promise.all([fetchSession(), api.get<Bootstrap>('/api/bootstrap')]);
    const { dashboardName, version } = bootstrap;
    session.set({ dashboardName, version });
    const chosen = localStorage.getItem(CHOSEN);
    // Before setup nobody has chosen one.
    const offered = (bootstrap.setup ? browserLanguage() : null) ?? bootstrap.locale;
    await useLanguage(isLanguage(chosen) ? chosen : offered);
    if (bootstrap.setup) session.set({ phase: 'setup' });
    else await enter(reply);
  } catch {
    await useLanguage(localStorage.getItem(CHOSEN) ?? 'en').catch(() => {});
    session.set({ phase: 'failed' });
  }
}

/** The first account signs in with what was typed; the sign-in page is the way if that fails. */
export async function finishSetup(username: string, password: string, notes: readonly string[]): Promise<void> {
  await boot();
  session.set({ ended: 'setup', notes });
  if (session.get().phase === 'anonymous') await signIn(username, password, false).catch(() => {});
}

export async function signIn(username: string, password: string, remember: boolean): Promise<void> {
  await api.post('/api/login', { username, password, remember });
  await enter(await fetchSession());
}

/** The second step of a sign-in that was refused with a ticket. */
export async function signInWithCode(ticket: string, code: string): Promise<void> {
  await api.post('/api/login/second-factor', { ticket, code });
  await enter(await fetchSession());
}

export async function signOut(): Promise<void> {
  await api.post('/api/logout').catch(() => {});
  await leave('logout');
}

/** Back to the sign-in page; a token for it is fetched, since the old one went with the session. */
export async function leave(reason: EndReason): Promise<void> {
  if (session.get().phase !== 'signed-in') return;
  session.set({ phase: 'anonymous', username: '', permissions: new Set(), ended: reason, notes: [] });
  await fetchSession().catch(() => {});
}

/** Reads the session again: after an outage, or when an event reports other permissions. */
export async function refreshSession(): Promise<void> {
  const reply = await fetchSession();
  if (!reply.authenticated) await leave('expired');
  else takeOver(reply);
}

export function setPermissions(permissions: readonly string[]): void {
  session.set({ permissions: new Set(permissions) });
}

/** Another tab may have signed in as somebody else: then everything shown here is that account's, or nobody's. */
function takeOver(reply: SessionReply): boolean {
  const { phase, username } = session.get();
  if (phase === 'signed-in' && reply.username !== username) {
    location.reload();
    return false;
  }
  if (phase === 'signed-in') {
    setPermissions(reply.permissions);
    session.set({ secondFactor: reply.secondFactor });
  }
  return true;
}

listenToSession({
  renewed: takeOver,
  ended: () => void leave('expired'),
  held: () => session.set({ secondFactor: 'required' }),
});

/** `const can = useCan(); can('server.start')`: follows changes while the page is open. */
export function useCan(): (...needed: Permission[]) => boolean {
  const permissions = useStore(session, (value) => value.permissions);
  return (...needed) => needed.every((permission) => permissions.has(permission));
}
