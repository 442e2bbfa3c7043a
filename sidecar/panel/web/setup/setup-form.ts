import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { Backend } from '#panel/shapes/server.ts';
import type { Faults } from '../components/use-faults.ts';
import { api } from '../core/api.ts';
import { confirmationFault, panelNameFault, passwordFault, usernameFault } from '../core/field-checks.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';

/** The setup document, as it is typed. */
export interface SetupValues {
  readonly key: string;
  readonly dashboardName: string;
  readonly username: string;
  readonly password: string;
  readonly confirmation: string;
  readonly locale: string;
  readonly backend: Backend;
  readonly serverRoot: string;
}

/** Server that was chosen at the sidecar's start: then setup makes the account and nothing else. */
export interface Preset {
  readonly backend: Backend;
  readonly serverRoot: string;
}

export interface Installed {
  /** English; what is left for the owner to do. */
  readonly notes?: readonly string[];
}

const POLL_MS = 400;

/** Faults that the page finds without the panel: all at once. */
export function setupFaults(values: SetupValues, preset: Preset | null): Faults<keyof SetupValues> {
  const { key, dashboardName, username, password, confirmation, backend, serverRoot } = values;
  const needsRoot = preset === null && backend !== 'none';
  return {
    key: key.trim() === '' ? t('errors.setup.keyMissing') : null,
    dashboardName: panelNameFault(dashboardName),
    username: usernameFault(username),
    password: passwordFault(password),
    confirmation: confirmationFault(password, confirmation),
    serverRoot: needsRoot && serverRoot.trim() === '' ? t('errors.folder-empty') : null,
  };
}

/** Request of the form, without preset values, and without a folder if there is no server. */
export function documentOf(values: SetupValues, preset: Preset | null): Record<string, unknown> {
  const { backend, serverRoot, ...person } = values;
  const account = { ...person, key: values.key.trim(), username: values.username.trim() };
  if (preset !== null) return account;
  return backend === 'none' ? { ...account, backend } : { ...account, backend, serverRoot: serverRoot.trim() };
}

export async function fetchPreset(key: string): Promise<Preset | null> {
  const { preset } = await api.post<{ preset: Preset | null }>('/api/setup/validate', { key: key.trim() });
  return preset;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Until the folder is ready. @throws PanelFault of the job, where it fails */
async function install(document: Record<string, unknown>, onJob: (job: JobStatus) => void): Promise<Installed | null> {
  let { status } = await api.post<{ status: JobStatus }>('/api/setup/install', document);
  while (status.state === 'queued' || status.state === 'running') {
    onJob(status);
    await pause(POLL_MS);
    ({ status } = await api.post<{ status: JobStatus }>('/api/setup/job', { key: document.key }));
  }
  onJob(status);
  if (status.state !== 'succeeded') throw new PanelFault('setup.failed', 0, { detail: status.message });
  return status.outcome as Installed | null;
}

/** Checked whole first, so that nothing is written for a form that has a mistake. */
export async function runSetup(
  values: SetupValues,
  preset: Preset | null,
  onJob: (job: JobStatus) => void,
): Promise<Installed | null> {
  const document = documentOf(values, preset);
  await api.post('/api/setup/validate', document);
  const needsInstall = preset === null && (values.backend === 'standalone' || values.backend === 'fxserver');
  const installed = needsInstall ? await install(document, onJob) : null;
  await api.post('/api/setup/finish', document);
  return installed;
}

/** The desktop's own dialog, on the panel's machine. Null if it was cancelled, or there is no desktop. */
export async function pickFolder(key: string): Promise<{ state: string; path: string | null }> {
  const body = { key: key.trim() };
  let { status } = await api.post<{ status: { state: string; path: string | null } }>('/api/setup/pick', body);
  while (status.state === 'open') {
    await pause(POLL_MS);
    ({ status } = await api.post<{ status: { state: string; path: string | null } }>('/api/setup/pick-status', body));
  }
  return status;
}
