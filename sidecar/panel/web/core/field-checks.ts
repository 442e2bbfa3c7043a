import { MAX_NAME_CHARS, PASSWORD_CHARS, USERNAME } from '#panel/shapes/accounts.ts';
import { t } from './i18n.ts';

// Each returns the fault in the panel's language, or null. The panel checks again by the same limits.

export function usernameFault(name: string): string | null {
  return USERNAME.test(name.trim().toLowerCase()) ? null : t('errors.users.username');
}

export function passwordFault(password: string): string | null {
  const length = [...password.normalize('NFC')].length;
  return length >= PASSWORD_CHARS.min && length <= PASSWORD_CHARS.max ? null : t('errors.users.password');
}

export function confirmationFault(password: string, confirmation: string): string | null {
  return password === confirmation ? null : t('errors.setup.confirmation');
}

export function panelNameFault(name: string): string | null {
  const length = [...name.trim()].length;
  return length >= 1 && length <= MAX_NAME_CHARS ? null : t('errors.settings.dashboardName');
}

export function numberFault(value: number, min: number, max: number): string | null {
  return Number.isInteger(value) && value >= min && value <= max ? null : t('common.numberBetween', { min, max });
}
