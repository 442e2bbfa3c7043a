import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { api } from '../core/api.ts';
import { live } from '../core/events.ts';
import { t } from '../core/i18n.ts';
import { session, useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { useAction } from '../core/use-action.ts';
import { CommandHistory } from './command-history.ts';

/** The console's input. What failed stays in the field. */
export function CommandForm() {
  const can = useCan();
  const status = useStore(live, (value) => value.status);
  if (!can('console.write')) return <p class="command-note">{t('console.readOnly')}</p>;
  if (status?.backend === 'none') return <p class="command-note">{t('console.elsewhere')}</p>;
  const isOff = status !== null && (status.state === 'stopped' || status.state === 'crashed');
  return <CommandField isOff={isOff} />;
}

function CommandField({ isOff }: { isOff: boolean }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const username = useStore(session, (value) => value.username);
  const history = useMemo(() => new CommandHistory(sessionStorage, username), [username]);
  const [text, setText] = useState('');
  const [send, isSending] = useAction(async () => {
    await api.post('/api/command', { text });
    history.add(text);
    // Keep a next command that was typed meanwhile.
    setText((now) => (now === text ? '' : now));
    field.current?.focus();
  });
  return (
    <form
      class="command"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') send();
      }}
    >
      <label for={id}>{t('console.command')}</label>
      <input
        ref={field}
        id={id}
        class="mono"
        value={text}
        // Not disabled: a server that has just stopped must not take away what somebody is typing.
        readOnly={isOff}
        maxLength={4096}
        spellcheck={false}
        autocapitalize="none"
        autocomplete="off"
        enterkeyhint="send"
        aria-describedby={`${id}-hint`}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
          event.preventDefault();
          setText(event.key === 'ArrowUp' ? history.older(text) : history.newer(text));
        }}
      />
      <Button type="submit" kind="primary" disabled={isOff || text.trim() === ''} busy={isSending}>
        {t('console.send')}
      </Button>
      <p class="command-hint" id={`${id}-hint`}>
        {isOff ? t('console.notRunning') : t('console.commandHint')}
      </p>
    </form>
  );
}
