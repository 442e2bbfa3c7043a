import { useEffect, useState } from 'preact/hooks';
import type { BundleInfo, BundleMetadata } from '#panel/shapes/bundles.ts';
import { BundleActions, ServerNotice } from '../bundles/bundle-actions.tsx';
import { Dependencies } from '../bundles/dependencies.tsx';
import { Badge, Tag } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Empty, Notice, Ready } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { onEvent } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { DataSection } from './data-section.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditedSection } from './edited-section.tsx';
import { useSwitch } from './use-switch.ts';
import { VersionsSection } from './versions-section.tsx';

/** `#/bundles/NAME`: one bundle, and all that can be done to it. */
export function BundlePage() {
  const [name = ''] = usePlace().rest;
  const loaded = useLoaded<{ bundles: readonly BundleInfo[] }>('/api/bundles');
  const [told, setTold] = useState<readonly BundleInfo[] | null>(null);
  useEffect(() => onEvent('bundles', setTold), []);
  return (
    <PageFrame title={name} width="text">
      <p class="log-actions">
        <a href={linkTo('bundles')}>{t('tools.allBundles')}</a>
      </p>
      <Ready of={loaded}>
        {({ bundles }) => {
          const all = told ?? bundles;
          const bundle = all.find((one) => one.name === name);
          return bundle === undefined ? <Unknown /> : <Bundle bundle={bundle} all={all} />;
        }}
      </Ready>
    </PageFrame>
  );
}

const TONES = { started: 'good', starting: 'info', stopped: 'idle', failed: 'bad', unknown: 'idle' } as const;

/** A deleted bundle is the usual reason. */
function Unknown() {
  const can = useCan();
  return (
    <Empty icon="bundles" title={t('errors.bundles.unknown')}>
      {can('bundles.delete') && (
        <p>
          {t('tools.deletedHint')} <a href={linkTo('tools', ['trash'])}>{t('tools.trash')}</a>
        </p>
      )}
    </Empty>
  );
}

function Bundle({ bundle, all }: { bundle: BundleInfo; all: readonly BundleInfo[] }) {
  const can = useCan();
  const { isOn } = useSwitch();
  const { name, version, description, state, dependencies } = bundle;
  const mayInstall = can('bundles.upload') || can('bundles.build');
  return (
    <>
      <header class="bundle-head">
        <Badge tone={TONES[state]}>{t(`bundles.state-${state}`)}</Badge>
        {version !== '' && <span>{version}</span>}
        {description !== '' && <p class="lead">{description}</p>}
        {dependencies.length > 0 && (
          <div class="words">
            <span class="soft">{t('bundles.dependencies')}:</span>
            <Dependencies bundle={bundle} all={all} />
          </div>
        )}
        <div class="row lead">
          <BundleActions bundle={bundle} all={all} kind="plain" />
          {(can('console.read') || can('logs.read')) && (
            <a href={linkTo('logs', ['diagnostics'], { search: name })}>{t('tools.lines')}</a>
          )}
        </div>
      </header>
      <ServerNotice />
      {mayInstall && <VersionsSection name={name} />}
      {mayInstall && <EditedSection name={name} />}
      {can('database.read') && <DataSection name={name} />}
      {isOn === false && <ToolsAreOff />}
      {isOn === true && <Marks bundle={bundle} />}
      {isOn === true && can('bundles.delete', 'bundles.stop') && <Deletion name={name} />}
    </>
  );
}

function ToolsAreOff() {
  const link = (
    <a class="button" href={linkTo('tools')}>
      {t('tools.title')}
    </a>
  );
  return <Notice action={link}>{t('tools.off')}</Notice>;
}

/** Tags and autostart: shown to everybody who sees bundles, changed by those who may. */
function Marks({ bundle }: { bundle: BundleInfo }) {
  const loaded = useLoaded<{ bundles: readonly BundleMetadata[] }>('/api/bundles/metadata');
  return (
    <Ready of={loaded}>
      {({ bundles }) => {
        const metadata = bundles.find(({ name }) => name === bundle.name);
        return metadata === undefined ? null : <MarksForm metadata={metadata} onSaved={loaded.reload} />;
      }}
    </Ready>
  );
}

function MarksForm({ metadata, onSaved }: { metadata: BundleMetadata; onSaved: () => void }) {
  const can = useCan();
  const { name, tags, ownTags, autostart, manifestAutostart } = metadata;
  const given = tags.filter((tag) => !ownTags.includes(tag));
  const form = useForm({ tags: ownTags.join(', ') }, async (changes) => {
    const list = (changes.tags ?? '').split(/[,\n]/).map((tag) => tag.trim());
    await api.post('/api/bundles/tags', { name, tags: list.filter((tag) => tag !== '') });
    onSaved();
  });
  const [setAutostart] = useAction(async (value: boolean | null) => {
    await api.post('/api/bundles/autostart', { name, autostart: value });
    tellDone(t('common.saved'));
    onSaved();
  });
  const differs = manifestAutostart !== null && manifestAutostart !== autostart;
  return (
    <Section title={t('tools.marks')}>
      <div class="form">
        {given.length > 0 && (
          <p class="words">
            <span class="soft">{t('tools.manifestTags')}</span>
            {given.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </p>
        )}
        <form class="form" noValidate onSubmit={form.submit}>
          <TextField
            label={t('tools.ownTags')}
            hint={t('tools.ownTagsHint')}
            value={form.values.tags}
            error={form.faultOf('tags')}
            disabled={!can('bundles.tags')}
            onInput={(text) => form.set({ tags: text })}
          />
          {can('bundles.tags') && <SaveRow form={form} />}
        </form>
        <Checkbox
          label={t('tools.startsItself')}
          hint={t(differs ? 'tools.overManifest' : 'tools.startsItselfHint')}
          checked={autostart}
          disabled={!can('bundles.autostart')}
          onChange={setAutostart}
        />
        {differs && can('bundles.autostart') && (
          <p class="row">
            <Button icon="undo" onClick={() => setAutostart(null)}>
              {t('tools.asManifest')}
            </Button>
          </p>
        )}
      </div>
    </Section>
  );
}

function Deletion({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title={t('tools.deletion')}>
      <p class="soft lead">{t('tools.deletionHint')}</p>
      <p class="row">
        <Button kind="danger" icon="trash" onClick={() => setOpen(true)}>
          {t('tools.delete')}
        </Button>
      </p>
      {isOpen && <DeleteDialog name={name} onClose={() => setOpen(false)} />}
    </Section>
  );
}
