import type { EditedFiles } from '#panel/shapes/installs.ts';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** Files of a bundle that were edited on the server, and those that installs carry over. */
export function EditedSection({ name }: { name: string }) {
  const loaded = useLoaded<{ edited: EditedFiles }>('/api/bundles/edited', { name });
  return (
    <Section title={t('tools.edited')}>
      <Ready of={loaded}>{({ edited }) => <Edited edited={edited} />}</Ready>
    </Section>
  );
}

function Edited({ edited: { isManaged, files, more, kept } }: { edited: EditedFiles }) {
  if (!isManaged) return <p class="soft">{t('tools.editedUnmanaged')}</p>;
  return (
    <>
      {files.length === 0 ? (
        <p class="soft">{t('tools.editedNone')}</p>
      ) : (
        <>
          <p class="lead">{t('tools.editedHint')}</p>
          <FileList files={more ? [...files, '…'] : files} label={t('tools.edited')} />
        </>
      )}
      {kept.length > 0 && (
        <>
          <p class="lead">{t('tools.editedKept')}</p>
          <FileList files={kept} label={t('tools.editedKept')} />
        </>
      )}
    </>
  );
}

function FileList({ files, label }: { files: readonly string[]; label: string }) {
  return (
    <ul class="plain-list long" aria-label={label}>
      {files.map((file) => (
        <li key={file}>
          <code>{file}</code>
        </li>
      ))}
    </ul>
  );
}
