import { t } from '../core/i18n.ts';
import { createStore, useStore } from '../core/store.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface Question {
  readonly title: string;
  /** Effect of the action, in a sentence or two. */
  readonly text: string;
  /** The label of the button that does it: a verb, not "OK". */
  readonly action: string;
  readonly isDanger?: boolean;
}

const asked = createStore<{ question: Question | null; answer: (isYes: boolean) => void }>({
  question: null,
  answer: () => {},
});

/** `if (await confirmed({ title, text, action })) …` */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    asked.get().answer(false);
    asked.set({
      question,
      answer(isYes) {
        asked.set({ question: null, answer: () => {} });
        resolve(isYes);
      },
    });
  });
}

/** Once, in the shell. */
export function ConfirmHost() {
  const { question, answer } = useStore(asked, (value) => value);
  if (question === null) return null;
  return (
    <Dialog
      title={question.title}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>{t('common.cancel')}</Button>
          <Button kind={question.isDanger === true ? 'danger' : 'primary'} onClick={() => answer(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      <p>{question.text}</p>
    </Dialog>
  );
}
