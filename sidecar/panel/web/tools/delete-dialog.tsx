import { useEffect, useState } from 'preact/hooks';
import type { DeleteInfo } from '#panel/shapes/bundles.ts';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { Checkbox } from '../components/field.tsx';
import { Fault, Loading, Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { bytes } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { NameDialog } from './name-dialog.tsx';

interface Preview {
  readonly info: DeleteInfo | null;
  readonly error: unknown;
}

/** Shows what would go, and asks for the name. What has changed since is shown again in place of being deleted. */
export function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [{ info, error }, setPreview] = useState<Preview>({ info: null, error: null });
  const [data, setData] = useState(false);
  const [source, setSource] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const look = async (fault: unknown) => {
    try {
      const answer = await api.post<{ info: DeleteInfo }>('/api/bundles/delete-info', { name });
      setPreview({ info: answer.info, error: fault });
    } catch (refusal) {
      setPreview({ info: null, error: refusal });
    }
  };
  useEffect(() => void look(null), [name]);
  const remove = async (confirm: string) => {
    if (info === null || isBusy) return;
    setBusy(true);
    try {
      const body = { name, confirm, hash: info.hash, data, source };
      const { status } = await api.post<{ status: JobStatus }>('/api/bundles/delete', body);
      location.hash = linkTo('tools', ['jobs', status.id]);
    } catch (refusal) {
      await look(refusal);
      setBusy(false);
    }
  };
  return (
    <NameDialog
      name={name}
      action={t('tools.delete')}
      isReady={info !== null}
      isBusy={isBusy}
      onRemove={(confirm) => void remove(confirm)}
      onClose={onClose}
    >
      {error !== null && <Fault error={error} />}
      {info === null && error === null && <Loading />}
      {info !== null && (
        <>
          <Facts info={info} />
          <Choices info={info} data={data} source={source} onData={setData} onSource={setSource} />
        </>
      )}
    </NameDialog>
  );
}

function Facts({ info: { files, bytes: size, dependents, undoUntil } }: { info: DeleteInfo }) {
  return (
    <>
      {dependents.length > 0 && <Notice kind="warn">{t('bundles.alsoStops', { names: dependents.join(', ') })}</Notice>}
      <p>
        {t('tools.files', { count: files })}, {bytes(size)}. {t('tools.undoUntil')} <Time iso={undoUntil} isAbsolute />.
      </p>
    </>
  );
}

interface ChoicesProps {
  readonly info: DeleteInfo;
  readonly data: boolean;
  readonly source: boolean;
  readonly onData: (chosen: boolean) => void;
  readonly onSource: (chosen: boolean) => void;
}

/** Further things that can go; off until they are chosen. */
function Choices({ info, data, source, onData, onSource }: ChoicesProps) {
  const can = useCan();
  return (
    <>
      {info.data !== null && (
        <Checkbox
          label={t('tools.deleteData')}
          hint={info.data.tables.map((table) => table.name).join(', ')}
          checked={data}
          disabled={!can('database.write')}
          onChange={onData}
        />
      )}
      {info.source !== null && (
        <Checkbox
          label={t('tools.deleteSource')}
          hint={info.source}
          checked={source}
          disabled={!can('bundles.sources.delete')}
          onChange={onSource}
        />
      )}
    </>
  );
}
