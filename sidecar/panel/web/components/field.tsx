import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Fault of the value; read aloud with the field. */
  readonly error?: string | null | undefined;
}

interface FrameProps extends FieldProps {
  readonly id: string;
  readonly children: ComponentChildren;
}

function Frame({ id, label, hint, error, children }: FrameProps) {
  return (
    <div class={error ? 'field wrong' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="fault" id={`${id}-fault`}>
          {error}
        </p>
      )}
    </div>
  );
}

function describedBy(id: string, { hint, error }: FieldProps): string | undefined {
  const ids = [hint === undefined ? '' : `${id}-hint`, error ? `${id}-fault` : ''].filter((part) => part !== '');
  return ids.length === 0 ? undefined : ids.join(' ');
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'password' | 'number' | 'search';
  readonly name?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly placeholder?: string;
  /** Paths, command lines, filters. */
  readonly mono?: boolean;
  /** A button inside the field, at its end. */
  readonly trailing?: ComponentChildren;
}

export function TextField(props: TextFieldProps) {
  const id = useId();
  const { label, hint, error, onInput, type = 'text', mono, trailing, ...rest } = props;
  const input = (
    <input
      {...rest}
      id={id}
      // The types of the DOM want to know it beforehand.
      type={type as 'text'}
      class={mono === true ? 'mono' : ''}
      spellcheck={false}
      autocapitalize="none"
      aria-invalid={error ? 'true' : undefined}
      aria-describedby={describedBy(id, props)}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      {trailing === undefined ? (
        input
      ) : (
        <div class="with-button">
          {input}
          {trailing}
        </div>
      )}
    </Frame>
  );
}

interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
}

export function TextArea(props: TextAreaProps) {
  const id = useId();
  const { label, hint, error, onInput, rows = 8, ...rest } = props;
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <textarea
        {...rest}
        id={id}
        rows={rows}
        class="mono"
        spellcheck={false}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={describedBy(id, props)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Frame>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly value: string;
  /** Value and what is shown for it. */
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
  readonly disabled?: boolean;
}

export function SelectField(props: SelectFieldProps) {
  const id = useId();
  const { label, hint, error, value, options, onChange, disabled } = props;
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <select
        id={id}
        value={value}
        disabled={disabled}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={describedBy(id, props)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

interface CheckboxProps {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function Checkbox({ label, hint, checked, disabled, onChange }: CheckboxProps) {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
