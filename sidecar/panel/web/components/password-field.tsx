import { useState } from 'preact/hooks';
import { t } from '../core/i18n.ts';
import { IconButton } from './button.tsx';
import { TextField, type TextFieldProps } from './field.tsx';

interface PasswordFieldProps extends Omit<TextFieldProps, 'type' | 'trailing'> {
  /** `new-password` or `current-password`: password managers read it. */
  readonly autocomplete: string;
  /** A suggested password is shown at once. */
  readonly isShown?: boolean;
}

/** A password with an eye that shows it. */
export function PasswordField({ isShown = false, ...props }: PasswordFieldProps) {
  const [chosen, choose] = useState<boolean | null>(null);
  const isText = chosen ?? isShown;
  return (
    <TextField
      {...props}
      type={isText ? 'text' : 'password'}
      mono={isText}
      trailing={
        <IconButton
          icon={isText ? 'eye-off' : 'eye'}
          label={t(isText ? 'common.hideTyped' : 'common.showTyped')}
          onClick={() => choose(!isText)}
        />
      }
    />
  );
}
