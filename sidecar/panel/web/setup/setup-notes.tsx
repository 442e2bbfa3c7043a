import { Button } from '../components/button.tsx';
import { t } from '../core/i18n.ts';
import { finishSetup } from '../core/session.ts';
import { Gate } from '../shell/gate.tsx';

/** What is left to do by hand, once; it stands in the server's folder nowhere else. */
export function SetupNotes({ notes }: { notes: readonly string[] }) {
  return (
    <Gate title={t('setup.done')} isWide>
      <p class="gate-note">{t('setup.notes')}</p>
      <ul class="setup-notes">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <Button kind="primary" onClick={() => void finishSetup()}>
        {t('setup.toSignIn')}
      </Button>
    </Gate>
  );
}
