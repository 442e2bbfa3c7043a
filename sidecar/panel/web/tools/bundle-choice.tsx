import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { UploadedBundle } from '#panel/shapes/uploads.ts';
import { Badge, type Tone } from '../components/badge.tsx';
import { Checkbox, SelectField, TextField } from '../components/field.tsx';
import { Notice } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { faultText } from '../core/fault-text.ts';
import { bytes } from '../core/format.ts';
import { t, textFor } from '../core/i18n.ts';
import { type BundleChange, type BundleDraft, changeOf } from './install-draft.ts';

const TONES: Readonly<Record<BundleChange, Tone>> = { new: 'info', changed: 'warn', same: 'idle' };

interface BundleChoiceProps {
  readonly bundle: UploadedBundle;
  readonly draft: BundleDraft;
  /** FXServer alone has them. */
  readonly hasCategories: boolean;
  readonly onChange: (changes: Partial<BundleDraft>) => void;
}

/** A bundle of the archive: its change, and how it is to be installed. */
export function BundleChoice({ bundle, draft, hasCategories, onChange }: BundleChoiceProps) {
  const { name, version, files, installed, missing, warnings } = bundle;
  const change = changeOf(bundle);
  const isRenamed = draft.name !== name;
  return (
    <li class={draft.isChosen ? 'bundle-choice' : 'bundle-choice off'}>
      <header>
        <Checkbox label={name} checked={draft.isChosen} onChange={(isChosen) => onChange({ isChosen })} />
        {!isRenamed && <Badge tone={TONES[change]}>{t(`install.${change}`)}</Badge>}
        <span class="soft">
          {installed === null || installed === version ? shown(version) : `${shown(installed)} → ${shown(version)}`}
          {` · ${t('tools.files', { count: files })} · ${bytes(bundle.bytes)}`}
        </span>
      </header>
      {change === 'changed' && !isRenamed && <Counts bundle={bundle} />}
      {draft.isChosen && (
        <>
          {missing.length > 0 && <Warning>{t('install.missing', { names: missing.join(', ') })}</Warning>}
          {!isRenamed &&
            warnings.map((code) => <Warning key={code}>{textFor(`install.warning-${code}`) ?? code}</Warning>)}
          {!isRenamed && <EditedFiles bundle={bundle} draft={draft} onChange={onChange} />}
          <div class="bundle-fields">
            <NameField name={name} value={draft.name} onInput={(value) => onChange({ name: value })} />
            {hasCategories && (installed === null || isRenamed) && (
              <TextField
                label={t('install.category')}
                hint={t('install.categoryHint')}
                mono
                value={draft.category}
                onInput={(category) => onChange({ category: category.trim() })}
              />
            )}
          </div>
        </>
      )}
    </li>
  );
}

function shown(version: string): string {
  return version === '' ? '?' : version;
}

function Warning({ children }: { children: ComponentChildren }) {
  return (
    <Notice kind="warn">
      <p>{children}</p>
    </Notice>
  );
}

function Counts({ bundle: { added, changed, removed } }: { bundle: UploadedBundle }) {
  const counts = [
    added > 0 && t('install.added', { count: added }),
    changed > 0 && t('install.altered', { count: changed }),
    removed > 0 && t('install.removed', { count: removed }),
  ];
  return <p class="soft">{counts.filter((text) => text !== false).join(' · ')}</p>;
}

type EditedProps = Pick<BundleChoiceProps, 'bundle' | 'draft' | 'onChange'>;

/** Files that were edited on the server since the install: each is kept or replaced. */
function EditedFiles({ bundle: { edited }, draft: { overwritten }, onChange }: EditedProps) {
  if (edited.length === 0) return null;
  const choose = (path: string, isOverwritten: boolean) => {
    const others = overwritten.filter((one) => one !== path);
    onChange({ overwritten: isOverwritten ? [...others, path] : others });
  };
  return (
    <Notice kind="bad">
      <p>{t('install.edited', { count: edited.length })}</p>
      <ul class="edited-files">
        {edited.map((path) => (
          <li key={path}>
            <SelectField
              label={path}
              value={overwritten.includes(path) ? 'overwrite' : 'keep'}
              options={[
                ['keep', t('install.keep')],
                ['overwrite', t('install.overwrite')],
              ]}
              onChange={(value) => choose(path, value === 'overwrite')}
            />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

interface NameFieldProps {
  /** As proposed; the dry run is of this one. */
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** Another name is looked up when the field is left. */
function NameField({ name, value, onInput }: NameFieldProps) {
  const [found, setFound] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const look = async () => {
    if (value === name) return;
    try {
      const { bundle } = await api.post<{ bundle: { name: string; version: string } | null }>(
        '/api/bundle-tools/upload/exists',
        { name: value },
      );
      setFound(
        bundle === null ? t('install.free') : t('install.replaces', { name: bundle.name, version: bundle.version }),
      );
    } catch (error) {
      setFault(faultText(error));
    }
  };
  return (
    <div onFocusOut={() => void look()}>
      <TextField
        label={t('install.name')}
        hint={value === name ? undefined : (found ?? undefined)}
        error={fault}
        mono
        value={value}
        onInput={(text) => {
          setFound(null);
          setFault(null);
          onInput(text.trim());
        }}
      />
    </div>
  );
}
