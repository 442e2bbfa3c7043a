import { readPassword, readUsername } from '../accounts/credentials.ts';
import { type ErrorDetails, PanelError } from '../panel-error.ts';
import type { SettingValues } from '../settings/panel-settings.ts';
import { folderDetails, readServerRoot } from '../settings/server-root.ts';
import { readDashboardName } from '../settings/settings-document.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import { isLocale, type Locale } from '../shapes/locales.ts';
import { BACKENDS, type Backend } from '../shapes/server.ts';

/** The setup document (panel specification) but for its key, in its order. */
export const SETUP_FIELDS = [
  'dashboardName',
  'username',
  'password',
  'confirmation',
  'locale',
  'serverRoot',
  'backend',
] as const;

export type SetupField = (typeof SETUP_FIELDS)[number];
/** Not validated. */
export type SetupDocument = { readonly [Field in SetupField]?: unknown };

/** Validated fields. */
export interface SetupChoice {
  readonly dashboardName?: string;
  readonly username?: string;
  readonly password?: string;
  readonly locale?: Locale;
  readonly serverRoot?: string;
  readonly backend?: Backend;
}

/**
 * Validates the given fields, and that all of `required` are given, in the order of the document.
 *
 * @param reserved folders of the sidecar
 * @throws PanelError `setup.<field>` for the first invalid field
 */
export function readSetupFields(
  document: SetupDocument,
  required: readonly SetupField[],
  reserved: readonly string[],
): SetupChoice {
  const choice: Record<string, unknown> = {};
  for (const field of SETUP_FIELDS) {
    if (document[field] === undefined && !required.includes(field)) continue;
    choice[field] = READERS[field](document[field], document, reserved);
  }
  delete choice.confirmation;
  return choice;
}

type Reader = (given: unknown, document: SetupDocument, reserved: readonly string[]) => unknown;

const READERS: Readonly<Record<SetupField, Reader>> = {
  dashboardName: (given) => readDashboardName(given) ?? refuse('dashboardName'),
  username: (given) => readText('username', given, readUsername),
  password: (given) => readText('password', given, readPassword),
  confirmation: (given, { password }) => {
    if (typeof given !== 'string' || (password !== undefined && given !== password)) refuse('confirmation');
  },
  locale: (given) => (isLocale(given) ? given : refuse('locale')),
  serverRoot: (given, { backend }, reserved) => {
    const root = readServerRoot(given, isBackend(backend) ? backend : null, reserved);
    return 'path' in root ? root.path : refuse('serverRoot', folderDetails(root));
  },
  backend: (given) => (isBackend(given) ? given : refuse('backend')),
};

/** Applies a rule of accounts; its refusal names the field of the setup. */
function readText(field: SetupField, given: unknown, read: (text: string) => string): string {
  if (typeof given !== 'string') return refuse(field);
  try {
    return read(given);
  } catch (error) {
    if (error instanceof PanelError) return refuse(field);
    throw error;
  }
}

function isBackend(given: unknown): given is Backend {
  return (BACKENDS as readonly unknown[]).includes(given);
}

function refuse(field: SetupField, details: ErrorDetails = {}): never {
  const key: ErrorKey = `setup.${field}`;
  throw new PanelError(key, { field, ...details });
}

/** Server that the start of the sidecar has chosen, as `npm start` does: setup then only creates the account. */
export type ServerPreset = Pick<SettingValues, 'backend' | 'serverRoot'>;

/** Required fields of the server: those that are not preset, and the folder only if the panel runs a server. */
export function neededServerFields(
  { backend }: SetupDocument,
  preset: ServerPreset | null,
): ('backend' | 'serverRoot')[] {
  if (preset !== null && backend === undefined) return [];
  return backend === 'none' ? ['backend'] : ['serverRoot', 'backend'];
}

export function withPreset(choice: SetupChoice, preset: ServerPreset | null): SetupChoice & ServerPreset {
  const { backend = preset?.backend ?? 'none' } = choice;
  const { serverRoot = backend === preset?.backend ? preset.serverRoot : '' } = choice;
  return { ...choice, backend, serverRoot };
}

export function isPreset({ backend, serverRoot }: ServerPreset, preset: ServerPreset | null): boolean {
  return preset !== null && serverKey(backend, serverRoot) === serverKey(preset.backend, preset.serverRoot);
}

/** Key of a kind of server in a folder. */
export function serverKey(backend: Backend, serverRoot: string): string {
  return `${backend}\n${serverRoot}`;
}
