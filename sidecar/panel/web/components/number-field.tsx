import { useEffect, useState } from 'preact/hooks';
import { TextField, type TextFieldProps } from './field.tsx';

interface NumberFieldProps extends Omit<TextFieldProps, 'type' | 'value' | 'onInput' | 'trailing'> {
  /** NaN if the field holds no number. */
  readonly value: number;
  readonly onInput: (value: number) => void;
}

/** A whole number. The field may be empty while it is edited. */
export function NumberField({ value, onInput, ...props }: NumberFieldProps) {
  const [text, setText] = useState(String(value));
  useEffect(() => {
    if (!Number.isNaN(value)) setText(String(value));
  }, [value]);
  return (
    <TextField
      {...props}
      type="number"
      value={text}
      onInput={(written) => {
        setText(written);
        onInput(written.trim() === '' ? Number.NaN : Number(written));
      }}
    />
  );
}
