import { readTls } from './api/tls.ts';
import { identitiesOf } from './backup/remote/identity.ts';
import { readS3Keys } from './backup/remote/open-remote.ts';
import { encrypterTo } from './backup/remote/sealed.ts';
import { namingFileLater } from './config/config-error.ts';
import type { SidecarConfig } from './config/load-config.ts';
import { readAuthorities } from './panel/panel-authorities.ts';

/** Files and keys that the configuration names must be good, but for secrets, which a start makes. @throws ConfigError */
export async function checkFiles(config: SidecarConfig, environment: NodeJS.ProcessEnv): Promise<void> {
  const { api, panel, backup, file } = config;
  readTls(api.tls, file);
  if (panel.enabled) readAuthorities(config);
  if (backup.remote?.type === 's3') readS3Keys(backup.remote, file, environment);
  await identitiesOf(null, config);
  await namingFileLater(file, () => encrypterTo(backup.encryptTo));
}
