import { SelectField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { LANGUAGES, t } from '../core/i18n.ts';
import { chooseLanguage } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';

/** Of the account itself: needs no permission. */
export function OwnView({ locale, onSaved }: { locale: string; onSaved: () => void }) {
  const [choose, isBusy] = useAction(async (chosen: string) => {
    await api.post('/api/settings', { locale: chosen });
    await chooseLanguage(chosen);
    tellDone(t('common.saved'));
    onSaved();
  });
  return (
    <Section title={t('settings.own')}>
      <div class="form">
        <SelectField
          label={t('common.language')}
          hint={t('settings.languageHint')}
          value={locale}
          options={Object.entries(LANGUAGES)}
          disabled={isBusy}
          onChange={choose}
        />
      </div>
    </Section>
  );
}
