import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import { Button } from '../components/button.tsx';
import { Checkbox } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { type Apply, ApplyField } from './apply-field.tsx';
import { BundleChoice } from './bundle-choice.tsx';
import { type BundleDraft, installBody, startDrafts } from './install-draft.ts';

interface DryRunProps {
  readonly upload: Upload;
  /** The install has begun, as this job. */
  readonly onStart: (job: string) => void;
  readonly onForget: () => void;
}

/** Effect of an install, bundle by bundle, and the one button that does it. The server's folder is untouched until then. */
export function DryRun({ upload, onStart, onForget }: DryRunProps) {
  const hasCategories = useStore(live, ({ status }) => status?.backend === 'fxserver');
  const [drafts, setDrafts] = useState<readonly BundleDraft[]>(() => startDrafts(upload));
  const [apply, setApply] = useState<Apply>('now');
  const [overwrite, setOverwrite] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [install, isBusy] = useAction(async () => {
    setError(null);
    try {
      const body = installBody(upload, drafts, { apply, overwrite });
      const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/upload/install', body);
      onStart(status.id);
    } catch (fault) {
      setError(fault);
    }
  });
  const change = (from: string, changes: Partial<BundleDraft>) =>
    setDrafts((before) => before.map((draft) => (draft.from === from ? { ...draft, ...changes } : draft)));
  const chosen = drafts.filter(({ isChosen }) => isChosen).length;
  return (
    <Section title={t('install.dryRun')}>
      <p class="soft lead">
        {t('install.untouched')} {t('install.expires')} <Time iso={upload.expiresAt} />.
        {upload.ignored > 0 && ` ${t('install.ignored', { count: upload.ignored })}`}
      </p>
      <ul class="plain-list">
        {upload.bundles.map((bundle) => {
          const draft = drafts.find(({ from }) => from === bundle.from);
          return draft === undefined ? null : (
            <BundleChoice
              key={bundle.from}
              bundle={bundle}
              draft={draft}
              hasCategories={hasCategories}
              onChange={(changes) => change(bundle.from, changes)}
            />
          );
        })}
      </ul>
      <div class="form">
        <ApplyField value={apply} onChange={setApply} />
        <Checkbox
          label={t('install.overwriteAll')}
          hint={t('install.overwriteAllHint')}
          checked={overwrite}
          onChange={setOverwrite}
        />
        {error !== null && <Fault error={error} />}
        <div class="form-actions">
          <Button kind="primary" busy={isBusy} disabled={chosen === 0} onClick={() => install()}>
            {t('install.install', { count: chosen })}
          </Button>
          <Button icon="close" onClick={onForget}>
            {t('install.other')}
          </Button>
        </div>
      </div>
    </Section>
  );
}
