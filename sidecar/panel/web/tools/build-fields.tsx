import type { ProjectBuild } from '#panel/shapes/sources.ts';
import { TextField } from '../components/field.tsx';
import { t } from '../core/i18n.ts';

interface BuildDraft {
  readonly script: string;
  readonly output: string;
}

interface BuildFieldsProps extends BuildDraft {
  readonly error: string | null;
  readonly onChange: (changes: Partial<BuildDraft>) => void;
}

/** How a project is built. Without a script its folder is copied as it is. */
export function BuildFields({ script, output, error, onChange }: BuildFieldsProps) {
  return (
    <>
      <TextField
        label={t('sources.script')}
        hint={t('sources.scriptHint')}
        mono
        value={script}
        error={error}
        onInput={(text) => onChange({ script: text.trim() })}
      />
      {script !== '' && (
        <TextField
          label={t('sources.output')}
          hint={t('sources.outputHint')}
          mono
          value={output}
          onInput={(text) => onChange({ output: text.trim() })}
        />
      )}
    </>
  );
}

/** null: the folder is copied as it is. */
export function buildOf({ script, output }: BuildDraft): ProjectBuild | null {
  return script === '' ? null : { script, output };
}
