import { useId, useState } from 'preact/hooks';
import type { FileUpload } from '../core/file-upload.ts';
import { bytes } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { useStore } from '../core/store.ts';
import { Button } from './button.tsx';
import { Fault } from './states.tsx';

interface FileDropProps<Answer> {
  readonly label: string;
  readonly hint: string;
  /** Endings and types that the file dialog offers. */
  readonly accept: string;
  readonly upload: FileUpload<Answer>;
  /** False: no file is taken now. */
  readonly isReady?: boolean;
}

/** A file field that takes a dropped file too, and shows how far its upload is. */
export function FileDrop<Answer>({ label, hint, accept, upload, isReady = true }: FileDropProps<Answer>) {
  const id = useId();
  const { file, sent, error } = useStore(upload.store, (value) => value);
  const [isOver, setOver] = useState(false);
  const send = (files: FileList | null | undefined) => {
    const first = files?.[0];
    if (first !== undefined && isReady) upload.send(first);
  };
  if (file !== null && sent !== null) return <Sending file={file} sent={sent} onCancel={() => upload.cancel()} />;
  return (
    <>
      <fieldset
        class={isOver ? 'file-drop over' : 'file-drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          send(event.dataTransfer?.files);
        }}
      >
        <div class="field">
          <label for={id}>{label}</label>
          <input
            id={id}
            type="file"
            accept={accept}
            disabled={!isReady}
            aria-describedby={`${id}-hint`}
            onChange={(event) => {
              send(event.currentTarget.files);
              // The same file can be chosen again after a fault.
              event.currentTarget.value = '';
            }}
          />
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        </div>
      </fieldset>
      {error !== null && <Fault error={error} />}
    </>
  );
}

interface SendingProps {
  readonly file: { readonly name: string; readonly bytes: number };
  readonly sent: number;
  readonly onCancel: () => void;
}

function Sending({ file, sent, onCancel }: SendingProps) {
  const isSent = sent >= file.bytes;
  return (
    <div class="file-drop">
      <p class="file-name">{file.name}</p>
      <progress max={1} value={isSent ? undefined : sent / file.bytes} aria-label={t('upload.progress')} />
      <p class="row">
        <span class="soft">
          {isSent ? t('upload.judged') : t('upload.sentOf', { sent: bytes(sent), all: bytes(file.bytes) })}
        </span>
        <Button icon="close" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
      </p>
    </div>
  );
}
