import { MAX_UPLOAD_BYTES } from '#panel/shapes/uploads.ts';
import { api } from './api.ts';
import { PanelFault } from './panel-fault.ts';
import { session } from './session.ts';
import { createStore } from './store.ts';

/** Upload of one file: what is sent, how far it is, and what came of it. */
interface UploadState<Answer> {
  /** Being sent, or sent last; null before the first, and after `forget`. */
  readonly file: { readonly name: string; readonly bytes: number } | null;
  /** Bytes on their way; all of them while the panel judges the file. Null if nothing is under way. */
  readonly sent: number | null;
  readonly answer: Answer | null;
  readonly error: unknown;
}

const NOTHING = { file: null, sent: null, answer: null, error: null } as const;

/** Sends one file at a time to one route. An upload goes on while its reader looks at other pages. */
export class FileUpload<Answer> {
  readonly store = createStore<UploadState<Answer>>(NOTHING);
  readonly #path: string;
  #abort = new AbortController();

  constructor(path: string) {
    this.#path = path;
    // The next account must not see the files of the one before it.
    session.subscribe(() => {
      if (session.get().phase !== 'signed-in' && this.store.get().file !== null) this.cancel();
    });
  }

  send(file: File): void {
    this.cancel();
    this.store.set({ file: { name: file.name, bytes: file.size } });
    if (file.size > MAX_UPLOAD_BYTES) {
      this.store.set({ error: new PanelFault('body.large', 413) });
      return;
    }
    const { signal } = this.#abort;
    this.store.set({ sent: 0 });
    const onProgress = (sent: number) => signal.aborted || this.store.set({ sent });
    api
      .postBy<Answer>((token) => sendFile(this.#path, file, { token, signal, onProgress }))
      .then(
        (answer) => signal.aborted || this.store.set({ sent: null, answer }),
        (error: unknown) => signal.aborted || this.store.set({ sent: null, error }),
      );
  }

  /** Ends what is under way, and forgets what came before. */
  cancel(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.store.set(NOTHING);
  }
}

interface SendOptions {
  readonly token: string;
  readonly signal: AbortSignal;
  readonly onProgress: (sent: number) => void;
}

/** The part `file` of a form. Only this old interface reports how far a body is. */
function sendFile(path: string, file: File, { token, signal, onProgress }: SendOptions): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const request = new XMLHttpRequest();
  request.open('POST', path);
  request.setRequestHeader('X-CSRF', token);
  request.upload.addEventListener('progress', ({ loaded }) => onProgress(Math.min(loaded, file.size)));
  request.upload.addEventListener('load', () => onProgress(file.size));
  request.addEventListener('load', () => {
    const headers = new Headers();
    const wait = request.getResponseHeader('Retry-After');
    if (wait !== null) headers.set('Retry-After', wait);
    resolve(new Response(request.responseText, { status: request.status, headers }));
  });
  request.addEventListener('error', () => reject(new PanelFault('network', 0)));
  request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  const form = new FormData();
  form.set('file', file);
  request.send(form);
  return promise;
}
