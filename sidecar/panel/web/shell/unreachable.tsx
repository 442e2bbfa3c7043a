import { Button } from '../components/button.tsx';
import { t, textFor } from '../core/i18n.ts';
import { boot } from '../core/session.ts';

/** Where not even the texts could be read, English stands here. */
export function Unreachable() {
  const text = textFor('common.unreachable') ?? 'The panel does not answer. Is the sidecar running?';
  return (
    <main class="gate">
      <div class="gate-box" role="alert">
        <p>{text}</p>
        <Button kind="primary" onClick={() => void boot()}>
          {textFor('common.tryAgain') === null ? 'Try again' : t('common.tryAgain')}
        </Button>
      </div>
    </main>
  );
}
