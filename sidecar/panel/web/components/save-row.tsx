import { Button } from '../components/button.tsx';
import { Fault } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import type { Form } from './use-form.ts';

/** The foot of a form: what is wrong with it as a whole, and the button that saves it. */
export function SaveRow<T extends object>({ form }: { form: Form<T> }) {
  return (
    <>
      {form.error !== null && <Fault error={form.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" disabled={!form.isChanged} busy={form.isBusy}>
          {t('common.save')}
        </Button>
      </div>
    </>
  );
}
