import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { Fault, Loading } from '../components/states.tsx';
import { parseLogText } from '../console/entry.ts';
import { LineBuffer } from '../console/line-buffer.ts';
import { seqOf } from '../console/line-link.ts';
import { LinesPanel } from '../console/lines-panel.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';

/** A tail of 2 MiB has as many lines as its shortest are short. */
const MAX_FILE_LINES = 100_000;

const TAIL_BYTES = 2 * 1024 * 1024;
const LONGEST_LINE_BYTES = 4 * 16_384 + 64;

const addressOf = (name: string) => `/api/log-files/${encodeURIComponent(name)}`;

/** A log file: its end, or the surroundings of the line in the address. */
export function LogFile({ name }: { name: string }) {
  const { query } = usePlace();
  const target = seqOf(query.get('line'));
  const { text, error, reload } = useLogText(name, target);
  const buffer = useMemo(() => (text === null ? null : bufferOf(text)), [text]);
  return (
    <div class="console">
      <div class="log-actions">
        <a href={linkTo('logs')}>{t('logs.back')}</a>
        <h2 class="mono">{name}</h2>
        {text !== null && isTail(text) && <p class="hint">{t('logs.tailNote')}</p>}
        <DownloadLink href={addressOf(name)} name={name}>
          {t('logs.download')}
        </DownloadLink>
      </div>
      {error !== null && <Fault error={error} onRetry={reload} />}
      {buffer === null ? (
        error === null && <Loading />
      ) : (
        <LinesPanel
          buffer={buffer}
          version={0}
          label={name}
          linkOf={(seq) => linkTo('logs', [], { file: name, line: String(seq) })}
          target={target}
          isLive={false}
          empty={t('logs.emptyFile')}
        />
      )}
    </div>
  );
}

/** A tail begins with a line: it may lack as much as the longest line has bytes. */
function isTail(text: string): boolean {
  return new Blob([text]).size > TAIL_BYTES - LONGEST_LINE_BYTES;
}

function bufferOf(text: string): LineBuffer {
  const buffer = new LineBuffer(MAX_FILE_LINES);
  buffer.add(parseLogText(text));
  return buffer;
}

/** Read once a file: a step to another line of what is there asks nothing. */
function useLogText(name: string, target: number | null) {
  const [state, setState] = useState<{ text: string | null; error: unknown }>({ text: null, error: null });
  const [turn, setTurn] = useState(0);
  const isThere = target === null || state.text === null || hasLine(state.text, target);
  useEffect(() => {
    const abort = new AbortController();
    api.text(addressOf(name), { around: target }, abort.signal).then(
      (text) => setState({ text, error: null }),
      (error: unknown) => abort.signal.aborted || setState({ text: null, error }),
    );
    return () => abort.abort();
  }, [name, turn, isThere ? null : target]);
  return { ...state, reload: () => setTurn((before) => before + 1) };
}

function hasLine(text: string, seq: number): boolean {
  return text.startsWith(`${seq} `) || text.includes(`\n${seq} `);
}

/** A link that looks like a button: the browser saves what it leads to. */
export function DownloadLink({ href, name, children }: { href: string; name?: string; children: ComponentChildren }) {
  return (
    <a class="button plain" href={href} download={name ?? ''}>
      <Icon name="download" />
      <span>{children}</span>
    </a>
  );
}
