import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Accounts } from '../accounts/accounts.ts';
import { AUTHENTICATED, type Caller, callerOf, forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { FactorRule } from '../second-factor/factor-rule.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ServerConfig } from '../settings/server-config.ts';
import type { ServerPath } from '../settings/server-path.ts';
import { readSettings, showSettings } from '../settings/settings-document.ts';
import type { AuditChange } from '../shapes/accounts.ts';

export interface SettingsServices {
  readonly settings: PanelSettings;
  readonly accounts: Accounts;
  readonly factorRule: FactorRule;
  readonly serverConfig: ServerConfig;
  readonly serverPath: ServerPath;
}

/** Each setting is judged by its own error, unknown ones too. */
const anySettings = z.record(z.string(), z.unknown());
const configChanges = z.strictObject({ config: z.unknown().optional(), file: z.unknown().optional() });
const path = z.strictObject({ serverRoot: z.unknown().optional(), backend: z.unknown().optional() });

/** Settings of the panel and of the game server. */
export function settingsRoutes(services: SettingsServices): PanelRoute[] {
  return [...ownSettings(services), ...serverSettings(services)];
}

function ownSettings({ settings, accounts, factorRule }: SettingsServices): PanelRoute[] {
  const localeOf = (caller: Caller) => accounts.byId(caller.accountId)?.locale ?? null;
  return [
    route({
      ...{ method: 'GET', path: '/api/settings', access: AUTHENTICATED, withoutFactor: true },
      handle: (request) => {
        const caller = callerOf(request);
        const shown = showSettings(settings.values, localeOf(caller));
        return { settings: factorRule.isLacking(caller.accountId) ? { locale: shown.locale } : shown };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/settings', access: AUTHENTICATED, withoutFactor: true },
      ...{ body: anySettings, audit: 'settings' },
      handle: (request) => {
        const caller = callerOf(request);
        const names = Object.keys(request.body);
        request.subject(listOf(names));
        const isOwnOnly = names.every((name) => name === 'locale');
        if (!isOwnOnly && factorRule.isLacking(caller.accountId)) throw new PanelError('secondFactor.required');
        if (!isOwnOnly && !caller.permissions.has('settings.write')) throw new PanelError('permission.missing');
        const { locale, ...changes } = readSettings(request.body);
        const isChanged = (name: keyof typeof changes) =>
          changes[name] !== undefined && !isDeepStrictEqual(changes[name], settings.values[name]);
        // They are typed on the console.
        const isTyped = isChanged('hangCommand') || isChanged('warnLine');
        if (isTyped && !caller.permissions.has('console.write')) throw new PanelError('permission.missing');
        // A server that counts as frozen after a second is restarted again and again.
        const isRestarting = isChanged('restartHungServer') || isChanged('hangSeconds');
        if (isRestarting && !caller.permissions.has('server.restart')) throw new PanelError('permission.missing');
        // It decides how accounts get in.
        const isAsking = changes.secondFactorFor !== undefined;
        if (isAsking && !caller.permissions.has('users.manage')) throw new PanelError('permission.missing');
        // Bundles run as the sidecar's user.
        const turnsToolsOn = isChanged('bundleTools') && changes.bundleTools === true;
        if (turnsToolsOn && !caller.permissions.has('users.manage')) throw new PanelError('permission.missing');
        if (locale !== undefined) accounts.setLocale(caller.accountId, locale);
        request.changes(changesOf(changes, settings.values));
        if (Object.keys(changes).length > 0) settings.update(changes);
        return {};
      },
    }),
  ];
}

function serverSettings({ serverConfig, serverPath }: SettingsServices): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: '/api/server-name', access: forTokens(AUTHENTICATED) },
      handle: () => ({ name: serverConfig.serverName }),
    }),
    route({
      ...{ method: 'GET', path: '/api/server-config', access: needs('settings.write') },
      handle: () => ({ ...serverConfig.view() }),
    }),
    route({
      ...{ method: 'POST', path: '/api/server-config', access: needs('settings.write') },
      ...{ body: configChanges, audit: 'server-config' },
      handle: (request) => {
        request.subject(listOf(serverConfig.save(request.body, callerOf(request))));
        return {};
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/server-config/undo', access: needs('settings.write') },
      audit: 'server-config.undo',
      handle: (request) => {
        request.subject(listOf(serverConfig.undo(callerOf(request))));
        return {};
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/server-path', access: needs('settings.write', 'users.manage') },
      ...{ body: path, audit: 'server-path' },
      handle: (request) => {
        request.subject(serverPath.change(request.body));
        return {};
      },
    }),
  ];
}

/** Values before and after. A command may hold a password, so it has none. */
function changesOf(changes: Readonly<Record<string, unknown>>, values: object): AuditChange[] {
  const before = values as Readonly<Record<string, unknown>>;
  return Object.entries(changes)
    .filter(([name, after]) => name !== 'hangCommand' && !isDeepStrictEqual(before[name], after))
    .map(([name, after]) => ({ name, before: JSON.stringify(before[name] ?? null), after: JSON.stringify(after) }));
}

/** Names of fields for the audit log: never their values. */
function listOf(names: readonly string[]): string {
  return names.join(', ').slice(0, 200);
}
