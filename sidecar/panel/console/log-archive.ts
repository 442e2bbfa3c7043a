import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { LogFolder } from './log-folder.ts';

/** All files of the console as a ZIP that is made while it is read: one file is open at a time, whatever they take together. */
export async function openLogArchive(folder: LogFolder): Promise<Readable> {
  const zip = new ZipFile();
  const files = await folder.list();
  for (const { name, size, modified } of files) {
    const options = { mtime: new Date(modified), mode: 0o100600 };
    zip.addReadStreamLazy(join('logs', name), options, (give) => {
      folder.open(name).then(
        // As long as it was when it was listed: the one in use goes on growing.
        (file) =>
          give(null, size === 0 ? empty(() => file.close()) : file.createReadStream({ start: 0, end: size - 1 })),
        // Swept meanwhile.
        () => give(null, empty()),
      );
    });
  }
  zip.end();
  return zip.outputStream as Readable;
}

function empty(done?: () => void): Readable {
  const stream = new PassThrough();
  stream.end();
  done?.();
  return stream;
}
