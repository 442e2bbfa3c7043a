import { join } from 'node:path';
import type { Bundles } from '../bundles/bundles.ts';
import { needs } from '../http/route.ts';
import type { Installs } from '../installs/installs.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { UploadStore } from './upload-store.ts';
import { type UploadInstall, Uploads } from './uploads.ts';

export interface UploadsParts {
  readonly store: PanelStore;
  readonly installs: Installs;
  readonly bundles: Bundles;
  readonly jobs: Jobs;
  /** `data/bundle-tools` */
  readonly folder: string;
  readonly now: () => number;
}

/** Job of `POST /api/bundle-tools/upload/install`. */
export const UPLOAD_INSTALL = 'bundles.upload';

export function createUploads({ store, installs, bundles, jobs, folder, now }: UploadsParts): Uploads {
  const uploads = new Uploads({
    ...{ installs, bundles, now, places: installs.places },
    store: new UploadStore(store),
    folder: join(folder, 'uploads'),
  });
  jobs.define<UploadInstall>({
    ...{ kind: UPLOAD_INSTALL, lane: 'switch', access: needs('bundles.upload') },
    subjects: ({ bundles: chosen }) => chosen.map(({ name }) => `bundle:${name}`),
    run: async (job) => ({ ...(await uploads.install(job)) }),
    resume: async (job) => ({ ...(await installs.resume(job)) }),
  });
  return uploads;
}
