import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SidecarConfig } from '../config/load-config.ts';
import { privateFinding } from './doctor-files.ts';
import type { Finding } from './doctor-finding.ts';
import { answersJson, listenError } from './doctor-port.ts';

const what = 'panel';

/** Whether the panel can listen, who can read its accounts, and whether somebody still has to set it up. */
export async function* panelFindings(config: SidecarConfig): AsyncGenerator<Finding> {
  const { panel } = config;
  if (!panel.enabled) {
    yield { verdict: 'ok', what, found: 'switched off (panel.enabled)' };
    return;
  }
  yield await panelPortFinding(panel);
  if (existsSync(panel.data)) yield* privateFinding(panel.data);
  const key = join(config.folder, 'secrets/panel-setup.key');
  if (existsSync(key)) {
    yield {
      verdict: 'warn',
      what,
      found: 'nobody has set it up yet',
      advice: `open it in a browser on this machine; the setup key is in ${key}`,
    };
  }
}

async function panelPortFinding({ host, port }: SidecarConfig['panel']): Promise<Finding> {
  const place = `${host}:${port}`;
  if (port === 0) return { verdict: 'ok', what, found: `${host}, any free port` };
  const code = await listenError(host, port);
  if (code === null) return { verdict: 'ok', what, found: `${place} is free: no panel runs there` };
  if (code !== 'EADDRINUSE') {
    const found = `${place} cannot be listened on: ${code}`;
    return { verdict: 'fail', what, found, advice: 'change panel.host or panel.port' };
  }
  if (await answersJson({ host, port, tls: null }, '/api/bootstrap')) {
    return { verdict: 'ok', what, found: `a panel answers at ${place}` };
  }
  const found = `another program listens on ${place}`;
  return { verdict: 'fail', what, found, advice: 'stop it, or change panel.port' };
}
