import type { ServerConfigView } from '#panel/shapes/settings.ts';
import { Button } from '../components/button.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t, textFor } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { FileForm } from './file-form.tsx';
import { LinesForm } from './lines-form.tsx';

/** How the server is run, and its own file. Every save can be taken back with one click. */
export function ConfigView() {
  const loaded = useLoaded<ServerConfigView>('/api/server-config');
  const backend = useStore(live, (value) => value.status?.backend);
  if (backend === undefined) return null;
  if (backend === 'none') return <Notice>{t('settings.elsewhere')}</Notice>;
  return (
    <Ready of={loaded}>
      {(view) => (
        <>
          {view.undo !== null && <Undo undo={view.undo} onDone={loaded.reload} />}
          <LinesForm config={view.config} backend={backend} onSaved={loaded.reload} />
          {view.file !== null && <FileForm file={view.file} onSaved={loaded.reload} />}
          {view.fileProblem !== null && (
            <Notice kind="warn">{t(`settings.file-${view.fileProblem}`, { name: 'server.cfg' })}</Notice>
          )}
        </>
      )}
    </Ready>
  );
}

function Undo({ undo, onDone }: { undo: NonNullable<ServerConfigView['undo']>; onDone: () => void }) {
  const [takeBack, isBusy] = useAction(async () => {
    await api.post('/api/server-config/undo');
    tellDone(t('settings.undone'));
    onDone();
  });
  const fields = undo.fields.map((name) => textFor(`settings.${name}`) ?? name).join(', ');
  return (
    <Notice
      icon="undo"
      action={
        <Button icon="undo" busy={isBusy} onClick={takeBack}>
          {t('settings.undo')}
        </Button>
      }
    >
      {t('settings.lastSave', { name: undo.username, fields })} <Time iso={undo.savedAt} />
    </Notice>
  );
}
