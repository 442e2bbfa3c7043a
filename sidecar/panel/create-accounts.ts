import { AccountStore } from './accounts/account-store.ts';
import { Accounts } from './accounts/accounts.ts';
import { Login } from './accounts/login.ts';
import { PasswordCheck } from './accounts/password-check.ts';
import { PasswordHasher } from './accounts/password-hasher.ts';
import { Sessions } from './accounts/sessions.ts';
import { SignInTickets } from './accounts/sign-in-tickets.ts';
import { AttemptLimit } from './attempt-limit.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { Reader } from './events/event-stream.ts';
import { SessionReader } from './http/session-reader.ts';
import { TokenReader } from './http/token-reader.ts';
import type { PanelBase } from './panel-base.ts';
import { FactorRule } from './second-factor/factor-rule.ts';
import { SecondFactors } from './second-factor/second-factors.ts';
import type { SecretBox } from './secret-box.ts';
import type { PanelSettings } from './settings/panel-settings.ts';
import type { PanelStore } from './store/panel-store.ts';
import type { StoreTrouble } from './store-trouble.ts';
import { Tokens } from './tokens/tokens.ts';

const LOGIN_ATTEMPTS = 10;

interface AccountParts {
  readonly store: PanelStore;
  readonly trouble: StoreTrouble;
  readonly base: PanelBase;
  readonly audit: AuditLog;
  readonly settings: PanelSettings;
  readonly box: SecretBox;
}

/** Accounts and their ways in: passwords, second factors, sessions, tokens. */
export function createAccounts({ store, trouble, base, audit, settings, box }: AccountParts) {
  const { now, monotonicNow } = base;
  const accountStore = new AccountStore(store);
  const hasher = new PasswordHasher();
  const attempt = (work: () => void) => trouble.attempt(work, undefined);
  const sessions = new Sessions(store, now, attempt);
  const tokens = new Tokens({ store, accounts: accountStore, now, monotonicNow, attempt });
  const issuer = () => settings.values.dashboardName;
  const secondFactors = new SecondFactors({ store, box, now, monotonicNow, issuer });
  const factorRule = new FactorRule({ accounts: accountStore, factors: secondFactors, settings });
  const tickets = new SignInTickets(monotonicNow);
  secondFactors.onChanged(({ accountId }) => tickets.endOfAccount(accountId));
  const accounts = new Accounts({
    ...{ store: accountStore, hasher },
    ...{ waysIn: [sessions, tokens], factors: secondFactors },
  });
  const limit = new AttemptLimit(LOGIN_ATTEMPTS, monotonicNow);
  const login = new Login({
    ...{ store: accountStore, hasher, sessions, limit, tickets, factor: secondFactors },
    onAttempt: (note) => audit.write({ ...note, action: 'login', subject: '' }),
  });
  /** A stream goes on while its session or token does, and its account has the factor that it needs. */
  const isOpen = ({ accountId, sessionId, token }: Pick<Reader, 'accountId' | 'sessionId' | 'token'>) =>
    (token === null ? sessions.isOpen(sessionId ?? 0) : tokens.isOpen(token.id)) && !factorRule.isLacking(accountId);
  return {
    ...{ accounts, hasher, sessions, login, loginLimit: limit, tokens, secondFactors, factorRule, isOpen },
    passwordCheck: new PasswordCheck({ store: accountStore, hasher, limit }),
    sessionReader: new SessionReader(accountStore, sessions),
    tokenReader: new TokenReader(accountStore, tokens),
  };
}
