import type { SettingsDocument } from '#panel/shapes/settings.ts';
import { SelectField } from '../components/field.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { LANGUAGES, t, useTexts } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { chooseLanguage, useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { Lazy } from '../shell/lazy.tsx';
import { BridgeView } from './bridge-view.tsx';
import { ConfigView } from './config-view.tsx';
import { GeneralView } from './general-view.tsx';
import { OwnTokens } from './own-tokens.tsx';
import { ScheduleView } from './schedule-view.tsx';
import { SecondFactorView } from './second-factor-view.tsx';

async function loadNotices() {
  await useTexts('tools');
  return (await import('./notices-view.tsx')).NoticesView;
}

/** Settings of the own account, and settings of the server. */
export function SettingsPage() {
  const [part = 'general'] = usePlace().rest;
  const isWriter = useCan()('settings.write');
  const loaded = useLoaded<{ settings: SettingsDocument }>('/api/settings');
  const tabs = (['general', 'config', 'schedule', 'notices', 'bridge'] as const).map((name) => ({
    link: linkTo('settings', name === 'general' ? [] : [name]),
    label: t(`settings.${name}`),
    isHere: name === part,
  }));
  return (
    <PageFrame title={t('settings.title')} width="text">
      {isWriter && <Tabs label={t('settings.parts')} tabs={tabs} />}
      {isWriter && part === 'config' && <ConfigView />}
      {isWriter && part === 'notices' && <Lazy load={loadNotices} />}
      {isWriter && part === 'bridge' && <BridgeView />}
      {isWriter && part === 'schedule' && (
        <Ready of={loaded}>{({ settings }) => <ScheduleView settings={settings} onSaved={loaded.reload} />}</Ready>
      )}
      {(!isWriter || part === 'general') && (
        <Ready of={loaded}>
          {({ settings }) => (
            <>
              <OwnView locale={settings.locale} onSaved={loaded.reload} />
              <SecondFactorView />
              <OwnTokens />
              {isWriter && <GeneralView settings={settings} onSaved={loaded.reload} />}
            </>
          )}
        </Ready>
      )}
    </PageFrame>
  );
}

/** Settings of the own account: need no permission. */
function OwnView({ locale, onSaved }: { locale: string; onSaved: () => void }) {
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
