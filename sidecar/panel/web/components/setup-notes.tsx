import { t } from '../core/i18n.ts';
import { session } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { IconButton } from './button.tsx';

/** Steps that setup leaves to do by hand, until the reader closes them. */
export function SetupNotes() {
  const notes = useStore(session, (value) => value.notes);
  if (notes.length === 0) return null;
  return (
    <div class="notice warn">
      <div>
        <p>{t('sign-in.notes')}</p>
        <ul class="gate-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </div>
      <IconButton icon="close" label={t('common.close')} onClick={() => session.set({ notes: [] })} />
    </div>
  );
}
